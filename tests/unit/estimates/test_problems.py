"""What stands in the way of estimates is said in one line that names it."""

from __future__ import annotations

import numpy as np
import pytest

from cschoice import ChoiceTasks, Kind, estimate
from cschoice.errors import InvalidTasks, NotEstimable

NAMES = ["cost", "time", "constant=a", "constant=b", "constant=c"]


def choices(n=300, never=False, per_person=4):
    """Return choices of three alternatives; nobody chooses c, if asked so."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 3, 2))
    values = -x.sum(axis=2) + rng.gumbel(size=(n, 3))
    if never:
        values[:, 2] = -100
    wide = np.concatenate([x, np.broadcast_to(np.eye(3), (n, 3, 3))], axis=2)
    tasks = ChoiceTasks.from_dense(wide, values.argmax(axis=1), Kind.SINGLETON)
    return tasks.with_arrays(groups=np.arange(n) // per_person)


def test_collinear_columns_are_named_and_count_once():
    utility = "cost, time, both = cost + time, constants"
    found = estimate(choices(), features=NAMES, utility=utility)
    assert found.remarks == ["not identified"] * 3 + ["", ""]
    (note,) = [one for one in found.notes if one.startswith("not identified")]
    assert "cost, time, both: these columns are collinear" in note
    assert found.fit.n_parameters == 4


@pytest.mark.parametrize("model", ["nl", "cnl", "mixed-logit", "latent-class"])
def test_collinear_columns_do_not_run_away(model):
    utility = "cost, time, both = cost + time"
    sections = {"nests": {"ab": ["a", "b"]}} if model in ("nl", "cnl") else {}
    if model == "mixed-logit":
        sections = {"draws": 20, "random": "time = normal"}
    tasks = choices(150)
    found = estimate(tasks, model, features=NAMES, utility=utility, **sections)
    apart = estimate(tasks, model, features=NAMES, utility="cost, time", **sections)
    assert found.fit.log_likelihood == pytest.approx(apart.fit.log_likelihood, abs=1e-4)
    means = [k for k, name in enumerate(found.names) if name.split(": ")[-1] in utility]
    assert np.abs(found.values[means]).max() < 20
    if model in ("nl", "cnl"):
        assert found.remarks[:3] == ["not identified"] * 3


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("a", "'c' is never chosen: its constant would run to minus infinity"),
        ("c", "'c' is never chosen: as the reference it would make the other constants run"),
    ],
)
def test_an_alternative_never_chosen_is_named(reference, message):
    with pytest.raises(NotEstimable, match=message):
        estimate(choices(never=True), features=NAMES, reference=reference)
    kept = estimate(choices(never=True), features=NAMES, utility="cost, constant=b")
    assert kept.optimum.converged
    assert "never chosen: c" in kept.notes


def test_perfect_separation_is_named():
    tasks = choices()
    table = np.column_stack([tasks.features, tasks.chosen])
    told = ChoiceTasks(table, np.arange(tasks.n_entries), tasks.offsets, tasks.chosen, tasks.kind)
    with pytest.raises(NotEstimable, match="oracle predicts choices without an error"):
        estimate(told, features=[*NAMES, "oracle"], utility="oracle")
    with pytest.raises(NotEstimable, match="^oracle predicts choices without an error"):
        estimate(told, features=[*NAMES, "oracle"], utility="cost, time, oracle")


def test_a_coefficient_of_a_class_that_runs_to_infinity_is_named():
    tasks = choices(60)
    always = np.tile([True, False, False], 30)
    chosen = np.concatenate([tasks.chosen[:90], always])  # some people take the first, whatever
    mixed = ChoiceTasks(
        tasks.table, tasks.items, tasks.offsets, chosen, tasks.kind, groups=tasks.groups
    )
    found = estimate(mixed, "latent-class", features=NAMES)
    lost = [name for name, why in zip(found.names, found.remarks, strict=True) if "infinity" in why]
    assert lost
    assert any(note.startswith(f"runs to infinity: {lost[0]}") for note in found.notes)


def test_people_with_one_task_are_counted():
    once = estimate(choices(60, per_person=1), "mixed-logit", features=NAMES, draws=20)
    assert any("every person has one task only" in note for note in once.notes)
    assert "simulated by 20 scrambled Sobol draws per person" in once.notes
    tasks = choices(60)
    groups = np.append(tasks.groups[:-4], [100, 101, 102, 103])
    some = estimate(tasks.with_arrays(groups=groups), "mixed-logit", features=NAMES, draws=20)
    assert "4 of 18 people have one task only" in some.notes
    assert not any("one task" in note for note in estimate(tasks, features=NAMES).notes)


@pytest.mark.parametrize("weight", [0.0, -1.0, np.nan])
def test_weights_of_zero_or_below_are_refused(weight):
    tasks = choices(20)
    weights = np.ones(20)
    weights[3] = weight
    with pytest.raises(InvalidTasks, match="1 task whose weight is not positive .first: task 3."):
        ChoiceTasks(
            tasks.table, tasks.items, tasks.offsets, tasks.chosen, tasks.kind, weights=weights
        )


def test_a_table_says_that_tasks_are_weighted():
    tasks = choices(100)
    weighted = tasks.with_arrays(weights=np.tile([0.5, 2.0], 50))
    assert "weighted: 100 tasks count as 125" in estimate(weighted, features=NAMES).notes
    assert not any("weighted" in note for note in estimate(tasks, features=NAMES).notes)


@pytest.mark.parametrize("kind", ["negative-lognormal", "negative-censored", "lognormal"])
def test_a_table_says_what_transformed_coefficients_are(kind):
    found = estimate(choices(100), "mixed-logit", features=NAMES, random={"cost": kind}, draws=30)
    at, spread = (found.values[found.place(name)] for name in ("cost", "deviation of cost"))
    draws = at + spread * np.random.default_rng(0).normal(size=1_000_000)
    values = {"lognormal": np.exp(draws), "negative-lognormal": -np.exp(draws)}.get(
        kind, np.minimum(draws, 0)
    )
    (note,) = [note for note in found.notes if note.startswith(f"cost is {kind}, median ")]
    median, mean = (float(word.rstrip(",;")) for word in note.split()[4:7:2])
    assert median == pytest.approx(np.median(values), rel=0.02, abs=0.005)
    assert mean == pytest.approx(values.mean(), rel=0.02, abs=0.005)
