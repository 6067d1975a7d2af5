"""Tables of one's own: the forms they may have, and the messages for others."""

import gzip
import lzma

import numpy as np
import pandas as pd
import pytest

from cschoice.errors import (
    CschoiceError,
    FileNotUsable,
    InvalidFile,
    InvalidParameter,
    InvalidTable,
)
from cschoice.tasks import ChoiceTasks, Kind, frames

LONG = pd.DataFrame(
    {
        "trip": [7, 7, 3, 3, 3],
        "mode": ["car", "bus", "car", "bus", "train"],
        "cost": [5.0, 2.0, 6.0, 3.0, 4.0],
        "time": [10, 30, 12, 28, 20],
        "income": [50, 50, 20, 20, 20],
        "chosen": [1, 0, 0, 0, 1],
        "person": ["a", "a", "b", "b", "b"],
    }
)
WIDE = pd.DataFrame(
    {
        "CHOICE": [1, 3, 3],
        "TRAIN_CO": [5.0, 6.0, 7.0],
        "CAR_CO": [1.0, 2.0, 3.0],
        "TRAIN_HE": [30, 60, 10],
        "TRAIN_AV": [1, 1, 0],
        "CAR_AV": [1, 1, 1],
        "GA": [0, 1, 0],
    }
)
TRIPS = {"task": "trip", "chosen": "chosen", "features": "cost,time"}
MODES = {"alternatives": "TRAIN=1,CAR=3", "chosen": "CHOICE", "features": "cost={}_CO"}


def names(frame, **options):
    return frames.learn(frame, frames.describe(**options))[0].names


def problems(frame, **options):
    with pytest.raises(InvalidTable) as error:
        ChoiceTasks.from_frame(frame, **options)
    return error.value.problems


def test_a_long_table_becomes_tasks_in_order_of_appearance():
    tasks = ChoiceTasks.from_frame(LONG, **TRIPS)
    assert tasks.kind is Kind.SINGLETON
    assert tasks.sizes.tolist() == [2, 3]
    assert tasks.features.tolist() == LONG[["cost", "time"]].to_numpy().tolist()
    assert tasks.chosen.tolist() == [True, False, False, False, True]
    assert tasks.groups is None


def test_rows_of_a_task_need_not_stand_together():
    shuffled = LONG.iloc[[0, 2, 4, 1, 3]]
    tasks = ChoiceTasks.from_frame(shuffled, **TRIPS)
    assert tasks.features[:, 0].tolist() == [5, 2, 6, 4, 3]


def test_a_task_may_be_named_by_several_columns():
    tasks = ChoiceTasks.from_frame(LONG, **TRIPS | {"task": "person,trip"})
    assert tasks.sizes.tolist() == [2, 3]


@pytest.mark.parametrize(
    "marks",
    [
        [1, 0, 0, 0, 1],
        [1.0, 0.0, 0.0, 0.0, 1.0],
        [True, False, False, False, True],
        ["yes", "no", "no", "no", "Yes"],
        ["TRUE", "FALSE", "FALSE", "FALSE", "TRUE"],
        [1, None, None, None, 1],
        ["car", "car", "train", "train", "train"],
    ],
)
def test_choices_are_marked_in_many_ways(marks):
    tasks = ChoiceTasks.from_frame(LONG.assign(chosen=marks), object="mode", **TRIPS)
    assert tasks.chosen.tolist() == [True, False, False, False, True]


def test_a_wide_table_leaves_out_what_is_not_available():
    tasks = ChoiceTasks.from_frame(
        WIDE, **MODES | {"features": "cost={}_CO,headway={}_HE|0"}, available="{}_AV"
    )
    assert tasks.sizes.tolist() == [2, 2, 1]
    assert tasks.features.tolist() == [[5, 30], [1, 0], [6, 60], [2, 0], [3, 0]]
    assert tasks.chosen.tolist() == [True, False, False, True, True]


