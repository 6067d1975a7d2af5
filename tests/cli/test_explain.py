"""``cschoice explain``: from a CSV to the page in three commands, interrupted, and refused."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cschoice_cli.main import app
from trips_example import trips
from typer.testing import CliRunner

from cschoice import ChoiceTasks, Feta
from cschoice.learners.saving import load

COMMANDS = (
    "import trips.csv --name trips --task trip --object mode --chosen chosen --features cost,time",
    "fit --dataset trips --learner mnl --profile smoke",
    "explain models/trips-mnl --better cost=low,time=low --task 17 --folds 3",
)
FETA = {"epochs": 2, "n_units": 8}


@pytest.fixture
def fitted(tmp_path, run):
    """Save FETA, fitted a little, and the tasks that it was fitted on."""
    run("show learners")  # an empty folder
    tasks = ChoiceTasks.from_frame(
        trips(60), task="trip", object="mode", chosen="chosen", features="cost,time"
    )
    tasks.to_parquet(tmp_path / "trips.parquet")
    Feta(**FETA).fit(tasks).save(tmp_path / "trips-feta")
    trips(60).to_csv(tmp_path / "trips.csv", index=False)

    def invoke(*words, code=0):
        given = ["explain", "trips-feta", "--dataset", "trips.csv", *words]
        result = CliRunner().invoke(app, given)
        assert result.exit_code == code, result.output
        return result

    return invoke


def test_three_commands_lead_from_a_table_to_the_page(tmp_path, run):
    trips(120).to_csv(tmp_path / "trips.csv", index=False)
    for line in COMMANDS:
        shown = run(line)
    assert shown.stdout == "explained/trips-mnl/explanation.html\n"
    page = Path("explained/trips-mnl/explanation.html").read_text()
    assert "<h1>MNL on trips, explained</h1>" in page
    total, model = re.search(r"they sum to ([\d.]+), the log-odds of the model are ([\d.]+)\.<",
                             page).groups()  # fmt: skip
    learner = load(Path("models/trips-mnl"))
    table = trips(120)
    own = learner.predict(table[table.trip == 17]).utility.sort_values().to_numpy()
    assert float(total) == float(model) == pytest.approx(own[-1] - own[-2], abs=1e-4)


def test_progress_is_a_line_per_step_in_a_log(fitted):
    said = fitted("--folds", "2", "--task", "3", "--format", "all").stderr
    for step in (
        "fitting FETA-Net without a part of the data: 2 of 2",
        "from another start: 2 of 2",
        "fitting Pointwise net without a part of the data: 1 of 2",
        "task 3",
        "drawing figures",
    ):
        assert re.search(rf"^ +\d+ s  .*{step}$", said, re.MULTILINE), step
    assert Path("explained/trips-feta/explanation.tex").exists()


@pytest.mark.usefixtures("fitted")
def test_interrupted_it_ends_with_one_line_and_leaves_nothing(tmp_path):
    command = Path(sys.executable).parent / "cschoice"
    process = subprocess.Popen(
        [command, "explain", "trips-feta", "--dataset", "trips.csv", "--folds", "50"],
        cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    first = process.stderr.readline()
    assert "fitting FETA-Net" in first
    time.sleep(0.2)  # it is in the middle of it
    process.send_signal(signal.SIGINT)
    shown, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    *others, last = errors.splitlines()
    assert last == "error: interrupted: nothing half-written was kept, what was finished stays"
    assert all(" of 50" in line for line in others)
    assert shown == ""
    assert not (tmp_path / "explained").exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--task", "60"], "task must be 0 to 59, got 60"),
        (["--better", "cost"], "--better takes FEATURE=high or FEATURE=low"),
        (["--better", "cots=low"], "did you mean 'cost'"),
        (["--better", "cost=little"], "'cost' must be better high or low, got 'little'"),
        (["--folds", "1"], "folds must be 0 or at least 2, got 1"),
        (["--format", "pdf"], "pdf"),
    ],
)
def test_wrong_words_are_one_line_and_write_nothing(fitted, words, says):
    result = fitted(*words, code=2)
    errors = [line for line in result.stderr.splitlines() if not line.endswith("trips-feta")]
    assert len(errors) == 1
    assert errors[0].startswith("error: ")
    assert says in errors[0]
    assert result.stdout == ""
    assert not Path("explained").exists()


def test_a_folder_without_a_model_or_a_dataset_is_named(run, tmp_path):
    assert "nothing" in run("explain nothing", code=2).stderr
    tasks = ChoiceTasks.from_frame(
        trips(30), task="trip", object="mode", chosen="chosen", features="cost,time"
    )
    Feta(**FETA).fit(tasks).save(tmp_path / "mine")
    assert "give --dataset" in run("explain mine", code=2).stderr
