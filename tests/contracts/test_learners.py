"""What every learner promises, whatever it is; a new row of LEARNERS is tested by itself."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from cschoice.errors import InvalidFile, InvalidParameter, InvalidTasks, NotFitted
from cschoice.evaluation.decisions import choose, tune_threshold
from cschoice.evaluation.metrics import metric
from cschoice.learners import LEARNERS, make_learner
from cschoice.learners.saving import load, save
from cschoice.space import problems_of_parameters
from cschoice.tasks import ChoiceTasks, Kind

# What makes a fit short; taken where the learner has such a parameter.
QUICK = {"epochs": 12, "batch_size": 32, "learning_rate": 0.02, "n_units": 16, "n_embedding": 16}
CLASSES = {name: info.learner for name, info in LEARNERS.items()}
CASES = [
    pytest.param(name, kind, id=f"{name}-{kind}")
    for name, learner in CLASSES.items()
    for kind in sorted(learner.kinds)
]


def quick(name: str) -> Any:
    parameters = CLASSES[name]().get_params()
    return make_learner(name, **{k: v for k, v in QUICK.items() if k in parameters})


def easy_tasks(kind: Kind, n_tasks: int = 150, seed: int = 0) -> ChoiceTasks:
    """Return tasks of 2 to 6 objects; the first feature alone says what is chosen."""
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(2, 7, n_tasks))])
    x = rng.normal(size=(offsets[-1], 3)).astype(np.float32)
    starts = offsets[:-1]
    sizes = np.diff(offsets)
    best = x[:, 0] == np.repeat(np.maximum.reduceat(x[:, 0], starts), sizes)
    chosen = best if kind is Kind.SINGLETON else best | (x[:, 0] > 0.3)
    return ChoiceTasks(x, np.arange(len(x)), offsets, chosen, kind)


@pytest.fixture(scope="module")
def fitted() -> Any:
    cache: dict[tuple[str, Kind], Any] = {}

    def get(name: str, kind: Kind) -> Any:
        if (name, kind) not in cache:
            cache[name, kind] = quick(name).fit(easy_tasks(kind), seed=3)
        return cache[name, kind]

    return get


def permuted(tasks: ChoiceTasks, seed: int) -> tuple[ChoiceTasks, np.ndarray]:
    """Shuffle the objects within each task; also return where each entry came from."""
    rng = np.random.default_rng(seed)
    order = np.concatenate([rng.permutation(tasks.entries(i)) for i in range(len(tasks))])
    parts = tasks.table, tasks.items[order], tasks.offsets, tasks.chosen[order], tasks.kind
    return ChoiceTasks(*parts), order


@pytest.mark.parametrize("name", LEARNERS)
def test_clone_round_trips(name: str) -> None:
    learner = quick(name)
    assert clone(learner).get_params() == learner.get_params()
    assert learner.name == name
    json.dumps(learner.get_params())


@pytest.mark.parametrize("name", LEARNERS)
def test_space_keys_are_parameters_and_defaults_lie_inside(name: str) -> None:
    defaults = CLASSES[name]().get_params()
    for key, dimension in CLASSES[name].search_space.items():
        assert key in defaults
        assert defaults[key] in dimension, f"{key}={defaults[key]} is outside {dimension}"


@pytest.mark.parametrize("name", LEARNERS)
def test_every_parameter_has_limits_and_they_hold_its_default_and_search(name: str) -> None:
    learner = CLASSES[name]
    assert set(learner.limits) == set(learner().get_params())
    assert not problems_of_parameters(learner.limits, learner().get_params())
    for key, dimension in learner.search_space.items():
        ends = getattr(dimension, "options", None) or (dimension.low, dimension.high)
        assert all(end in learner.limits[key] for end in ends), key


# Every limit excludes most of these; NaN is in none of them.
BAD = [
    -3,
    0,
    1.5,
    10**9,
    "three",
    "",
    True,
    None,
    math.nan,
    math.inf,
    [],
    [0, 0],
    [-1],
    {},
    object(),
]


@pytest.mark.parametrize(
    ("name", "parameter"), [(name, key) for name, one in CLASSES.items() for key in one.limits]
)
def test_bad_parameters_are_refused_by_name(name: str, parameter: str) -> None:
    limit, learner = CLASSES[name].limits[parameter], CLASSES[name]
    bad = [value for value in BAD if value not in limit]
    assert len(bad) > len(BAD) / 2
    for value in bad:
        with pytest.raises(InvalidParameter, match=f"^{parameter} must be .*, got "):
            make_learner(name, **{parameter: value})
        unfitted = learner(**{parameter: value})  # the constructor only stores
        assert unfitted.get_params(deep=False)[parameter] is value
        with pytest.raises(InvalidParameter, match=f"^{parameter} must be .*, got "):
            unfitted.fit(easy_tasks(min(learner.kinds), 5))


def test_no_network_can_be_mistyped_to_a_size_that_no_memory_holds() -> None:
    for name, learner in CLASSES.items():
        for parameter, limit in learner.limits.items():
            if parameter.startswith("n_"):
                assert 10**9 not in limit, f"{parameter} of {name}"


@pytest.mark.parametrize("name", LEARNERS)
def test_kinds_are_respected(name: str) -> None:
    for kind in set(Kind) - CLASSES[name].kinds:
        with pytest.raises(InvalidTasks, match=str(kind)):
            quick(name).fit(easy_tasks(kind))


@pytest.mark.parametrize("name", LEARNERS)
def test_unfitted_and_misfit_are_reported(name: str) -> None:
    kind = min(CLASSES[name].kinds)
    tasks = easy_tasks(kind, 20)
    with pytest.raises(NotFitted):
        quick(name).utilities(tasks)
    narrow = ChoiceTasks(tasks.table[:, :2], tasks.items, tasks.offsets, tasks.chosen, kind)
    with pytest.raises(InvalidTasks, match="3 features, got 2"):
        quick(name).fit(tasks).utilities(narrow)


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_fit_changes_neither_inputs_nor_parameters(name: str, kind: Kind) -> None:
    tasks, learner = easy_tasks(kind, 40), quick(name)
    arrays = [np.array(a) for a in (tasks.table, tasks.items, tasks.offsets, tasks.chosen)]
    parameters = learner.get_params()
    state = np.random.get_state()[1].copy()  # noqa: NPY002 - the global stream is not ours
    assert learner.fit(tasks) is learner
    assert learner.get_params() == parameters
    for before, after in zip(
        arrays, (tasks.table, tasks.items, tasks.offsets, tasks.chosen), strict=True
    ):
        assert_array_equal(before, after)
    assert_array_equal(state, np.random.get_state()[1])  # noqa: NPY002


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_permuting_objects_permutes_utilities(fitted: Any, name: str, kind: Kind) -> None:
    learner, tasks = fitted(name, kind), easy_tasks(kind, 30, seed=1)
    shuffled, order = permuted(tasks, seed=2)
    expected = learner.utilities(tasks)[order]
    assert_allclose(learner.utilities(shuffled), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_a_task_scores_the_same_in_any_company(fitted: Any, name: str, kind: Kind) -> None:
    learner, tasks = fitted(name, kind), easy_tasks(kind, 30, seed=1)
    together = learner.utilities(tasks)
    alone = np.concatenate([learner.utilities(tasks[i]) for i in range(len(tasks))])
    assert_allclose(alone, together, rtol=1e-4, atol=1e-4)
    longest = int(np.argmax(tasks.sizes))
    shortest = int(np.argmin(tasks.sizes))
    assert tasks.sizes[longest] > tasks.sizes[shortest]
    pair = learner.utilities(tasks[[shortest, longest]])
    size = tasks.sizes[shortest]
    assert_allclose(pair[:size], together[tasks.entries(shortest)], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_unseen_sizes_work(fitted: Any, name: str, kind: Kind) -> None:
    rng = np.random.default_rng(0)
    for size in (1, 25):
        chosen = np.arange(size) == np.zeros((4, 1))
        tasks = ChoiceTasks.from_dense(rng.normal(size=(4, size, 3)), chosen, kind)
        utilities = fitted(name, kind).utilities(tasks)
        assert utilities.shape == (4 * size,)
        assert utilities.dtype == np.float32
        assert np.isfinite(utilities).all()


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_one_object_tasks_can_be_learned_from(name: str, kind: Kind) -> None:
    tasks = ChoiceTasks.concatenate(
        [easy_tasks(kind, 20), ChoiceTasks.from_dense(np.zeros((5, 1, 3)), [[True]] * 5, kind)]
    )
    assert np.isfinite(quick(name).fit(tasks).utilities(tasks)).all()


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_same_seed_same_result(fitted: Any, name: str, kind: Kind) -> None:
    tasks = easy_tasks(kind, 30, seed=1)
    again = quick(name).fit(easy_tasks(kind), seed=3)
    assert_array_equal(again.utilities(tasks), fitted(name, kind).utilities(tasks))


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_save_and_load_round_trip(fitted: Any, name: str, kind: Kind, tmp_path: Any) -> None:
    learner, tasks = fitted(name, kind), easy_tasks(kind, 30, seed=1)
    save(learner, tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert type(loaded) is type(learner)
    assert loaded.get_params() == learner.get_params()
    assert loaded.kind_ is kind
    assert_array_equal(loaded.utilities(tasks), learner.utilities(tasks))
    assert {path.name for path in (tmp_path / "model").iterdir()} == {
        "weights.safetensors",
        "learner.json",
        "preparation.json",
    }


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_altered_files_are_refused(fitted: Any, name: str, kind: Kind, tmp_path: Any) -> None:
    save(fitted(name, kind), tmp_path)
    described = json.loads((tmp_path / "learner.json").read_text())
    alterations: dict[str, Any] = {
        "version": 99,
        "format": "other",
        "kind": "neither",
        "learner": "no-such-learner",
        "parameters": {"no_such_parameter": 1},
        "arrays": {"no-such-array": [1]},
    }
    for key, value in alterations.items():
        (tmp_path / "learner.json").write_text(json.dumps({**described, key: value}))
        with pytest.raises(InvalidFile):
            load(tmp_path)


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_beats_guessing_on_a_trivial_problem(fitted: Any, name: str, kind: Kind) -> None:
    if name in ("random", "all-positive"):
        pytest.skip("guessing is what this learner does")
    train, test = easy_tasks(kind), easy_tasks(kind, 200, seed=1)
    learner = fitted(name, kind)
    utilities = learner.utilities(test)
    if kind is Kind.SINGLETON:
        assert metric("accuracy")(test, utilities) > 1.5 * np.mean(1 / test.sizes)
    else:
        threshold = tune_threshold(train, learner.utilities(train))
        everything = metric("f1")(test, np.ones(test.n_entries, dtype=bool))
        assert metric("f1")(test, choose(test, utilities, threshold)) > everything + 0.05


@pytest.mark.parametrize("name", LEARNERS)
def test_the_class_has_the_name_of_its_row(name: str) -> None:
    assert CLASSES[name].name == name