def test_a_wide_table_may_mark_several():
    frame = pd.DataFrame({"a_x": [1, 2], "b_x": [3, 4], "a_in": [1, 0], "b_in": [1, 1]})
    tasks = ChoiceTasks.from_frame(
        frame, alternatives="a,b", features="{}_x", chosen="{}_in", kind="subset"
    )
    assert tasks.kind is Kind.SUBSET
    assert tasks.chosen.tolist() == [True, True, False, True]


def test_empty_cells_can_mean_not_on_offer():
    frame = pd.DataFrame({"x1": [1, 2], "x2": [3, 4], "x3": [5, None], "choice": [1, 2]})
    tasks = ChoiceTasks.from_frame(
        frame, alternatives="1,2,3", features="x{}", chosen="choice", available="filled"
    )
    assert tasks.sizes.tolist() == [3, 2]


def test_words_and_declared_codes_are_one_hot():
    encoding, table = frames.learn(
        LONG, frames.describe(**TRIPS | {"features": "mode,time"}, categorical="time")
    )
    assert encoding.names == [
        *("mode=bus", "mode=car", "mode=train"),
        *("time=10", "time=12", "time=20", "time=28", "time=30"),
    ]
    assert table.features.sum(axis=1).tolist() == [2] * 5
    assert table.features[:, 1].tolist() == [1, 0, 1, 0, 0]


def test_pandas_categories_are_one_hot_whatever_they_hold():
    frame = LONG.assign(person=pd.Categorical([3, 3, 5, 5, 5]), fast=LONG["time"] < 15)
    tasks = ChoiceTasks.from_frame(frame, **TRIPS | {"features": "person,fast"})
    assert tasks.features.tolist()[::4] == [[1, 0, 1], [0, 1, 0]]


def test_chooser_features_are_appended_or_crossed():
    assert names(LONG, **TRIPS, context="income") == ["cost", "time", "income"]
    encoding, table = frames.learn(
        LONG, frames.describe(**TRIPS, object="mode", constants=True, cross="income")
    )
    assert encoding.names[:5] == ["cost", "time", "constant=car", "constant=train", "cost × income"]
    assert encoding.names[4:] == [f"{name} × income" for name in encoding.names[:4]]
    crossed = table.features[:, :4] * LONG[["income"]].to_numpy()
    assert np.array_equal(table.features[:, 4:], crossed)
    both = names(WIDE, **MODES, context="GA", cross="GA")
    assert both == ["cost", "GA", "cost × GA"]


def test_groups_are_kept_per_task():
    tasks = ChoiceTasks.from_frame(LONG, **TRIPS, group="person")
    assert tasks.groups.tolist() == [0, 1]
    assert tasks[[1]].groups.tolist() == [1]
    assert ChoiceTasks.concatenate([tasks, tasks]).groups.tolist() == [0, 1, 0, 1]


GAPS = LONG.assign(cost=[5, None, 6, None, 4], mode=["car", "bus", None, "bus", "train"])


def test_gaps_are_an_error_that_lists_the_columns():
    (problem,) = problems(GAPS, **TRIPS | {"features": "cost,time,mode"})
    assert problem.startswith(
        "values are missing in 'cost' (2 rows, first: row 2), 'mode' (1 row, first: row 3)"
    )


@pytest.mark.parametrize(
    ("impute", "cost", "mode"),
    [
        ("median", 5, "mode=bus"),
        ("mean", 5, "mode=bus"),
        (["most-frequent", "cost=-1"], -1, "mode=bus"),
        ({None: "mean", "cost": 0, "mode": "none"}, 0, "mode=none"),
    ],
)
def test_gaps_are_filled_as_asked(impute, cost, mode):
    described = frames.describe(**TRIPS | {"features": "cost,mode"})
    encoding, table = frames.learn(GAPS, described, impute)
    assert table.features[1, 0] == cost
    assert table.features[2, encoding.names.index(mode)] == 1
    again = frames.encode(GAPS, encoding)
    assert np.array_equal(again.features, table.features)


