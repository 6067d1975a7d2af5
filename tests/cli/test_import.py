"""The tables that people have: how ``import`` reads them, and what it refuses to guess."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cschoice import ChoiceTasks

SMOKE = "--profile smoke --executor inline"
TRIPS = "import trips.csv --name trips --task trip --chosen chosen"
MODES = ["bus", "car", "train"]


def trips(n_tasks=20, seed=0):
    """Trips of three modes, of which the cheapest is chosen."""
    rng = np.random.default_rng(seed)
    cost = rng.normal(5, 1, size=(n_tasks, 3)).round(3)
    return pd.DataFrame(
        {
            "trip": np.repeat(np.arange(n_tasks) + 100, 3),
            "mode": MODES * n_tasks,
            "cost": cost.ravel(),
            "time": rng.integers(10, 90, 3 * n_tasks),
            "income": np.repeat(rng.integers(20, 80, n_tasks), 3),
            "chosen": (cost == cost.min(axis=1, keepdims=True)).ravel().astype(int),
        }
    )


def imported(name="trips"):
    """Return the tasks of an imported dataset."""
    return ChoiceTasks.from_parquet(f"data/{name}/tasks.parquet")


def names(name="trips"):
    """Return the names of its features."""
    return json.loads(Path(f"data/{name}/cschoice.json").read_text())["features"]


@pytest.fixture
def write():
    def to_file(table, path="trips.csv", **options):
        table.to_csv(path, index=False, **options)

    return to_file


# What was chosen


def test_values_that_differ_within_a_task_are_no_names(run, write):
    table = trips()
    table.loc[4, "chosen"] = 2
    write(table)
    line = f"{TRIPS} --object mode --features cost"
    said = run(line, code=2).stderr
    assert "column 'chosen' differs within a task (first: trip 100)" in said
    assert "row 5 has '2'" in said
    assert "chosen-at-least 1" in said
    assert not Path("data").exists()
    run(f"{line} --chosen-at-least 1 --kind subset")
    assert imported().chosen.sum() == (table["chosen"] >= 1).sum()


def test_grades_are_chosen_from_a_grade_on(run, write):
    table = trips()
    table["chosen"] = [0, 1, 2] * 20
    write(table)
    line = f"{TRIPS} --object mode --features cost --kind subset"
    assert "differs within a task" in run(line, code=2).stderr
    run(f"{line} --chosen-at-least 1")
    assert imported().chosen.tolist() == [False, True, True] * 20
    run(f"{line} --chosen-at-least 2 --force")
    assert imported().chosen.tolist() == [False, False, True] * 20


def test_names_of_alternatives_are_the_same_in_all_rows_or_only_in_one(run, write):
    table = trips()
    cheapest = table[table["chosen"] == 1].set_index("trip")["mode"]
    expected = table["chosen"].eq(1).tolist()
    write(table.assign(chosen=table["trip"].map(cheapest)))
    run(f"{TRIPS} --object mode --features cost")
    assert imported().chosen.tolist() == expected
    first = table["trip"].ne(table["trip"].shift())
    write(table.assign(chosen=table["trip"].map(cheapest).where(first)))
    run(f"{TRIPS} --object mode --features cost --force")
    assert imported().chosen.tolist() == expected
    write(table.assign(chosen="ship"))
    said = run(f"{TRIPS} --object mode --features cost --force", code=2).stderr
    assert "column 'chosen' names none of the alternatives (bus, car, train), got ship" in said


def test_alternatives_called_0_and_1_are_names(run, write):
    table = pd.DataFrame(
        {
            "trip": np.repeat(np.arange(9), 2),
            "mode": [0, 1] * 9,
            "cost": range(18),
            "chosen": np.repeat([0, 1, 1] * 3, 2),
        }
    )
    write(table)
    run(f"{TRIPS} --object mode --features cost")
    assert imported().chosen.tolist() == (table["chosen"] == table["mode"]).tolist()


def test_what_was_chosen_is_no_feature(run, write):
    write(trips())
    said = run(f"{TRIPS} --features cost,chosen", code=2).stderr
    assert "column 'chosen' says what was chosen: it cannot be a feature" in said
    wide = pd.DataFrame({"a_x": [1, 2], "b_x": [3, 4], "a_in": [1, 0], "b_in": [0, 1]})
    write(wide)
    line = "import trips.csv --name trips --wide --alternatives a,b --chosen {}_in"
    assert "'a_in' says what was chosen" in run(f"{line} --features {{}}_x,{{}}_in", code=2).stderr
    assert "'a_in' says what" in run(f"{line} --features {{}}_x --context a_in", code=2).stderr


# Tables to be predicted


@pytest.fixture
def model(run, write):
    write(trips())
    run(f"{TRIPS} --object mode --features cost --cross income")
    run(f"run --dataset trips --learner mnl {SMOKE} --folds 1")
    return "results/runs/smoke/study/trips/mnl/fold-0/model"


def test_predict_refuses_duplicates_and_choosers_that_vary(run, write, model):
    table = trips().drop(columns="chosen")
    write(pd.concat([table, table.iloc[[7]]]), "new.csv")
    said = run(f"predict new.csv --model {model}", code=2).stderr
    assert "1 task with several rows of one alternative (first: trip 102)" in said
    assert "drop-invalid" not in said  # predict has no such option
    table.loc[4, "income"] = -1
    write(table, "new.csv")
    said = run(f"predict new.csv --model {model}", code=2).stderr
    assert "1 task whose objects differ in 'income' (first: trip 101)" in said
    assert not Path("predictions.csv").exists()


@pytest.mark.parametrize("column", ["mode", "trip"])
def test_predictions_in_parquet_keep_the_types_of_the_names(run, write, column):
    codes = trips().assign(mode=np.tile(np.array([3, 1, 2], dtype=np.int16), 20))
    codes[column] = codes[column].astype("int16")
    write(codes)
    run(f"{TRIPS} --object mode --features cost")
    run(f"run --dataset trips --learner mnl {SMOKE} --folds 1")
    model = "results/runs/smoke/study/trips/mnl/fold-0/model"
    codes.to_parquet("new.parquet")
    run(f"predict new.parquet --model {model} --out out.parquet")
    predicted = pd.read_parquet("out.parquet")
    assert predicted[column].dtype == np.int16
    assert predicted[["trip", "mode"]].values.tolist() == codes[["trip", "mode"]].values.tolist()


# Weights


def test_tasks_count_by_their_weights(run, write):
    table = trips().assign(w=np.repeat(np.arange(1, 21) / 4, 3))
    write(table)
    line = f"{TRIPS} --features cost --weight w"
    run(line)
    tasks = imported()
    assert tasks.weights.tolist() == (np.arange(1, 21) / 4).tolist()
    assert tasks[[3, 1]].weights.tolist() == [1.0, 0.5]
    assert ChoiceTasks.concatenate([tasks, tasks]).weights.tolist() == tasks.weights.tolist() * 2
    run("generate trips")
    assert ChoiceTasks.from_parquet("data/trips/fold-0/test.parquet").weights is not None
    write(table.assign(w=-1.0))
    assert "'w' must hold positive weights, row 1 has -1" in run(f"{line} --force", code=2).stderr
    write(table.assign(w=table["cost"]))
    assert "20 tasks of more than one weight" in run(f"{line} --force", code=2).stderr


# Messages


def test_messages_say_what_helps(run, write):
    table = trips()
    table.loc[table["trip"].between(100, 104), "chosen"] = 0
    write(table)
    line = f"{TRIPS} --features cost"
    said = run(f"{line} --drop-invalid").stderr
    assert "left out: 5 tasks without a chosen object" in said
    assert "15 of 20 tasks kept" in said
    said = run(f"{line} --context time --drop-invalid --force", code=2).stderr
    assert "whose objects differ in 'time'" in said
    assert "make it a feature" in said
    wide = pd.DataFrame({"a_x": [1, 2], "b_x": [3, 4], "mode": [1, 2]})
    write(wide)
    wide_line = "import trips.csv --name wide --wide --alternatives a,b --chosen mode"
    said = run(f"{wide_line} --features {{}}_x", code=2).stderr
    assert "write alternatives as NAME=code, such as a=1" in said
    run(f"{wide_line.replace('a,b', 'a=1,b=2')} --features {{}}_x --folds 2")


def test_a_long_list_of_columns_is_printed_once(run, write):
    write(trips().assign(**{f"a_rather_long_name_{k}": k for k in range(60)}))
    said = run(f"{TRIPS} --features no,nor,neither", code=2).stderr
    assert said.count("unknown column") == 3
    assert said.count("a_rather_long_name_30") == 1
