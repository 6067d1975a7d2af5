"""Choice situations: the user's columns, changed, and encoded as the model was learned."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from trips_example import trips

from cschoice import ChoiceTasks
from cschoice.effects.decoding import of_table, situations_of
from cschoice.effects.formulas import evaluated, where
from cschoice.errors import InvalidParameter

LONG = {"task": "trip", "object": "mode", "chosen": "chosen", "features": "cost,time"}


def table(n_tasks=40):
    """Return trips with what is known of the chooser, a category, and a mode that may be absent."""
    rng = np.random.default_rng(1)
    rows = trips(n_tasks).rename(columns={"person": "who"})
    of_tasks = {
        "income": rng.gamma(3, 10, n_tasks).round(0),
        "region": rng.choice(["north", "south", "west"], n_tasks),
    }
    rows = rows.assign(**{name: np.repeat(one, 3) for name, one in of_tasks.items()})
    rows["seat"] = rng.choice(["hard", "soft"], len(rows))
    gone = (rows["mode"] == "train") & (rows["chosen"] == 0) & (rows["trip"] % 3 == 0)
    return rows[~gone].reset_index(drop=True)


WORDS = [
    {},
    {"constants": True},
    {"constants": True, "reference": "train", "context": "income,region"},
    {"constants": True, "cross": "income:constants"},
    {"constants": True, "cross": "income:cost,region:constants"},
    {"constants": True, "cross": "income,region"},
    {"specific": "cost,time"},
    {"constants": True, "specific": "time,seat", "cross": "income:time"},
]


@pytest.mark.parametrize("words", WORDS, ids=str)
def test_tasks_and_tables_are_the_same_situations(words):
    """Encoded and read backwards, the columns are those of the table; encoded again, the tasks."""
    rows = table()
    tasks = ChoiceTasks.from_frame(rows, **{**LONG, "features": "cost,time,seat"} | words)
    by_table = of_table(rows, tasks.encoding)
    by_tasks = situations_of(tasks)
    for situations in (by_table, by_tasks):
        again = situations.tasks()
        np.testing.assert_allclose(again.features, tasks.features, rtol=3e-7)
        np.testing.assert_array_equal(again.offsets, tasks.offsets)
        np.testing.assert_array_equal(again.chosen, tasks.chosen)
        for name in [*situations.features, *situations.of_chooser]:
            shown = situations.column(name)
            if shown.dtype.kind == "f":
                np.testing.assert_allclose(shown, rows[name], rtol=1e-6)
            else:
                assert shown.tolist() == rows[name].tolist()
    named = bool(words)
    assert by_table.names == ["bus", "car", "train"]
    assert by_tasks.names == (["bus", "car", "train"] if named else [])


def test_a_changed_column_changes_everything_made_of_it():
    rows = table()
    tasks = ChoiceTasks.from_frame(
        rows, **LONG, constants=True, cross="income,region:constants", context="income"
    )
    cheaper = rows.assign(cost=np.where(rows["mode"] == "train", rows["cost"] / 2, rows["cost"]))
    richer = cheaper.assign(income=cheaper["income"] + 5)
    situations = situations_of(tasks)
    halved = evaluated(situations, "train * cost / 2 + (1 - train) * cost")
    changed = situations.with_column("cost", halved)
    changed = changed.with_column("income", evaluated(changed, "income + 5"))
    expected = of_table(richer, tasks.encoding).tasks()
    np.testing.assert_allclose(changed.tasks().features, expected.features, rtol=1e-6)


def test_a_table_of_two_columns_per_alternative_is_read_the_same_way():
    rows = table().pivot(index="trip", columns="mode", values=["cost", "time", "chosen"])
    wide = pd.DataFrame({f"{mode}_{name}": rows[name, mode] for name, mode in rows.columns})
    wide["chosen"] = wide.filter(like="_chosen").idxmax(axis=1).str.removesuffix("_chosen")
    tasks = ChoiceTasks.from_frame(
        wide.reset_index(),
        alternatives="bus,car,train",
        chosen="chosen",
        features="cost={}_cost,time={}_time",
        available="filled",
        constants=True,
    )
    situations = of_table(wide.reset_index(), tasks.encoding)
    assert situations.tasks() == tasks
    assert situations_of(tasks).tasks() == tasks
    gap = evaluated(situations, "train.cost - cost")
    assert np.isnan(gap).any()  # where there is no train
    assert (gap[situations.is_alternative("train")] == 0).all()


def test_formulas_are_checked_and_name_what_there_is():
    tasks = ChoiceTasks.from_frame(table(), **LONG, constants=True, context="income,region")
    situations = situations_of(tasks)
    assert 0 < len(where(situations, "income > 30 and region == 'north'")) < len(tasks)
    there = "columns of the objects: cost, time; of the chooser: income, region; alternatives: bus"
    for text, message in [
        ("train.cots", "unknown name 'train.cots': did you mean 'train.cost'?; there are " + there),
        ("tarin.cost", "did you mean 'train.cost'"),
        ("kost * 2", "unknown name 'kost': did you mean 'cost'"),
        ("cost *", "'cost *' is not a formula; there are " + there),
        ("open('x')", "functions are log, exp"),
        ("cost.__class__", "unknown name 'cost.__class__'"),
        ("(lambda: 1)()", "functions are"),
        ("[cost for cost in (1, 2)]", "is not a formula of numbers and names"),
        ("region + 1", "mixes texts and numbers"),
    ]:
        with pytest.raises(InvalidParameter) as error:
            evaluated(situations, text)
        assert message in str(error.value)
    with pytest.raises(InvalidParameter, match="differs between the objects of a task"):
        where(situations, "cost > 5")
    with pytest.raises(InvalidParameter, match="no task satisfies"):
        where(situations, "income < 0")
    with pytest.raises(InvalidParameter, match="'cost' is not a number for"):
        situations.with_column("cost", evaluated(situations, "train.cost / 2"))
    with pytest.raises(InvalidParameter, match="'region' cannot be 'nort': did you mean 'north'"):
        situations.with_column("region", np.full(situations.n_objects, "nort"))


def test_what_is_taken_away_leaves_the_rest_as_it_was():
    situations = situations_of(ChoiceTasks.from_frame(table(), **LONG, constants=True))
    without = situations.with_objects(~situations.is_alternative("car"))
    assert without.names == ["bus", "train"]
    assert len(without) == len(situations)
    alone = without.with_objects(without.is_alternative("train"))
    assert 0 < len(alone) < len(situations)
    has_train = situations.reduce(np.logical_or, situations.is_alternative("train"))
    np.testing.assert_array_equal(alone.task_numbers, np.flatnonzero(has_train))
    with pytest.raises(InvalidParameter, match="nothing is left"):
        alone.with_objects(~alone.is_alternative("train"))


def test_texts_and_numbers_that_are_names_of_alternatives_stay_what_they_are():
    """A region may be called like an alternative, and an alternative like a number."""
    rows = table()
    rows["mode"] = rows["mode"].map({"bus": "1", "car": "2", "train": "west"})
    tasks = ChoiceTasks.from_frame(rows, **LONG, constants=True, context="region")
    situations = situations_of(tasks)
    west = where(situations, "region == 'west'")
    assert 0 < len(west) < len(situations)
    assert set(west.column("region")) == {"west"}
    twice = evaluated(situations, "2 * cost + 1")
    np.testing.assert_allclose(twice, 2 * situations.column("cost") + 1)
    assert (evaluated(situations, "2.cost - cost")[situations.is_alternative("2")] == 0).all()
    moved = situations.with_column("region", evaluated(situations, "'west'"))
    assert set(moved.column("region")) == {"west"}
    expected = of_table(rows.assign(region="west"), tasks.encoding).tasks()
    np.testing.assert_allclose(moved.tasks().features, expected.features, rtol=1e-6)
