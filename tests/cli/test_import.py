"""The tables that people have: how ``import`` reads them, and guesses that it refuses."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cschoice import ChoiceTasks, make_dataset

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


# The specification of utilities


def test_one_constant_is_left_out_as_the_reference(run, write):
    write(trips())
    line = f"{TRIPS} --object mode --features cost --constants"
    run(line)
    assert names() == ["cost", "constant=car", "constant=train"]
    run(f"{line} --reference train --force")
    assert names() == ["cost", "constant=bus", "constant=car"]
    assert imported().features[:3, 1:].tolist() == [[1, 0], [0, 1], [0, 0]]
    said = run(f"{line} --reference trian --force", code=2).stderr
    assert "unknown reference 'trian': did you mean 'train'?" in said
    without = line.replace("--constants", "--reference car --force")
    assert "reference is the alternative without a constant" in run(without, code=2).stderr
    wide = pd.DataFrame({"z_x": [1, 2], "a_x": [3, 4], "mode": ["a", "z"]})
    write(wide)
    line = "import trips.csv --name wide --wide --alternatives z,a --chosen mode --folds 2"
    run(f"{line} --features {{}}_x --constants")
    assert names("wide") == ["x", "constant=a"]


def test_a_model_knows_the_reference_in_later_tables(run, write):
    table = trips()
    write(table)
    run(f"{TRIPS} --object mode --features cost --constants --reference car --specific cost")
    run(f"run --dataset trips --learner mnl {SMOKE} --folds 1")
    model = "results/runs/smoke/study/trips/mnl/fold-0/model"
    write(table.drop(columns="chosen"), "new.csv")
    run(f"predict new.csv --model {model}")
    write(table[table["mode"] != "bus"].drop(columns="chosen"), "new.csv")
    run(f"predict new.csv --model {model} --force")  # not all are on offer everywhere
    write(table.replace("train", "ship"), "new.csv")
    said = run(f"predict new.csv --model {model} --force", code=2).stderr
    assert "alternatives not seen at import: ship; known: bus, car, train" in said


def test_coefficients_can_be_specific_to_alternatives(run, write):
    table = trips()
    write(table)
    run(f"{TRIPS} --object mode --features cost,time --specific time")
    assert names() == ["cost", "time:bus", "time:car", "time:train"]
    dummies = pd.get_dummies(table["mode"]).mul(table["time"], axis=0)
    expected = np.column_stack([table["cost"], dummies]).astype(np.float32)
    assert np.array_equal(imported().features, expected)
    said = run(f"{TRIPS} --features cost --specific cost --force", code=2).stderr
    assert "specific needs the column that names the alternative: give object" in said
    said = run(f"{TRIPS} --object mode --features cost --specific income --force", code=2).stderr
    assert "unknown specific feature 'income'" in said
    assert "a property of the chooser: cross income:constants" in said


def test_chosen_interactions_with_the_chooser(run, write):
    table = trips().assign(urban=np.repeat([0, 1], 30))
    write(table)
    line = f"{TRIPS} --object mode --features cost,time --constants"
    run(f"{line} --cross income:constants,urban:cost")
    own = ["cost", "time", "constant=car", "constant=train"]
    crossed = ["constant=car × income", "constant=train × income", "cost × urban"]
    assert names() == own + crossed
    features = imported().features
    assert np.array_equal(features[:, 5], features[:, 3] * table["income"].to_numpy(np.float32))
    assert np.array_equal(features[:, 6], features[:, 0] * table["urban"].to_numpy(np.float32))
    run(f"{line} --specific cost --cross income:cost,urban --force")
    assert names()[6:9] == ["cost:bus × income", "cost:car × income", "cost:train × income"]
    assert len(names()) == 9 + 6
    said = run(f"{line} --cross income:speed --force", code=2).stderr
    assert "unknown feature to cross income with 'speed'" in said
    said = run(f"{TRIPS} --features cost --cross income:constants --force", code=2).stderr
    assert "cross income:constants needs constants" in said


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


# Columns by ranges and globs


def test_ranges_and_globs_name_columns(run, write):
    rng = np.random.default_rng(0)
    numbered = {f"f{k}": rng.normal(size=60) for k in range(1, 12)}
    write(trips().assign(**numbered, **{"ic.gas": 1.5, "ic.oil": 2.5}))
    line = f"{TRIPS} --object mode"
    run(f"{line} --features f9-f11,cost,ic.*")
    assert names() == ["f9", "f10", "f11", "cost", "ic.gas", "ic.oil"]
    run(f"{line} --features * --context income --categorical ic.* --force")
    free = ["cost", "time", *numbered, "ic.gas=1.5", "ic.oil=2.5", "income"]
    assert names() == free  # neither the task, nor what was chosen, nor the chooser twice
    said = run(f"{line} --features f9-f14 --force", code=2).stderr
    assert said.count("unknown column 'f1") == 3
    assert "no column matches 'g*'" in run(f"{line} --features g* --force", code=2).stderr
    assert "empty range" in run(f"{line} --features f9-f1 --force", code=2).stderr


def test_globs_of_wide_tables_name_what_alternatives_have(run, write):
    wide = pd.DataFrame({f"{a}_{x}": range(1, 7) for a in ("a", "b") for x in ("tt", "co", "ok")})
    write(wide.assign(b_he=3, mode=["a", "b"] * 3))
    line = "import trips.csv --name wide --wide --alternatives a,b --chosen mode --folds 2"
    run(f"{line} --features {{}}_[tc]*,{{}}_h*|0")
    assert names("wide") == ["tt", "co", "he"]
    run(f"{line} --features {{}}_?? --available {{}}_ok --force", code=2)  # a has no he
    run(f"{line} --features x={{}}_t*", code=2)


def test_a_table_without_features_has_constants(run, write):
    write(trips())
    run(f"{TRIPS} --object mode --constants")
    assert names() == ["constant=car", "constant=train"]
    assert "name at least one column" in run(f"{TRIPS} --force", code=2).stderr


# Numbers as people write them


def test_decimal_commas_are_read_where_semicolons_separate(run, write):
    table = trips()
    write(table)
    run(f"{TRIPS} --features cost,time")
    expected = imported()
    write(table, sep=";", decimal=",")
    run(f"{TRIPS} --features cost,time --force")
    assert names() == ["cost", "time"]
    assert imported() == expected
    write(table, sep="\t", decimal=",")
    run(f"{TRIPS} --features cost,time --force")
    assert imported() == expected
    run(f"run --dataset trips --learner mnl {SMOKE} --folds 1")
    write(table.drop(columns="chosen").head(3), "new.csv", sep=";", decimal=",")
    run("predict new.csv --model results/runs/smoke/study/trips/mnl/fold-0/model")


def test_other_numbers_with_commas_are_refused_with_the_reason(run, write):
    table = trips().astype({"cost": object})
    for texts, options in ((["1,5"], {}), (["1.234,50"], {"sep": ";"}), (["1,234.5"], {})):
        write(table.assign(cost=texts * 60), **options)
        said = run(f"{TRIPS} --features cost", code=2).stderr
        assert f"'{texts[0]}'" in said
        assert "decimal commas are read where" in said
    table.loc[7, "cost"] = "1,5"
    write(table, sep=";")
    said = run(f"{TRIPS} --features cost", code=2).stderr
    assert "column 'cost' must hold numbers, row 8 has '1,5': write numbers with points" in said


# Rows and folds


def test_the_last_row_of_each_is_kept(run, write):
    rng = np.random.default_rng(0)
    clicks = pd.DataFrame(
        {
            "id": np.repeat([1, 2, 3], 6),
            "screen": np.tile([1, 1, 1, 2, 2, 2], 3),
            "choice": rng.choice(["a", "b"], 18),
            "a_x": rng.integers(1, 9, 18).astype(object),
            "b_x": rng.integers(1, 9, 18),
        }
    )
    clicks.loc[0, "choice"] = None
    write(clicks)
    line = (
        "import trips.csv --name clicks --wide --alternatives a,b --chosen choice --group id "
        "--features {}_x --folds 2"
    )
    run(f"{line} --keep last --by id,screen")
    last = clicks.groupby(["id", "screen"]).tail(1)
    tasks = imported("clicks")
    assert tasks.features[:, 0].tolist() == last[["a_x", "b_x"]].to_numpy().ravel().tolist()
    assert tasks.chosen[::2].tolist() == (last["choice"] == "a").tolist()
    run(f"{line} --keep last --task id,screen --force")  # what names a task, if it is not said
    assert imported("clicks") == tasks
    clicks.loc[11, "a_x"] = "many"
    write(clicks)
    said = run(f"{line} --keep last --by id,screen --force", code=2).stderr
    assert "column 'a_x' must hold numbers, row 12 has 'many'" in said
    assert "keep must be first or last" in run(f"{line} --keep any --force", code=2).stderr
    assert "by needs keep" in run(f"{line} --by id --force", code=2).stderr
    run(f"{line} --keep last --force", code=2)  # of what?


def test_folds_of_ones_own(run, write):
    table = trips().assign(part=np.repeat(["S1", "S2", "S3", "S2"], 15))
    write(table)
    line = f"{TRIPS} --features cost,time --fold part"
    assert "3 folds" in run(line).stdout
    source = make_dataset("trips")
    for fold, name in enumerate(["S1", "S2", "S3"]):
        train, test = source.fold(fold, seed=3)
        tested = table.loc[table["part"] == name, "cost"].to_numpy(np.float32)
        assert test.features[:, 0].tolist() == tested.tolist()
        assert len(train) + len(test) == 20
    run(f"run --dataset trips --learner random {SMOKE} --folds 9")
    assert len(list(Path("results/runs").glob("**/record.json"))) == 3
    write(table.assign(part=np.repeat(["S1", "S1", "S3", "S3"], 15)))
    run(f"{line} --force")
    states = json.loads(run("status --dataset trips --profile smoke --json").stdout)
    assert "stale" in {row["state"] for row in states}
    assert "--fold or --folds" in run(f"{line} --folds 3 --force", code=2).stderr
    assert (
        "20 tasks of more than one fold"
        in run(f"{line.replace('part', 'mode')} --force", code=2).stderr
    )
    write(table.assign(part=1))
    assert "column 'part' has only one value" in run(f"{line} --force", code=2).stderr


def test_train_and_test_are_one_fold(run, write):
    table = trips().assign(part=np.repeat(["train", "test", "train", "train"], 15))
    write(table)
    assert "1 fold" in run(f"{TRIPS} --features cost,time --fold part").stdout
    train, test = make_dataset("trips").fold(0, seed=0)
    assert (len(train), len(test)) == (15, 5)
    run(f"run --dataset trips --learner mnl {SMOKE}")
    assert "mnl" in run("report --profile smoke").stdout.lower()


# Other formats


SVMLIGHT = """2 qid:7 1:0.5 3:-1 # docid = a
0 qid:7 2:1e-1
1 qid:8 1:0.25 2:3 3:4 #docid = b
0 qid:8 3:9
0 qid:8 1:1
"""


def test_svmlight_files_are_tables_of_graded_objects(run):
    Path("ranked.txt").write_text(SVMLIGHT * 1 + SVMLIGHT.replace("qid:", "qid:1"))
    line = "import ranked.txt --name ranked --format svmlight --kind subset --folds 2"
    run(f"{line} --chosen-at-least 1")
    tasks = imported("ranked")
    assert names("ranked") == ["f1", "f2", "f3"]
    assert tasks.sizes.tolist() == [2, 3, 2, 3]
    assert tasks.chosen.tolist() == [True, False, True, False, False] * 2
    first = np.array([[0.5, 0, -1], [0, 0.1, 0], [0.25, 3, 4], [0, 0, 9], [1, 0, 0]], np.float32)
    assert np.array_equal(tasks.features[:5], first)
    run(f"{line} --chosen-at-least 2 --features f2-f3 --drop-invalid --force")
    assert names("ranked") == ["f2", "f3"]
    assert "for grades" in run(f"{line} --force", code=2).stderr
    run(f"{line} --chosen-at-least 1 --force")
    run(f"run --dataset ranked --learner mnl {SMOKE} --folds 1")
    Path("new.txt").write_text("0 qid:1 1:1\n0 qid:1 2:1\n")  # nothing has the last feature
    run("predict new.txt --model results/runs/smoke/study/ranked/mnl/fold-0/model")
    assert pd.read_csv("predictions.csv")["qid"].tolist() == [1, 1]
    Path("ranked.txt").write_text("a,b\n1,2\n")
    assert "ranked.txt is no svmlight file" in run(f"{line} --force", code=2).stderr
    Path("ranked.txt").write_text("1 1:1\n0 2:1\n")
    assert "without qid" in run(f"{line} --force", code=2).stderr
    assert (
        "format must be svmlight"
        in run(line.replace("svmlight", "xml") + " --force", code=2).stderr
    )


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
