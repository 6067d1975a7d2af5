"""The same study on SLURM, whatever happens to jobs, nodes and the controller."""

import itertools
import re
import shutil
import signal

import pytest
from faults.conftest import assert_same, wait_for

from .conftest import MNL, ClusterStudy, Here, assert_nothing_doubled

pytestmark = [pytest.mark.slurm, pytest.mark.xdist_group("slurm")]


@pytest.fixture(scope="session")
def busy_here(tmp_path_factory):
    study = Here(tmp_path_factory.mktemp("here") / "busy", "busy", *MNL, "--executor", "inline")
    study.run()
    return study


def test_forty_jobs_on_four_gpus_are_never_two_on_one(cluster, tmp_path):
    study = ClusterStudy(tmp_path / "there", cluster, "forty")
    said, errors = study.run()
    assert "40 of 40 jobs done" in said
    assert "31 jobs submitted" in errors  # as many as an array may have here
    lives = sorted(study.lives())
    assert len(lives) == 40
    assert {life.gpu for life in lives} == {"n1:0", "n1:1", "n2:0", "n2:1"}
    for before, after in itertools.pairwise(lives):
        assert before.gpu != after.gpu or before.ended <= after.started
    here = Here(tmp_path / "here", "forty", "--executor", "inline")
    here.run()
    assert_same(study, here)


def test_detached_jobs_are_found_again_and_a_limit_holds(cluster, tmp_path):
    study = ClusterStudy(tmp_path / "there", cluster, "few")
    study.say_it_in_the_study("max_jobs: 2, sbatch: {comment: from-the-study}")
    with cluster.waiting():
        said, _ = study.run("--detach", "--dataset", "medoid")
        assert said == "4 jobs submitted. Next: cschoice status --profile few --experiment small\n"
        assert set(cluster.ask("squeue", "-h", "-r", "-o", "%k").split()) == {"from-the-study"}
        assert study.states() == {"queued": 4, "to do": 4}
        process = study.start()
        wait_for(lambda: len(cluster.active()) == 8)
    said, errors = process.communicate(timeout=300)
    assert "8 of 8 jobs done" in said
    assert "4 jobs are in SLURM's queue already" in errors
    assert "4 jobs submitted" in errors
    assert len(study.lives()) == 8
    assert study.most_at_once() == 2
    assert not list((study.results / "slurm").iterdir())
    here = Here(tmp_path / "here", "few", "--executor", "local")
    here.run()
    assert_same(study, here)


def test_stopping_leaves_or_cancels_jobs(cluster, tmp_path):
    study = ClusterStudy(tmp_path, cluster, "busy", *MNL, "--folds", "2")

    def stop(choice):
        process = study.start("--on-exit", choice)
        wait_for(study.working)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 130, errors
        return errors

    assert re.search(r"^\d+ jobs were cancelled", stop("cancel"), re.MULTILINE)
    wait_for(lambda: not cluster.active())
    states = study.states()
    assert states["queued"] == states["running"] == 0
    assert "jobs ended without a result, SLURM says CANCELLED: run them again" in study.said
    shutil.rmtree(study.results)
    assert "jobs stay in SLURM's queue" in stop("leave")
    states = study.states()
    assert states["queued"] + states["running"] > 0
    said, errors = study.run()
    assert "2 of 2 jobs done" in said
    assert "submitted" not in errors


def test_requeues_preemptions_lost_nodes_and_controllers_lose_and_double_nothing(
    cluster, tmp_path, busy_here
):
    study = ClusterStudy(tmp_path, cluster, "busy", *MNL)
    process = study.start()
    wait_for(study.working)
    urgent = ("--partition=urgent", "--nodes=2", "--gpus-per-node=2", "--output=/dev/null")
    cluster.ask("sbatch", *urgent, "--wrap=sleep 1")
    wait_for(lambda: "preempted JobId" in (cluster.folder / "slurmctld.log").read_text())
    wait_for(lambda: not study.working())
    first, *_ = wait_for(lambda: study.working("n2"))
    cluster.ask("scontrol", "requeue", first)
    wait_for(lambda: study.working("n1"))
    cluster.kill_node("n1")
    cluster.stop_controller()
    cluster.start_controller()
    wait_for(lambda: not any(node == "n1" for _, node in cluster.active().values()), 90)
    cluster.start_node("n1")
    said, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    assert "4 of 4 jobs done" in said
    assert len(study.logged("started")) > 4
    assert_same(study, busy_here)
    assert_nothing_doubled(study)


def test_queued_jobs_of_another_configuration_are_cancelled(cluster, tmp_path):
    study = ClusterStudy(tmp_path, cluster, "few", "--detach", "--learner", "mnl")
    with cluster.waiting():
        study.run()
        assert study.states() == {"queued": 4, "to do": 4}
        _, errors = study.run("--trials", "1", "--dataset", "medoid")
        assert "cancelling 2 queued jobs of another configuration" in errors
        assert "2 jobs submitted" in errors
        assert len(cluster.active()) == 4
        said, _ = study.run()
        assert said.startswith("2 jobs submitted.")
        assert study.states() == {"queued": 4, "to do": 4}


def test_what_slurm_refuses_is_said_in_its_words(cluster, tmp_path):
    study = ClusterStudy(tmp_path, cluster, "few", "--partition", "nowhere")
    _, errors = study.run(code=2)
    assert errors.startswith("error: SLURM does not take the jobs: ")
    assert "invalid partition specified: nowhere" in errors
    assert errors.count("\n") == 1
    assert not cluster.active()
    assert not list((study.results / "slurm").iterdir())


def test_what_keeps_failing_ends_as_failed_in_slurms_own_words(cluster, tmp_path):
    # SLURM looks once a second: the job must last for several, and no trial may end in them.
    network = ("--learner", "feta", "--dataset", "medoid", "--folds", "1")
    study = ClusterStudy(tmp_path, cluster, "few", *network)
    said, errors = study.run("--mem", "50M", code=1)
    assert "1 failed" in said
    reason = study.table("folds")["reason"].item()
    assert "exceeded memory limit" in reason
    assert reason.splitlines()[-1].startswith("failed 3 times, SLURM says FAILED (NonZeroExitCode)")
    assert reason.endswith("give it more with --mem")
    assert errors.count("medoid/feta/fold-0 goes on again; SLURM says FAILED") == 2
    study.run()
    assert study.table("folds")["state"].item() == "done"