def test_tasks_that_cannot_be_learned_from_are_dropped_on_request():
    frame = pd.concat([LONG, LONG.assign(trip=LONG["trip"] + 100, cost=np.nan)])
    tasks = ChoiceTasks.from_frame(frame, **TRIPS, drop_invalid=True)
    assert tasks == ChoiceTasks.from_frame(LONG, **TRIPS)


def changed(**columns):
    return LONG.assign(**columns)


@pytest.mark.parametrize(
    ("frame", "options", "says"),
    [
        (changed(chosen=[0, 0, 0, 0, 1]), {}, "1 task without a chosen object (first: trip 7)"),
        (changed(chosen=[1, 1, 0, 0, 1]), {}, "1 task with more than one chosen object (is the"),
        (changed(chosen=[1, 0, 0, 0, 2]), {}, "column 'chosen' must hold 0 and 1"),
        (changed(mode="car"), {"object": "mode"}, "2 tasks with several rows of one alternative"),
        (changed(person=list("abcde")), {"group": "person"}, "2 tasks of more than one group"),
        (LONG, {"context": "time"}, "2 tasks whose objects differ in 'time' (first: trip 7)"),
        (changed(cost=[1, 2, "3 EUR", 4, 5]), {}, "column 'cost' must hold numbers, row 3 has '3"),
        (changed(cost=[1, 2, 1e39, 4, 5]), {}, "column 'cost': row 3 has 1e+39, which is"),
        (changed(trip=[1, 1, None, 2, 2]), {}, "column 'trip' names no task in row 3"),
        (changed(mode=["a", None, *"abc"]), {"object": "mode"}, "names no alternative in row 2"),
        (LONG.iloc[:0], {}, "the table has no rows"),
        (LONG, {"features": "csot"}, "unknown column 'csot' (features): did you mean 'cost'?"),
        (LONG, {"task": "Trips"}, "unknown column 'Trips' (task): did you mean 'trip'?"),
        (LONG, {"available": "time"}, "column 'time' must hold 0 and 1 or true and false, got"),
    ],
)
def test_what_makes_no_sense_is_named(frame, options, says):
    found = problems(frame, **TRIPS | options)
    assert any(says in problem for problem in found), found


def test_all_problems_are_named_at_once():
    frame = changed(cost=[1, 2, "x", 4, 5], time=[1, "y", 2, 3, 4])
    assert len(problems(frame, **TRIPS)) == 2
    assert len(problems(LONG, **TRIPS | {"features": "a1,b2"}, context="c3")) == 3


@pytest.mark.parametrize(
    ("frame", "options", "says"),
    [
        (WIDE, {"features": "cost={}_CO,he={}_HE"}, "'CAR_HE' (features)"),
        (WIDE, {"features": "{}_XX|0"}, "no alternative has a column '{}_XX|0'"),
        (WIDE, {"alternatives": "TRAIN,CAR"}, "names none of the alternatives (TRAIN, CAR), got 1"),
        (WIDE.assign(CHOICE=[0, 3, 3]), {}, "1 task without a chosen object (first: row 1)"),
        (WIDE.assign(CHOICE=1), {"available": "{}_AV"}, "1 task whose chosen object is not avail"),
        (WIDE.assign(CAR_CO=["1", "?", "3"]), {}, "column 'CAR_CO' must hold numbers, row 2 has"),
    ],
)
def test_wide_tables_are_checked_too(frame, options, says):
    found = problems(frame, **MODES | options)
    assert any(says in problem for problem in found), found


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"features": ""}, "features: name at least one column"),
        ({"task": ""}, "task: name the column"),
        ({"kind": "both"}, "kind must be singleton or subset"),
        ({"constants": True}, "constants need the column that names the alternative"),
        ({"categorical": "tiem"}, "did you mean 'time'"),
        ({"features": "cost,cost"}, "'cost' is named twice"),
        ({"colour": "red"}, "unknown part of a table 'colour'"),
        ({"alternatives": "a,b"}, "feature 'cost' has no {}"),
        ({"alternatives": "a"}, "name at least two"),
        ({"impute": "guess"}, "impute must be one of mean, median, most-frequent"),
        ({"impute": "tiem=3"}, "unknown feature to impute 'tiem': did you mean 'time'?"),
    ],
)
def test_descriptions_that_contradict_themselves_are_refused(options, says):
    with pytest.raises(InvalidParameter) as error:
        ChoiceTasks.from_frame(LONG, **TRIPS | options)
    assert says in str(error.value)


