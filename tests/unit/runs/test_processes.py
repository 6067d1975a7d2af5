"""Workers in processes, forked or fresh: the same to whoever starts them."""

import json
import os
import signal
import sys
import time

import pytest
from job_examples import make_job

from cschoice.io.processes import process_alive
from cschoice.runs.executors.processes import ForkServer, Spawner
from cschoice.runs.records import State
from cschoice.runs.store import ResultStore
from cschoice.runs.worker import arguments

WAYS = [Spawner, *([ForkServer] if sys.platform == "linux" else [])]


def worker_on(folder):
    deadline = time.monotonic() + 60
    while not (claims := list(folder.glob("claim-*.json"))):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return json.loads(claims[0].read_text())["pid"]


@pytest.fixture(params=WAYS)
def processes(request):
    started = request.param(dict(os.environ))
    yield started
    started.stop()


def test_a_job_is_done_and_its_events_are_told(processes, tmp_path):
    store = ResultStore(tmp_path / "results")
    store.open()
    job = make_job(dataset_parameters={"n_train": 50, "n_test": 20})
    with (tmp_path / "log").open("w") as log:
        process = processes.start(arguments(store, job, "cpu", False), log, heavy=False)
    with process.stdout:
        assert b'"event": "test"' in process.stdout.read()
    assert process.wait() == 0
    assert store.record(job).state is State.DONE


def test_errors_go_to_the_log_and_the_code_is_told(processes, tmp_path):
    with (tmp_path / "log").open("w") as log:
        process = processes.start(["--job"], log, heavy=False)
    process.stdout.close()
    assert process.wait() == 2
    assert "expected one argument" in (tmp_path / "log").read_text()


def test_a_killed_process_tells_its_signal_and_stopping_ends_all(processes, tmp_path):
    store = ResultStore(tmp_path / "results")
    store.open()
    size = {"n_train": 20_000, "n_test": 100_000}
    jobs = [make_job(fold=fold, dataset_parameters=size) for fold in range(2)]
    with (tmp_path / "log").open("w") as log:
        one, two = (
            processes.start(arguments(store, job, "cpu", False), log, heavy=False) for job in jobs
        )
    first, second = (worker_on(store.folder(job)) for job in jobs)
    os.kill(first, signal.SIGKILL)
    assert one.wait() == -signal.SIGKILL
    assert process_alive(second)
    processes.stop()
    assert two.wait() == -signal.SIGKILL
    one.stdout.close()
    two.stdout.close()
    assert not process_alive(second)
