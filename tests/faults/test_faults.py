"""Killed, cut short, shared, in another order: the numbers stay the same."""

import os
import random
import resource
import signal
import subprocess
import sys
import time

import pytest

from cschoice.io.processes import process_alive
from cschoice.runs.protocols import checkpoints

from .conftest import Study, assert_same, wait_for


def test_killed_at_random_moments_the_tables_are_the_same(reference, study):
    moments = random.Random(0)
    for _ in range(4):
        study.kill_after(moments.uniform(1.5, 4.0))
    study.run()
    assert_same(study, reference)


@pytest.mark.long
def test_killed_fifty_times_the_tables_are_the_same(tmp_path):
    whole, broken = Study(tmp_path / "whole", "many"), Study(tmp_path / "broken", "many")
    whole.run()
    moments = random.Random(1)
    for _ in range(50):  # by the clock, or a few trials later: so that it lasts for all of them
        assert broken.kill_after(moments.uniform(0.8, 5.0), moments.randint(0, 5)) is None
    broken.run()
    assert_same(broken, whole)
    trials = broken.table("trials")
    assert not trials.duplicated(["dataset", "learner", "fold", "number"]).any()


def test_a_killed_worker_goes_on_in_the_same_run(lasting_reference, lasting):
    process = lasting.start()
    wait_for(lasting.n_trials)
    os.kill(lasting.worker(), signal.SIGKILL)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    assert errors.count("goes on again; its process: killed by signal 9") == 1
    assert errors.count("✓ done") == 2
    assert_same(lasting, lasting_reference)


def test_a_worker_that_is_killed_again_costs_only_its_job(lasting_reference, lasting):
    process = lasting.start()
    for _ in range(2):
        worker = wait_for(lasting.worker)
        os.kill(worker, signal.SIGKILL)
        wait_for(lambda worker=worker: lasting.worker() not in (None, worker))
    said, errors = process.communicate(timeout=300)
    assert process.returncode == 1, errors
    assert "1 failed" in said
    assert "✗ failed" in errors
    assert errors.count("✓ done") == 1
    folds = lasting.table("folds")
    assert (folds["state"] == "failed").sum() == 1
    assert "killed by signal 9" in folds.loc[folds["state"] == "failed", "reason"].item()
    lasting.run()
    assert_same(lasting, lasting_reference)


def test_a_worker_that_does_not_answer_is_ended_and_goes_on(lasting_reference, lasting):
    process = lasting.start("--job-timeout", "8")
    os.kill(wait_for(lasting.worker), signal.SIGSTOP)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    assert "goes on again; its process: ended after 8 s without a sign of progress" in errors
    assert_same(lasting, lasting_reference)


@pytest.mark.skipif(sys.platform != "linux", reason="jobs are fresh processes here, not forks")
def test_when_the_process_that_is_forked_is_killed_the_next_job_has_a_new_one(
    lasting_reference, lasting
):
    process = lasting.start()
    wait_for(lasting.n_trials)
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True)
    (server,) = (int(pid) for pid in listed.stdout.split())
    worker = lasting.worker()
    os.kill(server, signal.SIGKILL)
    wait_for(lambda: not process_alive(worker))
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    assert errors.count("goes on again") == 1
    assert errors.count("✓ done") == 2
    assert_same(lasting, lasting_reference)


def test_torn_files_are_mended_by_running_again(reference, study):
    study.run()
    journal = study.job("medoid/mnl/fold-0") / "trials.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(lines[:-1]) + lines[-1][:25])
    (study.job("medoid/mnl/fold-0") / "record.json").unlink()
    record = study.job("pareto2d/pairwise-svm/fold-0") / "record.json"
    record.write_text(record.read_text()[:30])
    _, errors = study.run()
    assert errors.count("✓ done") == 2, errors
    assert_same(study, reference)


def test_what_is_done_stays_done_unless_forced(study):
    study.run("--learner", "random")
    record = study.job("medoid/random/fold-0") / "record.json"
    before = record.stat().st_mtime_ns
    _, errors = study.run("--learner", "random")
    assert "done" not in errors
    assert record.stat().st_mtime_ns == before
    study.run("--learner", "random", "--force")
    assert record.stat().st_mtime_ns != before


