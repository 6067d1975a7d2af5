"""``cschoice estimate``: from a table of choices to tables that are published."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from cschoice_cli.main import app
from typer.testing import CliRunner

IMPORT = (
    "import trips.csv --name trips --task trip --object mode --chosen chosen "
    "--features cost,time --constants --context income --group person"
)


@pytest.fixture
def trips(tmp_path, run):
    """Import 400 choices of 100 people, in which the income says how much cost matters."""
    rng = np.random.default_rng(5)
    trip = np.repeat(np.arange(400), 3)
    person = trip // 4
    income = rng.normal(size=100)[person].round(2)
    table = pd.DataFrame(
        {
            "trip": trip,
            "person": person,
            "mode": np.tile(["bus", "car", "train"], 400),
            "cost": rng.uniform(1, 10, 1200).round(2),
            "time": rng.uniform(10, 60, 1200).round(0),
            "income": income,
        }
    )
    values = -0.5 * table.cost - 0.05 * table.time + np.tile([0, 1, 0.5], 400)
    values += 0.5 * income * np.tile([0, 1, 0], 400) + rng.gumbel(size=1200)
    best = values.groupby(trip).transform("max")
    table.assign(chosen=(values == best).astype(int)).to_csv(tmp_path / "trips.csv", index=False)
    run(IMPORT)
    return table


@pytest.fixture
def estimated(trips):  # noqa: ARG001 - the dataset is there
    def invoke(*words, code=0):
        result = CliRunner().invoke(app, ["estimate", *words, "--dataset", "trips"])
        assert result.exit_code == code, result.output
        return result

    return invoke


def test_one_model_on_the_terminal(estimated):
    text = estimated("mnl", "--se", "clustered", "--wtp", "cost", "--test", "time = cost").stdout
    assert "mnl on trips, clustered standard errors." in text
    for word in ("cost", "constant=car", "ρ²", "People", "Krinsky–Robb", "time = cost"):
        assert word in text
    assert "left out, the same for all objects of a task: income" in text
    assert "constant=bus" not in text  # the reference


def test_json_has_every_number_and_the_utility_can_be_said(estimated):
    words = [
        "--utility", "constants, cost, hours = time / 60, income:constants",
        "--reference", "train", "--format", "json",
    ]  # fmt: skip
    found = json.loads(estimated("mnl", *words).stdout)
    (model,) = found["models"]
    values = {one["name"]: one["estimate"] for one in model["coefficients"]}
    assert set(values) == {
        "constant=bus", "constant=car", "cost", "hours", "income:bus", "income:car",
    }  # fmt: skip
    assert values["hours"] == pytest.approx(60 * -0.05, abs=0.6)
    assert values["income:car"] - values["income:bus"] == pytest.approx(0.5, abs=0.3)
    assert np.array(model["covariance"]).shape == (6, 6)
    assert model["fit"]["n_people"] == 100
    assert model["converged"]


def test_a_mixed_logit_of_people_with_an_error_that_alternatives_share(estimated):
    words = ["mixed-logit", "--random", "time=normal", "--error", "wheels=bus,car", "--draws", "40"]
    (model,) = json.loads(estimated(*words, "--format", "json").stdout)["models"]
    rows = {one["name"]: one for one in model["coefficients"]}
    assert rows["error of wheels"]["estimate"] == 0
    assert rows["error of wheels"]["remark"] == "fixed"
    assert rows["deviation of time"]["estimate"] >= 0
    assert "deviation of error of wheels" in rows
    assert model["converged"]


def test_classes_are_chosen_by_bic_and_depend_on_the_chooser(estimated):
    words = ["latent-class", "--classes", "1-2", "--membership", "income", "--format", "json"]
    (model,) = json.loads(estimated(*words).stdout)["models"]
    assert any("have the lowest BIC (1: " in note for note in model["notes"])
    words[2] = "2"
    words += ["--wtp", "cost"]
    (model,) = json.loads(estimated(*words).stdout)["models"]
    names = {one["name"] for one in model["coefficients"]}
    assert {"class 1: cost", "class 2: time", "membership of class 1: income"} <= names
    paid = [one["name"] for one in model["willingness_to_pay"]["amounts"]]
    assert paid == ["class 1: time", "class 2: time"]
    (note,) = [one for one in model["notes"] if one.startswith("shares of people: class 1 ")]
    shares = [float(share) for share in re.findall(r"([\d.]+) %", note)]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(100, abs=0.11)


def test_several_models_side_by_side_with_a_test_between_them(estimated):
    text = estimated("mnl", "nl", "--nest", "wheels=bus,car").stdout
    assert "dissimilarity of wheels" in text
    assert "mnl against nl" in text
    assert "(fixed)" in text  # the dissimilarity of a nest of one


@pytest.mark.parametrize("format_", ["latex", "html", "markdown", "csv", "json"])
def test_formats_hold_the_same_numbers(estimated, format_):
    text = estimated("mnl", "--format", format_).stdout
    rows = json.loads(estimated("mnl", "--format", "json").stdout)["models"][0]["coefficients"]
    for row in rows:
        assert f"{abs(row['estimate']):.6f}"[:5] in text  # cut, not rounded


def test_csv_is_one_row_per_number(estimated):
    rows = list(csv.DictReader(io.StringIO(estimated("mnl", "--format", "csv").stdout)))
    assert {row["section"] for row in rows} == {"coefficient", "fit"}
    assert float(next(row["std_error"] for row in rows if row["name"] == "cost")) > 0


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_the_latex_document_compiles(estimated, tmp_path):
    words = ["mnl", "nl", "--nest", "wheels=bus,car", "--wtp", "cost", "--format", "latex"]
    estimated(*words, "--out", "table.tex")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "table.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:]
    estimated(*words, "--out", "table.tex", code=2)  # never overwritten unasked


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["feta"], "not fitted by maximum likelihood"),
        (["mnl", "--se", "robst"], "did you mean 'robust'"),
        (["mnl", "--wtp", "cots"], "unknown coefficient 'cots'"),
        (["mnl", "--test", "time"], "write a hypothesis as 'time = cost'"),
        (["mnl", "--bound", "cost < 0"], "write bounds as 'cost <= 0'"),
        (["mnl", "--utility", "cost, kost"], "unknown name 'kost'"),
        (["mnl", "--where", "cost > 5"], "differs between the objects of a task"),
        (["mnl", "--reference", "boat"], "unknown alternative 'boat'"),
        (["nl", "--nest", "wheels=bus,boat"], "unknown alternative 'boat'"),
        (["mnl", "--format", "word"], "unknown format 'word'"),
        (["mixed-logit", "--random", "time=gauss"], "unknown distribution 'gauss'"),
        (["mixed-logit", "--random", "tme=normal"], "did you mean 'time'"),
        (["mixed-logit", "--draws", "9", "--wtp", "cost"], "'cost' is random"),
        (["mixed-logit", "--random", "time"], "write 'NAME=WORD'"),
        (["latent-class", "--classes", "many"], "write a number or a range"),
        (["latent-class", "--classes", "1-1000000000"], "a range of 1 to 100"),
        (["latent-class", "--membership", "cost"], "differs between the objects of a task"),
        (["mixed-logit", "--error", "wheels=boat"], "unknown alternative 'boat'"),
        (["mnl", "--level", "95"], "between 0 and 1"),
        (["mnl", "--cluster", "cost"], "differs between the objects of a task"),
    ],
)
def test_mistakes_are_one_line(estimated, words, message):
    result = estimated(*words, code=2)
    (line,) = [line for line in result.stderr.splitlines() if line.startswith("error:")]
    assert message in line


def test_bounds_and_fixed_values_are_kept_and_named(estimated):
    words = ["mnl", "--bound", "cost >= -0.1", "--fix", "time = -0.04", "--format", "json"]
    (model,) = json.loads(estimated(*words).stdout)["models"]
    rows = {one["name"]: one for one in model["coefficients"]}
    assert rows["cost"]["estimate"] == -0.1
    assert rows["cost"]["remark"] == "at its bound"
    assert rows["time"]["estimate"] == -0.04
    assert rows["time"]["remark"] == "fixed"
    assert rows["time"]["std_error"] is None
    assert any("at its bound: cost = -0.1" in note for note in model["notes"])


def test_a_specification_is_read_from_yaml(estimated, tmp_path):
    (tmp_path / "spec.yaml").write_text(
        "reference: train\nutility:\n  - constants\n  - cost\n  - hours: time / 60\n"
        "bounds: [hours <= 0]\n"
    )
    words = ["mnl", "--spec", "spec.yaml", "--format", "json"]
    (model,) = json.loads(estimated(*words).stdout)["models"]
    names = [one["name"] for one in model["coefficients"]]
    assert names == ["constant=car", "constant=bus", "cost", "hours"]
    (tmp_path / "spec.yaml").write_text("utilty: cost\n")
    assert "did you mean 'utility'" in estimated(*words, code=2).stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("utility: [cost\n", "spec.yaml, line 2"),
        ("utility: cost\nutility: time\n", "'utility' is given twice"),
        ("max_dissimilarity: .nan\n", "numbers are finite"),
        ("where: &a [*a]\n", "an alias that contains itself"),
        ("utility: 2026-01-01\n", "type 'timestamp' is not allowed"),
    ],
)
def test_a_specification_that_is_none_is_one_line(estimated, tmp_path, text, message):
    (tmp_path / "spec.yaml").write_text(text)
    said = estimated("mnl", "--spec", "spec.yaml", code=2).stderr
    assert said.startswith("error: spec.yaml")
    assert message in said
    assert said.count("\n") == 1


def test_words_of_the_import_are_kept_for_estimates(run, estimated, tmp_path):
    (tmp_path / "spec.yaml").write_text("utility: [constants, cost, time]\n")
    words = "--spec spec.yaml --bound cost>=-0.1 --fix time=-0.04 --start cost=-0.05"
    run(f"{IMPORT} --force {words}")
    (model,) = json.loads(estimated("mnl", "--format", "json").stdout)["models"]
    rows = {one["name"]: one for one in model["coefficients"]}
    assert rows["cost"]["remark"] == "at its bound"
    assert rows["time"]["remark"] == "fixed"
    (model,) = json.loads(estimated("mnl", "--bound", "cost <= 0", "--format", "json").stdout)[
        "models"
    ]
    assert {one["name"]: one["remark"] for one in model["coefficients"]}["cost"] == ""
    before = (tmp_path / "data/trips/tasks.parquet").read_bytes()
    message = run(f"{IMPORT} --force --bound cots<=0", code=2).stderr
    assert "cots<=0" in message
    assert (tmp_path / "data/trips/tasks.parquet").read_bytes() == before


def test_a_robust_test_of_a_parameter_at_its_bound_says_why_there_is_none(estimated):
    out = estimated("mnl", "nl", "--nest", "a=bus,car", "--se", "robust").stdout
    assert "not defined: a parameter is at its bound" in out
    assert "nan" not in out