def test_texts_that_are_hardly_categories_must_be_declared():
    n = 150
    frame = pd.DataFrame({"t": range(n), "chosen": 1, "note": [f"note {k}" for k in range(n)]})
    options = {"task": "t", "chosen": "chosen", "features": "note"}
    assert "150 different texts, such as 'note 0'" in problems(frame, **options)[0]
    assert ChoiceTasks.from_frame(frame, **options, categorical="note").n_features == n


def test_later_tables_are_read_like_the_first():
    described = frames.describe(**TRIPS | {"features": "mode,cost"}, object="mode")
    encoding, table = frames.learn(LONG, described)
    new = LONG.drop(columns=["chosen"])[["time", "mode", "trip", "cost"]]
    assert np.array_equal(frames.encode(new, encoding).features, table.features)
    with pytest.raises(InvalidTable, match="'mode' is 'ship' in row 5, a category not seen"):
        frames.encode(new.assign(mode=["car", "bus", "car", "bus", "ship"]), encoding)
    with pytest.raises(InvalidTable, match="unknown column 'cost'"):
        frames.encode(new.drop(columns="cost"), encoding)
    with pytest.raises(InvalidTable, match="'cost' is missing in row 1, and at import"):
        frames.encode(new.assign(cost=[None, 1, 2, 3, 4]), encoding)


def test_constants_need_known_alternatives():
    described = frames.describe(**TRIPS, object="mode", constants=True)
    encoding, _ = frames.learn(LONG, described)
    with pytest.raises(InvalidTable, match="not seen at import: ship; known: bus, car, train"):
        frames.encode(LONG.replace("train", "ship"), encoding)


@pytest.mark.parametrize("how", ["csv", "semicolon", "tab", "bom", "gz", "xz", "parquet"])
def test_files_are_read_in_the_forms_people_have(how, tmp_path):
    path = tmp_path / f"trips.{how}"
    text = LONG.to_csv(index=False, sep={"semicolon": ";", "tab": "\t"}.get(how, ","))
    if how == "parquet":
        LONG.to_parquet(path)
    elif how in ("gz", "xz"):
        path.write_bytes({"gz": gzip, "xz": lzma}[how].compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8-sig" if how == "bom" else "utf-8")
    tasks = ChoiceTasks.from_frame(path, **TRIPS, object="mode", group="person")
    assert tasks == ChoiceTasks.from_frame(LONG, **TRIPS, object="mode", group="person")


@pytest.mark.parametrize(
    ("name", "content", "error", "says"),
    [
        ("no.csv", None, FileNotUsable, "cannot read"),
        ("a.xlsx", b"PK\x03\x04...", InvalidFile, "an Excel file: save it as CSV"),
        ("a.csv", b"trip,chosen,cost,time\n1,1,2,3\n1,0,2\n", InvalidFile, "Expected 4 columns"),
        ("a.csv.gz", b"no gzip at all", InvalidFile, "cannot be read as a table"),
        ("a.csv", "trip,chosen,cost,straße\n".encode("latin-1"), InvalidFile, "not UTF-8"),
        ("a.csv", b"trip,chosen,cost,cost,time\n1,1,2,2,3\n", InvalidTable, "more than one column"),
        ("a.csv", b"trip,chosen,cost,time\n1,1,\xff,3\n", InvalidTable, "column 'cost' holds nei"),
        ("a.csv", b"", CschoiceError, "unknown column 'trip'"),
    ],
)
def test_files_that_are_no_tables_are_refused(name, content, error, says, tmp_path):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(error) as raised:
        ChoiceTasks.from_frame(path, **TRIPS)
    assert says in str(raised.value)
