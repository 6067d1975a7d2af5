"""The tutorial of docs/own-data.md, word for word, on the real files."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from documents import ROOT, blocks, commands

FILES = ("swissmetro/swissmetro.csv.gz", "modecanada/ModeCanada.csv.gz")

# Only what the profile spends is less than there.
LITTLE = """
experiments: {study: {protocol: nested, datasets: [medoid], learners: [mnl]}}
profiles:
  demo: {folds: 1, trials: 1, inner_splits: 1, datasets: {max_train: 200, max_test: 500},
         learners: {epochs: 2}}
"""


def tutorial():
    """Return the commands of the block that imports Swissmetro."""
    found = (block for _, block in blocks(ROOT / "docs/own-data.md") if "swissmetro" in block)
    return commands(next(found), "$ ")


def test_the_tutorial_goes_from_raw_files_to_a_report_and_predictions(data_folder, tmp_path):
    for name in FILES:
        if not (data_folder / name).exists():
            pytest.skip(f"{data_folder / name} does not exist")
        shutil.copy(data_folder / name, tmp_path)
    (tmp_path / "experiments.yaml").write_text(LITTLE)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    said = {}
    for command in tutorial():
        done = subprocess.run(
            command, shell=True, cwd=tmp_path, env=os.environ | {"PATH": path},
            capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        said.setdefault(command.split()[1], []).append(done)
    assert list(said) == ["import", "run", "report", "fit", "predict"]
    assert "left out: 9 tasks without a chosen object" in said["import"][0].stderr
    assert "10,719" in said["import"][0].stdout
    assert "4,324" in said["import"][1].stdout
    accuracies = said["report"][0].stdout.partition("Singleton choice, Accuracy.")[2]
    accuracies = accuracies.partition("* best")[0]
    for learner in ("MNL", "RankNet", "FETA-Net", "FATE-Net"):
        assert accuracies.count(learner) == 2
    metrics = pd.read_parquet(tmp_path / "results/tables/metrics.parquet")
    accuracy = metrics[(metrics["metric"] == "accuracy") & (metrics["learner"] == "mnl")]
    assert (accuracy["value"] > 0.5).all()
    predicted = pd.read_csv(tmp_path / "predictions.csv")
    assert len(predicted) == 15_520
    assert predicted["chosen"].sum() == 4_324
