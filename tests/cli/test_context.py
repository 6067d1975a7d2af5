"""``cschoice test context``: the tests in a table, warnings, and the verdict last."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from cschoice_cli.main import app
from typer.testing import CliRunner


@pytest.fixture
def dinners(tmp_path, run):
    """Import 500 choices of dishes, where a bad fish makes meat better."""
    rng = np.random.default_rng(0)
    rows = []
    for guest in range(500):
        dishes = ["meat", "rice", *(["fish"] if rng.random() < 0.5 else [])]
        worth = {"meat": 1.5 * ("fish" in dishes), "rice": 0.5, "fish": -1.5}
        values = [worth[dish] + rng.gumbel() for dish in dishes]
        best = dishes[int(np.argmax(values))]
        rows += [(guest, dish, int(dish == best)) for dish in dishes]
    table = pd.DataFrame(rows, columns=["guest", "dish", "chosen"])
    table.to_csv(tmp_path / "dinners.csv", index=False)
    run("import dinners.csv --name dinners --task guest --object dish --chosen chosen --constants")


@pytest.fixture
def tested(dinners):  # noqa: ARG001 - the dataset is there
    def invoke(*words, code=0):
        result = CliRunner().invoke(app, ["test", "context", "--dataset", "dinners", *words])
        assert result.exit_code == code, result.output
        return result

    return invoke


def test_the_verdict_comes_last_and_warnings_apart(tested):
    result = tested("--samples", "99")
    for word in ("likelihood ratio, CDM", "Hausman–McFadden", "exchanges of choices", "(500 tasks"):
        assert word in result.stdout
    assert result.stdout.splitlines()[-1].startswith("Context matters: the odds of two objects")
    assert "warning: there are only 2 different sets" in result.stderr


def test_json_has_all_that_is_shown(tested):
    found = json.loads(tested("--json", "--samples", "19", "--seed", "3").stdout)
    assert found["matters"] is True
    assert found["n_sets"] == 2
    ratio = next(test for test in found["tests"] if test["name"] == "likelihood ratio, CDM")
    assert ratio["degrees"] == 1
    assert ratio["p"] < 0.001
    assert found["verdict"].startswith("Context matters")


def test_wrong_words_are_one_line(tested):
    assert "level must lie between 0 and 1" in tested("--level", "5", code=2).stderr
    assert "dish" in tested("--utility", "dish", code=2).stderr


def test_interrupted_tests_end_with_one_line(tested, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("cschoice.estimates.independence.exchange_test", interrupted)
    result = tested(code=130)
    assert result.stdout == ""
    assert result.stderr.startswith("error: interrupted: ")
    assert result.stderr.count("\n") == 1


def test_the_group_shows_what_it_has():
    shown = CliRunner().invoke(app, ["test"])
    assert shown.exit_code == 0
    assert "context" in shown.stdout
