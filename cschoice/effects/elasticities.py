"""Elasticities, marginal effects and diversion: who gains when an alternative changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cschoice.effects.derivatives import slopes
from cschoice.effects.models import Model
from cschoice.effects.segments import classes_of
from cschoice.effects.situations import Situations
from cschoice.effects.uncertainty import Progress, Ranges, Way
from cschoice.errors import InvalidParameter
from cschoice.registry import unknown_name
from cschoice.tasks import Kind
from cschoice.tasks.frames.missing_values import RawFeature

Floats = NDArray[np.float64]
POINT, ARC, MARGINAL, DIVERSION = "elasticity", "arc elasticity", "marginal effect", "diversion"
SAMPLE, MEANS = "sample", "means"


@dataclass(frozen=True, eq=False)
class Matrix:
    """Effects of a column of one alternative on the chance of another, (changed, of)."""

    measure: str
    column: str
    names: tuple[str, ...]  # whose chance
    changed: tuple[str, ...]  # whose column; one row for a column of the chooser
    effects: Ranges
    at: str
    way: str
    level: float
    percent: float | None = None  # of an arc elasticity


def effects_of(
    way: Way,
    situations: Situations,
    column: str,
    *,
    measure: str = POINT,
    at: str = SAMPLE,
    of: str | None = None,
    percent: float = 10.0,
    progress: Progress | None = None,
) -> Matrix:
    """Return elasticities, arc elasticities or marginal effects of a column on all chances.

    ``at`` is ``sample``: the effect on the share, the sum over all tasks; or ``means``: that in one
    task in which every alternative has its mean columns. An arc elasticity compares with the
    column larger by ``percent``, relative to the middle of both.
    """
    if at not in (SAMPLE, MEANS):
        raise InvalidParameter(unknown_name("place", at, (SAMPLE, MEANS)))
    if column not in {**situations.features, **situations.of_chooser}:
        known = [*situations.features, *situations.of_chooser]
        raise InvalidParameter(situations.unknown("column", column, known))
    where = at_means(situations) if at == MEANS else situations
    classes = classes_of(where, of)
    names = tuple(str(name) for name in np.unique(classes))
    masks = [classes == name for name in names]
    of_chooser = column in situations.of_chooser
    moved = [np.ones(where.n_objects, dtype=bool)] if of_chooser else masks

    def effects(asked: Model) -> Floats:
        if measure == ARC:
            return _arcs(asked, where, column, moved, masks, percent)
        found = slopes(asked, where, column, moved, masks, relative=measure == POINT)
        totals = _totals(asked, where, masks) if measure == POINT else where.task_weights.sum()
        return (found.T / totals).reshape(len(moved), len(names))

    return Matrix(
        measure,
        column,
        names,
        (column,) if of_chooser else names,
        way.ranges(effects, progress),
        at,
        way.name,
        way.level,
        percent if measure == ARC else None,
    )


def diversion(
    way: Way,
    situations: Situations,
    column: str | None = None,
    *,
    of: str | None = None,
    progress: Progress | None = None,
) -> Matrix:
    """Return which share of an alternative's choosers goes to each other one.

    By a ``column``: of those who leave when it gets a little worse; without: of all of them, when
    the alternative is taken away.
    """
    if situations.kind is Kind.SUBSET:
        raise InvalidParameter(
            "diversion is of singleton choice: of a subset, nobody who leaves one thing out has "
            "to take another"
        )
    classes = classes_of(situations, of)
    names = tuple(str(name) for name in np.unique(classes))
    masks = [classes == name for name in names]

    def ratios(asked: Model) -> Floats:
        if column is not None:
            found = slopes(asked, situations, column, masks, masks, relative=False)
            return _off_diagonal(-(found / np.diag(found)).T)
        return _off_diagonal(_taken_away(asked, situations, masks))

    return Matrix(
        DIVERSION,
        column or "",
        names,
        names,
        way.ranges(ratios, progress),
        SAMPLE,
        way.name,
        way.level,
    )


def _off_diagonal(ratios: Floats) -> Floats:
    np.fill_diagonal(ratios, np.nan)
    return ratios


def _taken_away(model: Model, situations: Situations, masks: Sequence[NDArray[np.bool_]]) -> Floats:
    """Return where the choosers of each alternative go when it is gone, (gone, to)."""
    weights = situations.spread(situations.task_weights)
    before = model.chances(situations) * weights
    ratios = np.full((len(masks), len(masks)), np.nan)
    for place, mask in enumerate(masks):
        others = situations.reduce(np.logical_or, ~mask)
        affected = situations.spread(others & situations.reduce(np.logical_or, mask))
        if not affected.any():
            continue
        part = situations.with_objects(affected & ~mask)
        after = np.zeros(situations.n_objects)
        after[affected & ~mask] = model.chances(part) * part.spread(part.task_weights)
        lost = before[affected & mask].sum()
        gained = [after[one & affected].sum() - before[one & affected].sum() for one in masks]
        ratios[place] = np.array(gained) / lost if lost else np.nan
    return ratios


def _totals(
    model: Model, situations: Situations, masks: Sequence[NDArray[np.bool_]]
) -> NDArray[np.float64]:
    chances = model.chances(situations) * situations.spread(situations.task_weights)
    return np.array([chances[mask].sum() for mask in masks])


def _arcs(
    model: Model,
    situations: Situations,
    column: str,
    moved: Sequence[NDArray[np.bool_]],
    masks: Sequence[NDArray[np.bool_]],
    percent: float,
) -> Floats:
    """Return arc elasticities: relative changes, both relative to the middle."""
    before = _totals(model, situations, masks)
    values = situations.column(column)
    if values.dtype.kind != "f":
        raise InvalidParameter(f"'{column}' is a text: it has no per cent")
    share = percent / 100
    found = []
    for mask in moved:
        there = situations.with_column(column, np.where(mask, values * (1 + share), values))
        after = _totals(model, there, masks)
        found.append((after - before) / ((after + before) / 2) / (share / (1 + share / 2)))
    return np.array(found)


def at_means(situations: Situations) -> Situations:
    """Return one task with every alternative once, each with the means of its columns.

    Of texts the most frequent one counts. Columns of the chooser are means over tasks.
    """
    if situations.alternatives is None:
        raise InvalidParameter(
            "means of alternatives need their names: give --object (or --wide) at import"
        )
    weights = situations.spread(situations.task_weights)
    masks = [situations.is_alternative(name) for name in situations.names]
    first = np.array([int(mask.argmax()) for mask in masks])
    task = situations[:1]
    everything = np.ones(situations.n_objects, dtype=bool)
    per_task = np.zeros(situations.n_objects, dtype=bool)
    per_task[situations.offsets[:-1]] = True
    own = {name: _mean(raw, masks, weights, first) for name, raw in situations.features.items()}
    of_chooser = {
        name: _mean(raw, [per_task & everything] * len(masks), weights, first)
        for name, raw in situations.of_chooser.items()
    }
    return replace(
        task,
        offsets=np.array([0, len(masks)]),
        features=own,
        of_chooser=of_chooser,
        alternatives=replace(situations.alternatives, values=situations.alternatives.values[first]),
        chosen=None,
        groups=None,
        weights=None,
        origins=None,
    )


def _mean(
    raw: RawFeature, masks: Sequence[NDArray[np.bool_]], weights: Floats, first: NDArray[np.int64]
) -> RawFeature:
    """Return the mean of a column over each part of the objects."""
    found = []
    for mask, place in zip(masks, first, strict=True):
        used = mask & ~raw.missing
        if not used.any():
            found.append(raw.values[place])
        elif raw.labels is None:
            found.append(np.average(raw.values[used], weights=weights[used]))
        else:
            found.append(np.bincount(raw.values[used], weights=weights[used]).argmax())
    return replace(raw, values=np.array(found, dtype=raw.values.dtype))
