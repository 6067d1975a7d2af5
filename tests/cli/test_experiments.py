"""The further experiments as a user types them: variants, curves, the study before them."""

import json
from pathlib import Path

import pandas as pd
import pytest

STUDY = """
learners:
  ridge: {learner: mnl, parameters: {l2: 5.0}}
  tiny: {learner: fate, parameters: {n_units: 4, n_set_units: 4, n_embedding: 4}}
experiments:
  study: {protocol: nested, datasets: [medoid], learners: [mnl, ridge]}
  generalization:
    protocol: generalization
    datasets: [medoid]
    learners: [mnl, ridge, random]
    settings: {sizes: [3, 6], tuned_in: study}
  unique-stream:
    protocol: stream
    datasets: [unique-onehot]
    learners: [tiny]
    parameters: {epochs: 3, batch_size: 32}
profiles:
  laptop:
    folds: 2
    trials: 2
    inner_splits: 2
    datasets: {n_train: 60, n_test: 60}
    settings: {n_test: 100}
"""


@pytest.fixture
def run(run):
    Path("experiments.yaml").write_text(STUDY)
    return run


def curves():
    table = pd.read_parquet("results/tables/curves.parquet")
    names = ["profile", "experiment", "dataset", "learner", "fold"]
    assert list(table.columns) == [*names, "axis", "metric", "x", "value"]
    return table


def test_generalization_follows_the_study(run):
    line = "run --executor inline --experiment generalization"
    first = run(line)
    said = " ".join(first.stderr.split())
    assert "so defaults are used: medoid/mnl ✓ done medoid/mnl/fold-0: normalized-acc" in said
    assert "6 of 6 jobs done" in first.stdout
    table = curves()
    assert len(table) == 3 * 2 * 4
    assert set(table["x"]) == {3, 4, 5, 6}
    assert set(table["metric"]) == {"normalized-accuracy"}
    said = run("report --experiment generalization", code=2).stderr
    assert "its numbers are in results/tables/curves.parquet" in said

    run("run --executor inline --learner mnl --folds 1")  # the study of one fold
    states = json.loads(run("status --experiment generalization --json").stdout)
    stale = {(row["learner"], row["fold"]) for row in states if row["state"] == "stale"}
    assert stale == {("mnl", 0)}
    again = run(line)
    assert again.stderr.count("✓ done") == 1
    assert "defaults are used" not in again.stderr  # what is done needs no remark
    folds = pd.read_parquet("results/tables/folds.parquet")
    tuned = folds[(folds["experiment"] == "study") & (folds["learner"] == "mnl")]
    taken = folds[(folds["experiment"] == "generalization") & (folds["learner"] == "mnl")]
    assert json.loads(tuned["params"].item()) == json.loads(taken["params"].iloc[0]) != {}
    assert json.loads(taken["params"].iloc[1]) == {}


def test_a_stream_ends_with_its_curve(run):
    dry = run("run --experiment unique-stream --dry-run")
    assert "2 jobs to run, 0 done" in dry.stdout
    assert not Path("results").exists()
    result = run("run --executor inline --experiment unique-stream")
    assert "✓ done    unique-onehot/tiny/fold-1: accuracy 0." in result.stderr
    table = curves()
    assert table["axis"].unique().tolist() == ["epoch"]
    assert table["x"].tolist() == [1, 2, 3, 1, 2, 3]
    metrics = pd.read_parquet("results/tables/metrics.parquet")
    assert metrics["value"].tolist() == table.loc[table["x"] == 3, "value"].tolist()
    assert "tiny" in run("report --experiment unique-stream").stdout
    dry = run("run --experiment unique-stream --dry-run --force")
    assert "2 jobs to run, 0 done" in dry.stdout


def test_a_variant_stands_beside_its_learner(run):
    run("run --executor inline")
    folds = pd.read_parquet("results/tables/folds.parquet")
    assert folds.groupby("learner")["n_trials"].sum().to_dict() == {"mnl": 4, "ridge": 0}
    assert "ridge" in run("report").stdout
    run("report --format latex")
    assert "ridge" in Path("results/report/results.tex").read_text()
    only = run("status --learner ri*").stdout
    assert "ridge" in only
    assert "mnl" not in only
    assert "did you mean 'ridge'" in run("run --learner rigde", code=2).stderr


def test_what_an_experiment_cannot_do_is_said_at_once(run):
    result = run("run --experiment unique-stream --learner mnl --learner ridge", code=2)
    assert result.stderr == (
        "error: experiment 'unique-stream': mnl is no network: a stream is learned epoch by epoch\n"
        "error: experiment 'unique-stream': ridge is no network: a stream is learned epoch by epoch"
        "\n"
    )
    assert not Path("results").exists()
