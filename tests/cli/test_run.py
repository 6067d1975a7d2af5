"""``run``, ``status``, ``collect`` and ``report`` as a user types them; cheap learners."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from cschoice.datasets import DATASETS
from cschoice.learners import LEARNERS
from cschoice.learners.saving import load
from cschoice.study.run import StudyRun
from cschoice.tasks import ChoiceTasks, Kind

CHEAP = "--learner mnl --learner random --dataset medoid --profile smoke --executor inline"


def test_a_run_ends_with_tables_and_the_next_command(run):
    result = run(f"run {CHEAP}")
    assert result.stdout == (
        "4 of 4 jobs done, 0 skipped, 0 failed: results/tables. "
        "Next: cschoice report --profile smoke\n"
    )
    assert result.stderr.count("✓ done    medoid/") == 4
    folds = pd.read_parquet("results/tables/folds.parquet")
    assert folds["state"].tolist() == ["done"] * 4
    metrics = pd.read_parquet("results/tables/metrics.parquet")
    measured = metrics.groupby("learner")["metric"].apply(set).to_dict()
    assert measured["random"] == {"accuracy", "top-3", "top-5", "normalized-accuracy"}
    assert measured["mnl"] == {*measured["random"], "log-loss"}  # random has no probabilities
    trials = pd.read_parquet("results/tables/trials.parquet")
    assert trials.groupby("learner").size().to_dict() == {"mnl": 4}  # nothing to tune in random
    again = run(f"run {CHEAP}")
    assert "✓" not in again.stderr
    assert "4 of 4 jobs done" in again.stdout


def test_the_fitted_model_is_kept_and_predictions_on_request(run):
    run(f"run {CHEAP} --folds 1 --keep-predictions")
    folder = Path("results/runs/smoke/study/medoid/mnl/fold-0")
    predictions = pd.read_parquet(folder / "predictions.parquet")
    assert list(predictions.columns) == ["task", "chosen", "utility"]
    learner = load(folder / "model")
    tasks = ChoiceTasks.from_dense([[[0.0] * 5, [1.0] * 5]], [0], Kind.SINGLETON)
    assert learner.utilities(tasks).shape == (2,)


def test_status_follows_the_files(run):
    states = json.loads(run("status --profile smoke --dataset medoid --json").stdout)
    assert {row["state"] for row in states} == {"to do"}
    run(f"run {CHEAP}")
    shown = run("status --profile smoke --dataset medoid").stdout
    assert "medoid    mnl" in shown
    states = json.loads(run("status --profile smoke --dataset medoid --json").stdout)
    done = {row["learner"] for row in states if row["state"] == "done"}
    assert done == {"mnl", "random"}
    states = json.loads(run(f"status {CHEAP.split(' --ex')[0]} --trials 3 --json").stdout)
    assert {row["state"] for row in states} == {"stale", "done"}  # random has no trials to change


def test_changed_configurations_are_never_mixed(run):
    run(f"run {CHEAP}")
    run(f"run {CHEAP} --trials 3 --learner mnl")
    folds = pd.read_parquet("results/tables/folds.parquet")
    assert folds.loc[folds["learner"] == "mnl", "n_trials"].tolist() == [3, 3]
    result = run("collect")
    assert "left out" in result.stderr
    assert len(pd.read_parquet("results/tables/folds.parquet")) == 2


def test_a_dry_run_estimates_and_writes_nothing(run):
    result = run(f"run {CHEAP} --dry-run")
    assert "4 jobs to run, 0 done; about" in result.stdout
    assert not Path("results").exists()


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("run --learner fetaa", "did you mean 'feta'"),
        ("run --dataset nothing", "unknown dataset 'nothing'"),
        ("run --profile labtop", "did you mean 'laptop'"),
        ("run --experiment stduy", "did you mean 'study'"),
        ("run --config nothing.yaml", "cannot read nothing.yaml"),
        ("run --executor slow", "unknown executor 'slow': Known: local, inline, slurm"),
        ("run --folds 0", "got '0'"),
        ("run --learner mnl --device gpu", "device must be auto, cpu, cuda, cuda:1 or mps"),
        ("run --learner mnl --device cuda:99", "device cuda:99 is not there"),
        ("run --workers none", "got 'none'"),
        ("report", "results/tables/folds.parquet is not there"),
        ("report --format pdf", "unknown format 'pdf'"),
        ("status --profile labtop", "did you mean 'laptop'"),
    ],
)
def test_bad_input_gets_one_line_and_writes_nothing(run, line, says):
    result = run(line, code=2)
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert says in result.stderr
    assert list(Path().iterdir()) == []


def test_every_problem_of_a_study_has_its_line(run):
    Path("experiments.yaml").write_text(
        "experiments: {study: {protocol: nested, datasets: [mediod], learners: [mnl]}}\n"
        "profiles: {laptop: {trails: 3}}\n"
    )
    result = run("run", code=2)
    assert result.stderr.count("error: experiments.yaml: ") == 1
    Path("experiments.yaml").write_text(
        "experiments: {study: {protocol: nested, datasets: [mediod], learners: [mnk]}}\n"
        "profiles: {laptop: {}}\n"
    )
    assert run("run", code=2).stderr.count("error: experiments.yaml: ") == 2


def test_a_parameter_no_learner_has_is_refused_before_anything_runs(run):
    Path("experiments.yaml").write_text(
        "experiments: {study: {protocol: nested, datasets: [medoid], learners: [mnl]}}\n"
        "learners: {mnl: {parameters: {l3: 1}}}\nprofiles: {laptop: {}}\n"
    )
    said = run("run", code=2).stderr
    assert "learners.mnl.parameters: unknown parameter 'l3': Known: l2" in said
    assert not Path("results").exists()


def test_a_run_can_be_reported(run):
    run(f"run {CHEAP}")
    shown = run("report --profile smoke").stdout
    assert "0.020 ± 0.001" in shown  # the paper's MNL on Medoid
    assert run("report --profile smoke --format csv").stdout == "results/report/results.csv\n"
    assert "no results with profile 'paper'" in run("report --profile paper", code=2).stderr


def test_a_report_during_a_run_shows_what_is_done(run, monkeypatch):
    monkeypatch.setattr(StudyRun, "collect", lambda _: None)  # as of a run that was killed
    run(f"run {CHEAP}")
    shown = run("report --profile smoke").stdout
    assert "4 of 4 jobs done" in shown
    assert "0.020 ± 0.001" in shown
    written = {path: path.stat().st_mtime_ns for path in Path("results/tables").iterdir()}
    run("report --profile smoke")  # nothing new, nothing written
    assert {path: path.stat().st_mtime_ns for path in Path("results/tables").iterdir()} == written


def test_show_learners_lists_spaces(run):
    rows = json.loads(run("show learners --json").stdout)
    assert [row["name"] for row in rows] == list(LEARNERS)
    assert "n_layers 1–20" in run("show learners").stdout


def test_a_run_never_drops_finished_results_of_others(run):
    run(f"run {CHEAP}")
    run("run --learner random --dataset medoid --profile smoke --executor inline --folds 1")
    run("run --learner mnl --dataset unique-onehot --profile smoke --executor inline --folds 1")
    folds = pd.read_parquet("results/tables/folds.parquet")
    cells = folds.groupby(["dataset", "learner"]).size().to_dict()
    assert cells == {("medoid", "mnl"): 2, ("medoid", "random"): 2, ("unique-onehot", "mnl"): 1}


def test_a_wrong_device_leaves_nothing_behind_in_the_journal(run, monkeypatch):
    line = "run --learner feta-linear --dataset medoid --profile smoke --folds 1 --executor inline"
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    run(f"{line} --device cuda", code=1)
    assert not Path("results/runs/smoke/study/medoid/feta-linear/fold-0/trials.jsonl").exists()
    run(f"{line} --device cpu")


def tables():
    return {path.name: path.read_bytes() for path in Path("results/tables").iterdir()}


def test_a_study_goes_on_from_its_tables_alone(run):
    run(f"run {CHEAP}")
    before = tables()
    shutil.rmtree("results/runs/smoke/study/medoid/mnl")
    shutil.rmtree("results/runs/smoke/study/medoid/random/fold-1")
    listed = json.loads(
        run("status --profile smoke --folds 2 --dataset medoid -l mnl --json").stdout
    )
    assert [row["state"] for row in listed] == ["done", "done"]
    result = run(f"run {CHEAP}")
    assert "✓" not in result.stderr
    assert result.stdout.startswith("4 of 4 jobs done")
    assert tables() == before
    assert (
        "3 jobs have no result in a folder: their earlier rows were kept" in run("collect").stderr
    )
    assert tables() == before


def test_a_run_where_only_tables_were_kept_loses_none_of_them(run):
    run(f"run {CHEAP}")
    before = pd.read_parquet("results/tables/folds.parquet").drop(columns="seconds")
    shutil.rmtree("results/runs")
    result = run(f"run {CHEAP.replace('--learner random', '')} --force")
    assert result.stderr.count("✓ done    medoid/mnl") == 2
    after = pd.read_parquet("results/tables/folds.parquet").drop(columns="seconds")
    pd.testing.assert_frame_equal(after, before)


def test_an_experiment_builds_on_jobs_that_only_the_tables_have(run):
    tuned = "--learner mnl --dataset medoid --profile smoke --executor inline"
    run(f"run {tuned}")
    run(f"run --experiment generalization {tuned}")
    before = pd.read_parquet("results/tables/curves.parquet")
    shutil.rmtree("results/runs")
    assert "✓" not in run(f"run --experiment generalization {tuned}").stderr
    result = run(f"run --experiment generalization {tuned} --force")
    assert "defaults are used" not in result.stderr
    assert result.stderr.count("✓ done    medoid/mnl") == 2
    pd.testing.assert_frame_equal(pd.read_parquet("results/tables/curves.parquet"), before)


def test_a_job_begun_again_is_not_done_and_keeps_its_rows_until_it_is(run):
    run(f"run {CHEAP}")
    before = tables()
    (Path("results/runs/smoke/study/medoid/mnl/fold-0") / "record.json").unlink()
    listed = json.loads(
        run("status --profile smoke --folds 1 --dataset medoid -l mnl --json").stdout
    )
    assert [row["state"] for row in listed] == ["to do"]
    run("collect")
    assert tables() == before


def test_what_is_done_stays_where_its_raw_data_are_gone(run, monkeypatch):
    line = CHEAP.replace("--dataset medoid", "--dataset unique-onehot")
    run(f"run {line}")
    before = tables()
    info = replace(DATASETS["unique-onehot"], raw="mnist")  # which are not there
    monkeypatch.setitem(DATASETS.written, "unique-onehot", info)
    for lost in (False, True):
        if lost:
            shutil.rmtree("results/runs")
        result = run(f"run {line} --force")
        assert "no raw data of unique-onehot: finished jobs there are not run" in result.stderr
        assert "nothing is left to run: --force runs it again" in result.stderr
        assert tables() == before


@pytest.mark.parametrize("name", ["folds", "metrics", "trials", "curves"])
@pytest.mark.parametrize("how", ["missing", "cut short", "damaged"])
def test_rows_that_cannot_be_made_again_are_never_overwritten(run, name, how):
    run(f"run {CHEAP}")
    kept = Path("results/runs/smoke/study/medoid/mnl/fold-0")
    kept.rename("kept")
    shutil.rmtree("results/runs")
    kept.parent.mkdir(parents=True)
    Path("kept").rename(kept)
    path = Path(f"results/tables/{name}.parquet")
    content = path.read_bytes()
    if how == "missing":
        path.unlink()
    else:
        path.write_bytes(content[:-20] if how == "cut short" else b"PAR1" + b"?" * 200 + b"PAR1")
    before = tables()
    for line in (f"run {CHEAP}", f"run {CHEAP} --force", "collect"):
        errors = run(line, code=2).stderr
        assert str(path) in errors
        assert "New tables would lose the rows of jobs that have no run folder" in errors
        assert "✓" not in errors
    assert tables() == before


@pytest.mark.parametrize("name", ["folds", "metrics", "trials", "curves"])
def test_a_damaged_table_is_made_again_from_run_folders(run, name):
    run(f"run {CHEAP}")
    before = tables()
    Path(f"results/tables/{name}.parquet").write_bytes(b"cut")
    run("collect")
    assert tables() == before


def test_jobs_of_another_study_stay_in_the_tables_when_nothing_else_has_them(run):
    run(f"run {CHEAP}")
    shutil.rmtree("results/runs")
    Path("experiments.yaml").write_text(
        "experiments: {study: {protocol: convergence, datasets: [medoid], learners: [feta]}}\n"
        "profiles: {smoke: {folds: 1, datasets: {n_train: 20, n_test: 20}, learners: {epochs: 1}},"
        " laptop: {}}\n"
    )
    run("run --profile smoke --executor inline")
    found = pd.read_parquet("results/tables/folds.parquet")["learner"].tolist()
    assert found == ["feta", "mnl", "mnl", "random", "random"]
    run("run --profile smoke --executor inline --force")
    again = pd.read_parquet("results/tables/folds.parquet")["learner"].tolist()
    assert again == found