def test_two_runs_at_once_share_the_work(reference, study):
    both = [study.start("--workers", "1") for _ in range(2)]
    said = [process.communicate(timeout=300) for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    study.run()
    assert_same(study, reference)
    finished = "".join(errors for _, errors in said).count("✓ done")
    assert finished == len(reference.table("folds"))


def test_order_and_number_of_workers_change_nothing(reference, tmp_path):
    other = Study(tmp_path / "other", "quick", "--workers", "1")
    for learner in ("all-positive", "random", "pairwise-svm", "mnl"):
        other.run("--learner", learner)
    assert_same(other, reference)


def test_a_killed_stream_goes_on_and_ends_the_same(tmp_path):
    options = ("--experiment", "stream", "--workers", "1")
    whole, broken = (Study(tmp_path / name, "quick", *options) for name in ("whole", "broken"))
    whole.run()
    path = broken.results / "runs/quick/stream/unique-onehot/fate/fold-0/checkpoint.safetensors"

    def n_epochs():
        checkpoint = checkpoints.read(path)
        return len(checkpoint.progress.values) if checkpoint else 0

    process = broken.start()
    wait_for(n_epochs)
    os.kill(broken.worker(), signal.SIGKILL)
    assert 0 < n_epochs() < 50
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    assert errors.count("goes on again") == 1
    assert_same(broken, whole)
    assert len(broken.table("curves")) == 50
    model = "runs/quick/stream/unique-onehot/fate/fold-0/model/weights.safetensors"
    assert (broken.results / model).read_bytes() == (whole.results / model).read_bytes()
    assert not path.exists()


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_stopping_is_quick_and_keeps_what_is_finished(lasting_reference, lasting, stop):
    process = lasting.start()
    wait_for(lambda: list(lasting.results.glob("runs/*/*/*/*/*/record.json")))
    started = time.monotonic()
    process.send_signal(stop)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert time.monotonic() - started < 10
    assert "interrupted" in errors
    assert "Traceback" not in errors
    assert len(list(lasting.results.glob("runs/*/*/*/*/*/record.json"))) == 1
    lasting.run()
    assert_same(lasting, lasting_reference)


def test_a_folder_that_cannot_be_used_is_said_at_once(study):
    study.results.write_text("in the way")
    _, errors = study.run(code=2)
    assert errors == "error: results is a file: choose another --results\n"
    assert study.results.read_text() == "in the way"


def test_a_full_disk_is_said_and_loses_nothing(reference, study):
    def little_room():
        resource.setrlimit(resource.RLIMIT_FSIZE, (700, 700))

    _, errors = study.run("--learner", "mnl", code=2, preexec_fn=little_room)
    assert "error: " in errors
    assert "too large" in errors
    study.run()
    assert_same(study, reference)


def test_results_of_a_newer_version_are_refused(study):
    study.results.mkdir()
    (study.results / "version.json").write_text('{"version": 99}')
    _, errors = study.run(code=2)
    assert "version.json has format version 99" in errors
    assert "install a newer cschoice" in errors


@pytest.mark.usefixtures("raw_folder")
def test_missing_data_are_skipped_with_a_reason(study):
    said, errors = study.run("--dataset", "sushi", "--learner", "mnl")
    assert "1 skipped, 0 failed" in said
    assert "– skipped sushi/mnl/fold-0: SUSHI: sushi3.idata" in errors


def test_damaged_data_are_skipped_with_a_reason(study, raw_folder):
    for name in ("sushi3.idata", "sushi3a.5000.10.order", "sushi3b.5000.10.order"):
        (raw_folder / name).write_text("nonsense\n")
    said, errors = study.run("--dataset", "sushi", "--learner", "mnl")
    assert "1 skipped, 0 failed" in said
    assert "sushi3.idata, line 1: expected an id" in errors


@pytest.mark.long
def test_many_features_fit_in_little_memory(tmp_path):
    """100,000 test tasks of 10 objects with 1,128 features: under 2 GB in all processes."""
    study = Study(tmp_path)
    text = (tmp_path / "experiments.yaml").read_text()
    (tmp_path / "experiments.yaml").write_text(
        text + "  wide: {folds: 1, trials: 1, datasets: {n_train: 500, n_test: 100000, "
        "n_features: 1128, n_objects: 10}, learners: {epochs: 2}}\n"
    )
    study.call[study.call.index("quick")] = "wide"
    study.run("--dataset", "unique-onehot", "--learner", "fate", "--learner", "mnl")
    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss  # of all processes so far
    assert largest < 2_000_000  # kB
