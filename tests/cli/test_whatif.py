"""``cschoice whatif``: from a dataset and a model to shares, effects and documents."""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from browsing import all_of, fits_a_phone, names_are_sound, opened
from cschoice_cli.main import app
from trips_example import trips
from typer.testing import CliRunner

from cschoice import ChoiceTasks, Feta

IMPORT = (
    "import trips.csv --name trips --task trip --object mode --chosen chosen "
    "--features cost,time --constants --context income --group person"
)


@pytest.fixture
def whatif(tmp_path, run):
    rng = np.random.default_rng(3)
    table = trips(120).assign(income=np.repeat(rng.gamma(3, 15, 120).round(), 3))
    table.to_csv(tmp_path / "trips.csv", index=False)
    run(IMPORT)

    def invoke(*words, code=0, model="mnl", data="trips"):
        result = CliRunner().invoke(app, ["whatif", data, "--model", str(model), *words])
        assert result.exit_code == code, result.output
        return result

    return invoke


@pytest.fixture
def folds(tmp_path):
    """Save the models of two folds, as a study does, and return their folder."""

    def save():
        tasks = ChoiceTasks.from_frame(
            tmp_path / "trips.csv", task="trip", object="mode", chosen="chosen",
            features="cost,time", constants=True, context="income", group="person",
        )  # fmt: skip
        folder = tmp_path / "feta"
        for fold in range(2):
            part = tasks[np.arange(len(tasks)) % 2 != fold]
            Feta(epochs=4, n_units=8).fit(part).save(folder / f"fold-{fold}" / "model")
        return folder

    return save


def rows(result):
    return json.loads(result.stdout)["rows"]


EVERYTHING = [
    "--change", "train.time * 0.8", "--by", "income > 40", "--money", "cost", "--elasticity",
    "cost", "--marginal", "time", "--diversion", "--calibration", "--assortment", "2",
    "--revenue", "bus=1,train=6",
]  # fmt: skip


def test_everything_on_the_terminal(whatif):
    text = whatif(*EVERYTHING).stdout
    for words in (
        "Share in per cent, scenario: train.time * 0.8.",
        "income > 40 (",
        "not (income > 40) (",
        "Intervals by the delta method.",
        "Change of consumer surplus per task, in units of cost.",
        "Elasticities of chances by cost, over all",
        "Marginal effects of time, over all tasks",
        "Diversion",
        "Predicted against observed, in per cent, by alternative.",
        "All 6 offers were tried.",
    ):
        assert words in text


@pytest.mark.parametrize("format_", ["latex", "html", "markdown", "csv", "json"])
def test_formats_hold_the_same_numbers(whatif, format_):
    found = rows(whatif(*EVERYTHING, "--format", "json"))
    text = whatif(*EVERYTHING, "--format", format_).stdout
    exact = format_ in ("csv", "json")
    text = text.replace("−", "-").replace(r"\ensuremath{-}", "-")
    for row in found:
        if row["section"] == "effects" and row["measure"] == "elasticity":
            shown = repr(row["value"]) if exact else f"{abs(row['value']):.5f}"
            assert shown in text
        if row["section"] == "shares" and row["measure"] == "share":
            shown = repr(row["value"]) if exact else f"{row['value'] * 100:.2f}"
            assert shown in text


def test_csv_has_one_number_per_row(whatif):
    found = list(csv.DictReader(io.StringIO(whatif(*EVERYTHING, "--format", "csv").stdout)))
    sections = {row["section"] for row in found}
    assert sections == {"shares", "surplus", "effects", "calibration", "assortment"}
    shares = [float(row["value"]) for row in found
              if row["measure"] == "share" and row["segment"] == "all"]  # fmt: skip
    assert sum(shares) == pytest.approx(2)  # as it is, and in the scenario


def test_the_page_has_the_plot_and_files_are_never_overwritten_unasked(whatif, tmp_path):
    words = ["--calibration", "--format", "html", "--out", "page.html", "--plot", "plot.svg"]
    whatif(*words)
    page = (tmp_path / "page.html").read_text()
    assert re.search(r'<svg [^>]*role="img" aria-label="Chances that mnl predicts', page)
    assert not re.search(r"(?:src|href)=.https?:", page)
    assert (tmp_path / "plot.svg").read_text().lstrip().startswith("<?xml")
    assert "give --force" in whatif(*words, code=2).stderr
    whatif(*words, "--force")


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_the_latex_document_compiles(whatif, tmp_path):
    whatif(*EVERYTHING, "--format", "latex", "--out", "table.tex")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "table.tex"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]


def test_models_of_folds_give_intervals_and_tables_are_read_like_the_imported_one(
    whatif, folds, tmp_path
):
    folder = folds()
    words = ["--change", "cost * 2", "--format", "json"]
    of_dataset = rows(whatif(*words, model=folder))
    of_table = rows(whatif(*words, model=folder, data="trips.csv"))
    for one, other in zip(of_dataset, of_table, strict=True):
        assert one["value"] == pytest.approx(other["value"], abs=1e-6)
    assert all(row["low"] < row["high"] for row in of_dataset if row["measure"] == "change")
    alone = whatif(*words[:2], model=folder / "fold-0" / "model").stdout
    assert "No intervals: the models of folds, or bootstrap, would give some." in alone
    unlabelled = trips(5).drop(columns="chosen").assign(income=30)
    unlabelled.to_csv(tmp_path / "new.csv", index=False)
    assert "Observed" not in whatif(*words[:2], model=folder, data="new.csv").stdout


