"""The promises of a dataset that needs no files, or whose files are there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from typing import Any

import numpy as np

from cschoice.datasets import DATASETS, make_dataset
from cschoice.errors import InvalidParameter
from cschoice.registry import load
from cschoice.space import problems_of_parameters
from cschoice.tasks import ChoiceTasks
from cschoice.testing.checks import BAD, Check, check_of, refused

_SMALL = {"n_train": 137, "n_test": 61}
_MANY = 20_000

Parameters = Mapping[str, Any]
Tasks = tuple[ChoiceTasks, ChoiceTasks]


def dataset_checks(name: str, **parameters: Any) -> Iterator[Check]:
    """Yield the checks of a dataset with these parameters, which are run one by one.

    Those about sizes are left out where it has no such field; within ``limits``, where it
    declares them, every size has to work.
    """
    promises = [_tasks_are_valid_and_as_described, _seed_fold_and_part_decide_the_data]
    known = [field.name for field in fields(load(DATASETS[name].source))]
    if "n_train" in known:
        promises += [_more_tasks_begin_with_the_same_ones, _objects_come_in_no_order]
    if "n_objects" in known:
        promises += [_any_size_works]
    for promise in promises:
        yield Check(check_of(promise, name).name, check_of(promise, name, parameters).run)
    yield from limit_checks(name)


def limit_checks(name: str) -> Iterator[Check]:
    """Yield the checks of a dataset's parameters, for which its files need not be there."""
    yield check_of(_every_field_has_limits, name)
    limits = getattr(load(DATASETS[name].source), "limits", {})
    yield from (check_of(_bad_values_are_refused, name, one) for one in limits)


def _fold(name: str, parameters: Parameters, index: int = 0, seed: int = 0) -> Tasks:
    known = {field.name for field in fields(load(DATASETS[name].source))}
    small = {size: n for size, n in _SMALL.items() if size in known}
    return make_dataset(name, **{**small, **parameters}).fold(index, seed)


def _tasks_are_valid_and_as_described(name: str, parameters: Parameters) -> None:
    info, folds = DATASETS[name], _fold(name, parameters)
    for tasks, size in zip(folds, ("n_train", "n_test"), strict=True):
        arrays = (tasks.table, tasks.items, tasks.offsets, tasks.chosen, tasks.kind, tasks.groups)
        checked = ChoiceTasks(*arrays, weights=tasks.weights)
        assert checked == tasks
        assert tasks.kind is info.kind
        source = make_dataset(name)
        if hasattr(source, size):
            assert len(tasks) == parameters.get(size, _SMALL[size])
            assert getattr(source, size) == getattr(info, size)
        if info.n_features is not None and "n_features" not in parameters:
            assert tasks.n_features == info.n_features
        if isinstance(info.n_objects, int) and "n_objects" not in parameters:
            assert set(tasks.sizes) == {info.n_objects}


def _seed_fold_and_part_decide_the_data(name: str, parameters: Parameters) -> None:
    train, test = _fold(name, parameters)
    assert (train, test) == _fold(name, parameters)
    assert train != _fold(name, parameters, index=1)[0]
    assert train != _fold(name, parameters, seed=1)[0]
    n = min(len(train), len(test))
    assert train[:n] != test[:n]


def _more_tasks_begin_with_the_same_ones(name: str, parameters: Parameters) -> None:
    few, many = (_fold(name, {**parameters, "n_train": n})[0] for n in (137, 2_345))
    assert many[:137] == few


def _any_size_works(name: str, parameters: Parameters) -> None:
    source = load(DATASETS[name].source)
    limits = getattr(source, "limits", {})
    known = {field.name for field in fields(source)}
    for sizes in ({"n_objects": 3, "n_features": 2}, {"n_objects": 7, "n_features": 4},
                  {"n_objects": 41, "n_features": 3}):  # fmt: skip
        given = {size: n for size, n in sizes.items() if size in known}
        if any(size in limits and n not in limits[size] for size, n in given.items()):
            continue
        train, _ = _fold(name, {**parameters, **given, "n_train": 23})
        assert set(train.sizes) == {given["n_objects"]}
        assert train.n_features == given.get("n_features", train.n_features)


def _objects_come_in_no_order(name: str, parameters: Parameters) -> None:
    tasks, _ = _fold(name, {**parameters, "n_train": _MANY, "n_test": 1})
    if np.ptp(tasks.sizes):
        return  # places of tasks of other sizes cannot be compared
    chosen = tasks.chosen.reshape(len(tasks), -1)
    share = chosen.mean()
    deviation = np.sqrt(share * (1 - share) / len(tasks))
    assert np.abs(chosen.mean(axis=0) - share).max() < 4.5 * deviation


def _every_field_has_limits(name: str) -> None:
    source = load(DATASETS[name].source)
    defaults = {one.name: one.default for one in fields(source) if one.default is not MISSING}
    assert set(source.limits) == {one.name for one in fields(source)}, "limits are of other fields"
    assert not problems_of_parameters(source.limits, defaults)


def _bad_values_are_refused(name: str, parameter: str) -> None:
    limit = load(DATASETS[name].source).limits[parameter]
    bad = [value for value in BAD if value not in limit]
    assert len(bad) > len(BAD) / 2, f"the limits of {parameter} allow nearly anything"
    for value in bad:
        with refused(InvalidParameter, f"{parameter} must be .*, got "):
            make_dataset(name, **{parameter: value})
