"""Minutes on a real SLURM: time limits, nodes cut off, a queue that is full."""

import pytest
from faults.conftest import assert_same, wait_for

from cschoice.runs.executors import slurm_queue

from .cluster import running_cluster, why_not
from .conftest import MNL, ClusterStudy, Here, assert_nothing_doubled

pytestmark = [pytest.mark.slurm, pytest.mark.long]


@pytest.fixture(scope="module")
def slow_here(tmp_path_factory):
    study = Here(tmp_path_factory.mktemp("here"), "slow", *MNL, "--executor", "inline")
    study.run()
    return study


@pytest.fixture
def accounting():
    if reason := why_not("mariadbd", "slurmdbd"):
        pytest.skip(f"no SLURM with accounting can be started: {reason}")
    with running_cluster(accounting=True) as cluster:
        yield cluster


def test_a_job_that_needs_more_time_goes_on_where_it_was(cluster, tmp_path, slow_here):
    study = ClusterStudy(tmp_path, cluster, "slow", *MNL, "--time", "1")
    said, _ = study.run()
    assert "1 of 1 jobs done" in said
    assert len(study.logged("started")) > 1
    assert_same(study, slow_here)
    assert_nothing_doubled(study)


def test_a_node_that_was_cut_off_does_not_write_what_another_one_does(cluster, tmp_path, slow_here):
    study = ClusterStudy(tmp_path, cluster, "slow", *MNL, "--time", "60")
    process = study.start()
    wait_for(lambda: study.working("n1"))
    cluster.cut_off("n1")
    wait_for(lambda: study.working("n2"), 120)
    ((_, stopped),) = wait_for(lambda: study.logged("ended"))  # long before the other one is done
    assert stopped.startswith("n1:")
    said, errors = process.communicate(timeout=600)
    assert process.returncode == 0, errors
    assert "1 of 1 jobs done" in said
    assert_same(study, slow_here)
    assert_nothing_doubled(study)


def test_more_jobs_than_the_queue_takes_wait_for_their_turn(accounting, tmp_path):
    accounting.ask("sacctmgr", "--immediate", "modify", "user", "root", "set", "maxsubmitjobs=3")
    study = ClusterStudy(tmp_path, accounting, "few")
    said, errors = study.run()
    assert "8 of 8 jobs done" in said
    assert "jobs have to wait: SLURM does not take the jobs: " in errors
    assert "AssocMaxSubmitJobLimit" in errors


def test_last_words_come_from_accounting_when_the_controller_forgot(accounting, monkeypatch):
    monkeypatch.setenv("SLURM_CONF", accounting.environment["SLURM_CONF"])
    array = accounting.ask("sbatch", "--parsable", "--output=/dev/null", "--wrap=exit 3").strip()
    wait_for(lambda: "FAILED" in accounting.ask("sacct", "-nPX", "--format=State"))
    assert slurm_queue.last_words(array) == "FAILED (NonZeroExitCode), exit code 3:0, on n1"
    accounting.forget()
    assert not accounting.tasks()
    assert slurm_queue.last_words(array).startswith("FAILED (")
    assert slurm_queue.last_words(array).endswith("exit code 3:0, on n1")
