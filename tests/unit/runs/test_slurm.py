"""SLURM's words and signals, as far as no SLURM is needed to see their effect."""

import json
import signal
import subprocess
import sys
import time
from dataclasses import asdict, replace

import pytest

from cschoice.errors import ClusterError
from cschoice.io.documents import to_json
from cschoice.runs.executors import slurm_queue
from cschoice.runs.executors.slurm_task import SlurmTask, _NeverEnding
from cschoice.runs.records import Budget, Job, Rung, State, Trial, TrialState
from cschoice.runs.store import ResultStore


@pytest.fixture
def store(tmp_path):
    return ResultStore(tmp_path)


@pytest.fixture
def job():
    sizes = {"n_train": 3_000, "n_test": 5}
    return Job("p", "e", "nested", "medoid", "mnl", 0, 0, Budget(10_000), dataset_parameters=sizes)


def make_task(store, job, **changes):
    words = {"device": "cpu", "keep_predictions": False, "owner": "slurm x 0", "minutes": 1}
    return SlurmTask(str(store.root), to_json(asdict(job)), **words | changes)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            "JobId=17 ArrayTaskId=3 JobState=OUT_OF_MEMORY Reason=OutOfMemory ExitCode=0:125 "
            "ReqNodeList=(null) NodeList=n1 Requeue=1",
            "OUT_OF_MEMORY (OutOfMemory), exit code 0:125, on n1",
        ),
        ("TIMEOUT|None|0:15|n2\n", "TIMEOUT (None), exit code 0:15, on n2"),
        ("", ""),
        (None, ""),
    ],
)
def test_last_words_are_slurms_own(monkeypatch, said, expected):
    def answer(command, *_words):
        wanted = "scontrol" if said and "JobState" in said else "sacct"
        if said is None or command != wanted:
            raise ClusterError("Invalid job id specified")
        return said

    monkeypatch.setattr(slurm_queue, "ask", answer)
    assert slurm_queue.last_words("17_3") == expected


def test_commands_that_fail_say_why():
    with pytest.raises(ClusterError, match="'sh' failed: no such job"):
        slurm_queue.ask("sh", "-c", "echo no such job >&2; exit 1")
    with pytest.raises(ClusterError, match="'sh' failed: exit code 3"):
        slurm_queue.ask("sh", "-c", "exit 3")
    with pytest.raises(ClusterError, match="'no-such-command' is not there: "):
        slurm_queue.ask("no-such-command")


def test_what_people_set_for_their_eyes_does_not_hide_jobs(monkeypatch):
    monkeypatch.setenv("SQUEUE_PARTITION", "mine")
    assert slurm_queue.ask("sh", "-c", "echo $SQUEUE_PARTITION") == "\n"


def test_limits_have_the_names_of_the_configuration(monkeypatch):
    shown = "Configuration data\nClusterName             = lab\nMaxArraySize            = 31\n"
    monkeypatch.setattr(slurm_queue, "ask", lambda *_command: shown)
    assert slurm_queue.limits() == slurm_queue.Limits("lab", 31)


def test_lives_that_get_further_go_on_and_others_are_counted(store, job):
    task = make_task(store, job)
    task.started = time.monotonic() - 30
    store.begin(job)
    first = task.checkpoint().function
    assert first.n_stalls == 0
    first.started = time.monotonic() - 30
    second = first.checkpoint().function
    assert second == replace(first, n_stalls=1)
    second.started = time.monotonic()  # preempted at once: that says nothing
    assert second.checkpoint().function.n_stalls == 1
    store.append(job, Trial(0, Rung.FULL, {}, [0.5], TrialState.COMPLETE, 1.0))
    third = second.checkpoint().function
    assert third == replace(first, reached=store.progress_mark(job))
    last = replace(third, n_stalls=2)
    last.started = time.monotonic() - 30
    with pytest.raises(_NeverEnding, match="3 times in a row before it got any further"):
        last.checkpoint()


def test_whatever_a_protocol_writes_is_getting_further(store, job):
    store.begin(job)
    before = store.progress_mark(job)
    (store.folder(job) / "log.txt").write_text("started")
    (store.folder(job) / "claim-0.json").write_text("{}")
    assert store.progress_mark(job) == before
    (store.folder(job) / "checkpoint.safetensors").write_bytes(b"weights")
    assert store.progress_mark(job) != before


def test_a_job_that_never_ends_is_recorded_as_failed_and_its_worker_ended(store, job):
    """As submitit does it: the signal's handler calls ``checkpoint`` amidst the waiting."""
    code = (
        "import json, signal, sys\n"
        "from cschoice.runs.executors.slurm_task import SlurmTask\n"
        "from cschoice.runs.store import ResultStore\n"
        "task = SlurmTask(**json.loads(sys.argv[1]))\n"
        "ResultStore.progress_mark = lambda store, job: ''  # never any further\n"
        "signal.signal(signal.SIGUSR2, lambda number, frame: task.checkpoint())\n"
        "task()"
    )
    words = asdict(make_task(store, job, minutes=0, n_stalls=2))  # any time is long enough
    del words["started"]
    process = subprocess.Popen(
        [sys.executable, "-c", code, json.dumps(words)], start_new_session=True
    )
    try:
        deadline = time.monotonic() + 60
        while not store.trials(job):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        before = len(store.trials(job))
        for number in (signal.SIGUSR2, signal.SIGTERM):  # the worker ignores them
            workers = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True)
            subprocess.run(["kill", f"-{number}", *workers.stdout.decode().split()], check=True)
        while len(store.trials(job)) <= before + 1:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        process.send_signal(signal.SIGUSR2)
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.wait()
    record = store.record(job)
    assert record.state is State.FAILED
    assert "3 times in a row before it got any further" in record.reason
    n_trials = len(store.trials(job))
    time.sleep(0.5)
    assert len(store.trials(job)) == n_trials
