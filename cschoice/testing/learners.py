"""The promises of a learner."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from cschoice.errors import InvalidFile, InvalidParameter, InvalidTasks, NotFitted
from cschoice.evaluation.decisions import choose, tune_threshold
from cschoice.evaluation.metrics import metric
from cschoice.learners import LEARNERS, make_learner, name_of
from cschoice.learners.learner import Learner
from cschoice.space import Categorical, problems_of_parameters
from cschoice.tasks import ChoiceTasks, Kind
from cschoice.testing.checks import BAD, Check, check_of, refused

# The parameters that make a fit short, for learners that have them.
QUICK = {"epochs": 12, "batch_size": 32, "learning_rate": 0.02, "n_units": 16, "n_embedding": 16}


def learner_checks(name: str) -> Iterator[Check]:
    """Yield the checks of a learner, which are run one by one."""
    learner = LEARNERS[name].learner
    of_class = [
        _clone_round_trips, _search_lies_within_limits, _every_parameter_has_limits,
        _other_kinds_are_refused, _unfitted_and_misfit_are_reported,
    ]  # fmt: skip
    yield from (check_of(promise, name) for promise in of_class)
    yield from (check_of(_bad_values_are_refused, name, one) for one in learner.limits)
    of_kind = [
        _fit_changes_neither_inputs_nor_parameters, _permuting_objects_permutes_utilities,
        _a_task_scores_the_same_in_any_company, _unseen_sizes_work, _one_object_can_be_learned_from,
        _same_seed_same_result, _save_and_load_round_trip, _altered_files_are_refused,
        _gradients_are_those_of_the_utilities,
    ]  # fmt: skip
    for kind in sorted(learner.kinds):
        yield from (check_of(promise, name, kind) for promise in of_kind)
        if not learner.guesses:
            yield check_of(_beats_guessing, name, kind)


def easy_tasks(kind: Kind, n_tasks: int = 150, seed: int = 0) -> ChoiceTasks:
    """Return tasks of 2 to 6 objects; the first feature alone decides the choice."""
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(2, 7, n_tasks))])
    x = rng.normal(size=(offsets[-1], 3)).astype(np.float32)
    best = x[:, 0] == np.repeat(np.maximum.reduceat(x[:, 0], offsets[:-1]), np.diff(offsets))
    chosen = best if kind is Kind.SINGLETON else best | (x[:, 0] > 0.3)
    return ChoiceTasks(x, np.arange(len(x)), offsets, chosen, kind)


def quick(name: str) -> Learner:
    """Return an unfitted learner whose fit is short."""
    parameters = LEARNERS[name].parameters
    return make_learner(name, **{one: value for one, value in QUICK.items() if one in parameters})


@cache
def _fitted(name: str, kind: Kind) -> Learner:
    return quick(name).fit(easy_tasks(kind), seed=3)


def _clone_round_trips(name: str) -> None:
    from sklearn.base import clone

    learner = quick(name)
    assert clone(learner).get_params() == learner.get_params()
    assert name_of(learner) == name
    json.dumps(learner.get_params())


def _search_lies_within_limits(name: str) -> None:
    kind = LEARNERS[name].learner
    defaults = kind().get_params()
    for key, dimension in kind.search_space.items():
        assert key in defaults, f"{key} is searched, but no parameter"
        assert defaults[key] in dimension, f"{key}={defaults[key]} is outside {dimension}"
        ends = dimension.options if isinstance(dimension, Categorical) else (
            dimension.low, dimension.high,
        )  # fmt: skip
        assert all(end in kind.limits[key] for end in ends), key


def _every_parameter_has_limits(name: str) -> None:
    kind = LEARNERS[name].learner
    defaults = kind().get_params()
    assert set(kind.limits) == set(defaults), "limits are not of exactly the parameters"
    assert not problems_of_parameters(kind.limits, defaults)
    for key, limit in kind.limits.items():
        if key.startswith("n_"):  # a slip of the finger must not ask for more than any memory
            assert 10**9 not in limit, f"{key} has no upper limit"


def _bad_values_are_refused(name: str, parameter: str) -> None:
    kind = LEARNERS[name].learner
    bad = [value for value in BAD if value not in kind.limits[parameter]]
    assert len(bad) > len(BAD) / 2, f"the limits of {parameter} allow nearly anything"
    for value in bad:
        with refused(InvalidParameter, f"^{parameter} must be .*, got "):
            make_learner(name, **{parameter: value})
        unfitted = kind(**{parameter: value})  # the constructor only stores
        assert unfitted.get_params(deep=False)[parameter] is value
        with refused(InvalidParameter, f"^{parameter} must be .*, got "):
            unfitted.fit(easy_tasks(min(kind.kinds), 5))


def _other_kinds_are_refused(name: str) -> None:
    for kind in set(Kind) - LEARNERS[name].kinds:
        with refused(InvalidTasks, str(kind)):
            quick(name).fit(easy_tasks(kind))


def _unfitted_and_misfit_are_reported(name: str) -> None:
    kind = min(LEARNERS[name].kinds)
    tasks = easy_tasks(kind, 20)
    with refused(NotFitted):
        quick(name).utilities(tasks)
    narrow = ChoiceTasks(tasks.table[:, :2], tasks.items, tasks.offsets, tasks.chosen, kind)
    with refused(InvalidTasks, "3 features, got 2"):
        quick(name).fit(tasks).utilities(narrow)


def _fit_changes_neither_inputs_nor_parameters(name: str, kind: Kind) -> None:
    tasks, learner = easy_tasks(kind, 40), quick(name)
    arrays = [np.array(a) for a in (tasks.table, tasks.items, tasks.offsets, tasks.chosen)]
    parameters = learner.get_params()
    state = _global_stream()
    assert learner.fit(tasks) is learner
    assert learner.get_params() == parameters
    after = (tasks.table, tasks.items, tasks.offsets, tasks.chosen)
    for one, other in zip(arrays, after, strict=True):
        assert_array_equal(one, other)
    assert_array_equal(state, _global_stream(), "the global random numbers were used")


def _global_stream() -> NDArray[Any]:
    state: Any = np.random.get_state()  # noqa: NPY002 - to see that nobody uses it
    return np.array(state[1])


def _permuting_objects_permutes_utilities(name: str, kind: Kind) -> None:
    learner, tasks = _fitted(name, kind), easy_tasks(kind, 30, seed=1)
    rng = np.random.default_rng(2)
    order = np.concatenate([rng.permutation(tasks.entries(i)) for i in range(len(tasks))])
    parts = tasks.table, tasks.items[order], tasks.offsets, tasks.chosen[order], tasks.kind
    expected = learner.utilities(tasks)[order]
    assert_allclose(learner.utilities(ChoiceTasks(*parts)), expected, rtol=1e-4, atol=1e-4)


def _a_task_scores_the_same_in_any_company(name: str, kind: Kind) -> None:
    learner, tasks = _fitted(name, kind), easy_tasks(kind, 30, seed=1)
    together = learner.utilities(tasks)
    alone = np.concatenate([learner.utilities(tasks[i]) for i in range(len(tasks))])
    assert_allclose(alone, together, rtol=1e-4, atol=1e-4)
    shortest, longest = int(np.argmin(tasks.sizes)), int(np.argmax(tasks.sizes))
    pair = learner.utilities(tasks[[shortest, longest]])
    expected = together[tasks.entries(shortest)]
    assert_allclose(pair[: tasks.sizes[shortest]], expected, rtol=1e-4, atol=1e-4)


def _unseen_sizes_work(name: str, kind: Kind) -> None:
    rng = np.random.default_rng(0)
    for size in (1, 25):
        chosen = np.arange(size) == np.zeros((4, 1))
        tasks = ChoiceTasks.from_dense(rng.normal(size=(4, size, 3)), chosen, kind)
        utilities = _fitted(name, kind).utilities(tasks)
        assert utilities.shape == (4 * size,)
        assert utilities.dtype == np.float32
        assert np.isfinite(utilities).all()


def _one_object_can_be_learned_from(name: str, kind: Kind) -> None:
    alone = ChoiceTasks.from_dense(np.zeros((5, 1, 3)), [[True]] * 5, kind)
    tasks = ChoiceTasks.concatenate([easy_tasks(kind, 20), alone])
    assert np.isfinite(quick(name).fit(tasks).utilities(tasks)).all()


def _same_seed_same_result(name: str, kind: Kind) -> None:
    tasks = easy_tasks(kind, 30, seed=1)
    again = quick(name).fit(easy_tasks(kind), seed=3)
    assert_array_equal(again.utilities(tasks), _fitted(name, kind).utilities(tasks))


def _gradients_are_those_of_the_utilities(name: str, kind: Kind) -> None:
    learner, tasks = _fitted(name, kind), easy_tasks(kind, 30, seed=1)
    rng = np.random.default_rng(5)
    weights = rng.normal(size=tasks.n_entries)
    slopes = learner.gradient(tasks, weights)
    if slopes is None:
        return
    assert slopes.shape == (tasks.n_entries, tasks.n_features)
    step = 2e-3 * rng.normal(size=slopes.shape)
    sums = []
    for sign in (1, -1):
        moved = tasks.with_arrays(table=(tasks.table + sign * step).astype(np.float32))
        sums.append(learner.utilities(moved).astype(np.float64) * weights)
    changes = tasks.reduce(np.add, sums[0] - sums[1]) / 2
    expected = tasks.reduce(np.add, (slopes * step).sum(axis=1))
    alike = np.abs(changes - expected) <= 0.02 * np.abs(expected).max() + 1e-6
    assert alike.mean() > 0.9, "not the gradient of the utilities"  # utilities may have kinks


def _save_and_load_round_trip(name: str, kind: Kind) -> None:
    from cschoice.learners.saving import load

    learner, tasks = _fitted(name, kind), easy_tasks(kind, 30, seed=1)
    with TemporaryDirectory() as folder:
        learner.save(folder)
        loaded = load(folder)
    assert type(loaded) is type(learner)
    assert loaded.get_params() == learner.get_params()
    assert loaded.kind_ is kind
    assert_array_equal(loaded.utilities(tasks), learner.utilities(tasks))


def _altered_files_are_refused(name: str, kind: Kind) -> None:
    from cschoice.learners.saving import load

    alterations: dict[str, Any] = {
        "version": 99,
        "format": "other",
        "kind": "neither",
        "learner": "no-such-learner",
        "parameters": {"no_such_parameter": 1},
        "arrays": {"no-such-array": [1]},
    }
    with TemporaryDirectory() as folder:
        _fitted(name, kind).save(folder)
        path = Path(folder) / "learner.json"
        described = json.loads(path.read_text())
        del described["digest"], described["files"]  # as if the checksums had been made to fit
        for key, value in alterations.items():
            path.write_text(json.dumps({**described, key: value}))
            with refused(InvalidFile):
                load(folder)


def _beats_guessing(name: str, kind: Kind) -> None:
    train, test = easy_tasks(kind), easy_tasks(kind, 200, seed=1)
    learner = _fitted(name, kind)
    utilities = learner.utilities(test)
    if kind is Kind.SINGLETON:
        assert metric("accuracy")(test, utilities) > 1.5 * np.mean(1 / test.sizes)
        return
    threshold = tune_threshold(train, learner.utilities(train))
    everything = metric("f1")(test, np.ones(test.n_entries, dtype=bool))
    assert metric("f1")(test, choose(test, utilities, threshold)) > everything + 0.05
