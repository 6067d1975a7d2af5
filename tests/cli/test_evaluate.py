"""``evaluate``: metrics of kept predictions, as they were when the job was done."""

import json
from pathlib import Path

import pandas as pd
import pytest

from cschoice.learners.learner import Learner

RUN = "run --profile smoke --executor inline --folds 2 --keep-predictions"
OF = "--profile smoke --folds 2"


@pytest.mark.parametrize(
    ("dataset", "learners"), [("medoid", ["mnl", "random"]), ("pareto2d", ["mnl", "pairwise-svm"])]
)
def test_metrics_of_kept_predictions_are_those_of_the_records(run, monkeypatch, dataset, learners):
    named = f"--dataset {dataset} " + " ".join(f"--learner {name}" for name in learners)
    run(f"{RUN} {named}")
    monkeypatch.delattr(Learner, "learn")  # nothing is trained
    rows = json.loads(run(f"evaluate {OF} {named} --json").stdout)
    stored = pd.read_parquet("results/tables/metrics.parquet")
    expected = {
        (learner, fold): dict(zip(table["metric"], table["value"], strict=True))
        for (learner, fold), table in stored.groupby(["learner", "fold"])
    }
    assert len(rows) == 4
    for row in rows:
        known = expected[row["learner"], row["fold"]]
        assert {name: row[name] for name in known} == pytest.approx(known, nan_ok=True)
        assert row.keys() == {"dataset", "learner", "fold", *known}


def test_metrics_that_were_not_measured_are_computed(run):
    run(f"{RUN} --dataset medoid --learner mnl")
    rows = json.loads(run(f"evaluate {OF} -m top-2 -m top-9 --json -d medoid -l mnl").stdout)
    assert [row["top-2"] < row["top-9"] <= 1 for row in rows] == [True, True]
    shown = run(f"evaluate {OF} -m top-2 -m f1 -d medoid -l mnl").stdout
    mean = sum(row["top-2"] for row in rows) / 2
    assert f"{mean:.3f} ± " in shown
    assert "f1" not in shown  # it is of subset choice


def test_what_was_not_kept_is_said(run):
    named = "--dataset medoid --learner mnl --learner random"
    run(f"{RUN.replace('--keep-predictions', '')} {named}")
    said = run(f"evaluate {OF} {named}", code=2).stderr
    assert "no predictions of these jobs in results (4 are done): 'cschoice run --keep" in said
    run(f"{RUN} {named.replace('--learner random', '')} --force")
    assert "2 of 4 finished jobs kept no predictions" in run(f"evaluate {OF} {named}").stderr
    (path,) = Path("results").rglob("mnl/fold-0/predictions.parquet")
    table = pd.read_parquet(path)
    table["utility"] *= 2
    for damage in (lambda: path.write_bytes(b"cut"), lambda: table.to_parquet(path)):
        damage()
        said = run(f"evaluate {OF} {named}", code=2).stderr
        assert said.splitlines()[-1].startswith(f"error: {path} is damaged (its checksum does not")
    assert "unknown metric 'f2'" in run(f"evaluate {OF} -m f2", code=2).stderr