def test_scenarios_of_a_file(whatif, tmp_path):
    (tmp_path / "scenarios.yaml").write_text(
        "scenarios:\n"
        "  faster trains: train.time * 0.8\n"
        "  no bus: {remove: bus}\n"
        "  night train:\n"
        "    change: [cost + 1, income = 30]\n"
        "    add:\n"
        "      night: {like: train, time: 480, cost: train.cost * 0.8}\n"
        "where: income > 20\n"
        "by: income > 40\n"
    )
    found = rows(whatif("--scenario", "scenarios.yaml", "--format", "json"))
    assert {row["scenario"] for row in found} == {"", "faster trains", "no bus", "night train"}
    assert {row["segment"] for row in found} == {"all", "income > 40", "not (income > 40)"}
    by = {
        (row["scenario"], row["alternative"]): row["value"]
        for row in found
        if row["measure"] == "share" and row["segment"] == "all"
    }
    assert by["no bus", "bus"] == 0
    assert by["night train", "night"] > 0 == by["", "night"]
    same = rows(
        whatif(
            "--change", "cost + 1", "--change", "income = 30", "--add",
            "night: like train, time = 480, cost = train.cost * 0.8", "--where", "income > 20",
            "--format", "json",
        )
    )  # fmt: skip
    (value,) = [row["value"] for row in same if row["alternative"] == "night"
                and row["measure"] == "share" and row["scenario"]]  # fmt: skip
    assert value == pytest.approx(by["night train", "night"])


def test_the_scenarios_of_the_page(whatif, tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "whatif.md").read_text()
    (written,) = re.findall(r"```\n(scenarios:.*?)```", page, re.DOTALL)
    (tmp_path / "scenarios.yaml").write_text(written)
    found = rows(whatif("--scenario", "scenarios.yaml", "--format", "json"))
    assert {row["scenario"] for row in found} == {"", "faster trains", "no bus", "night train"}
    segments = {"all", "car.cost > train.cost", "not (car.cost > train.cost)"}
    assert {row["segment"] for row in found} == segments


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--change", "train.tmie * 2"], "did you mean 'train.time'?; there are columns of the"),
        (["--remove", "boat"], "unknown alternative 'boat': there are columns of the objects: c"),
        (["--add", "night"], "write an alternative as 'night train: like train, time = 480"),
        (["--by", "income"], "write a condition, such as 'income > "),
        (["--by", "cost > 3"], "differs between the objects of a task"),
        (["--where", "incom > 3"], "did you mean 'income'"),
        (["--elasticity", "cots"], "unknown column 'cots': did you mean 'cost'"),
        (["--elasticity", "cost", "--at", "mean"], "did you mean 'means'"),
        (["--money", "cost"], "surplus is that of a scenario"),
        (["--change", "cost * 2", "--money", "tim"], "unknown column of money 'tim'"),
        (["--change", "cost * 2", "--money", "income"], "unknown column of money 'income'"),
        (["--assortment", "2"], "--assortment and --revenue need each other"),
        (["--assortment", "2", "--revenue", "boat=2"], "unknown alternative 'boat'"),
        (["--assortment", "2", "--revenue", "bus=x"], "write 'bus=1, train=6'"),
        (["--intervals", "folds"], "intervals by folds need the models of several"),
        (["--intervals", "detla"], "did you mean 'delta'"),
        (["--level", "95"], "must lie between 0 and 1"),
        (["--format", "word"], "unknown format 'word'"),
        (["--plot", "plot.png"], "--plot must end in .svg or .pdf"),
        (["--model", "nl"], "one model is estimated at a time"),
        (["--scenario", "none.yaml"], "cannot read none.yaml"),
    ],
)
def test_mistakes_are_one_line(whatif, words, message):
    result = whatif(*words, code=2)
    (line,) = [line for line in result.stderr.splitlines() if line.startswith("error:")]
    assert message in line


def test_an_unknown_model_is_neither_a_folder_nor_a_logit(whatif, folds):
    assert "neither the folder of a model" in whatif(code=2, model="models/feta").stderr
    assert "import it first" in whatif(code=2, data="trips.csv").stderr
    assert "not fitted by maximum likelihood" in whatif(code=2, model="feta-linear").stderr
    assert (
        "--utility and --spec are of a model"
        in whatif("--utility", "cost", code=2, model=folds()).stderr
    )


BOOTSTRAP = ["--change", "cost + 2", "--intervals", "bootstrap", "--draws", "3"]


def test_the_page_opens_alone_and_on_a_phone(whatif, browser, tmp_path):
    whatif(*EVERYTHING, "--format", "html", "--out", "page.html")
    with opened(browser, tmp_path / "page.html") as page:
        assert names_are_sound(page)
        assert fits_a_phone(page)
        assert len(all_of(page, "section table")) >= 8


def test_long_questions_say_in_a_log_how_far_they_are(whatif, monkeypatch):
    assert whatif(*BOOTSTRAP).stderr == ""  # nothing where it is quick
    clock = itertools.count(step=6.0)
    monkeypatch.setattr("cschoice_cli.console.time.monotonic", lambda: next(clock))
    assert re.search(r"^ +\d+ s  shares: 2 of \d$", whatif(*BOOTSTRAP).stderr, re.MULTILINE)


def test_interrupted_questions_end_with_one_line_and_write_nothing(whatif, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("cschoice.learners.learner.Learner.fit", interrupted)
    result = whatif(*BOOTSTRAP, "--format", "csv", "--out", "answers.csv", code=130)
    assert result.stdout == ""
    assert result.stderr.startswith("error: interrupted: ")
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "answers.csv").exists()
