"""Shares before and after scenarios, segment by segment, and the surplus of the choosers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cschoice.effects.models import Model
from cschoice.effects.scenarios import Scenario
from cschoice.effects.segments import Segments, classes_of, segments_of, summed
from cschoice.effects.situations import Situations
from cschoice.effects.surplus import surpluses
from cschoice.effects.uncertainty import Progress, Ranges, Way
from cschoice.errors import InvalidParameter
from cschoice.tasks import Kind

Floats = NDArray[np.float64]
_QUARTILES = (25, 50, 75)


@dataclass(frozen=True, eq=False)
class Surplus:
    """The change of consumer surplus of each scenario, (scenarios, segments)."""

    money: str
    means: Ranges
    quartiles: Floats  # (scenarios, segments, 3), over the tasks


@dataclass(frozen=True, eq=False)
class Comparison:
    """The shares of alternatives as things are and in scenarios.

    Of subset choice they are rates: the mean number of chosen objects of that name per task.
    """

    names: tuple[str, ...]  # of the alternatives, or classes of objects
    segments: Segments
    scenarios: tuple[str, ...]
    before: Ranges  # (segments, names)
    after: Ranges  # (scenarios, segments, names)
    change: Ranges
    observed: Floats | None  # (segments, names)
    kind: Kind
    probabilistic: bool
    way: str
    level: float
    surplus: Surplus | None = None


def compare(
    way: Way,
    situations: Situations,
    scenarios: Sequence[Scenario] = (),
    *,
    by: Sequence[str] = (),
    of: str | None = None,
    money: str | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Compare shares as they are with those in scenarios, all tasks together and by segment."""
    start = replace(situations, origins=None)
    segments = segments_of(start, by)
    worlds = [start, *(scenario.applied(start) for scenario in scenarios)]
    classes = [classes_of(world, of) for world in worlds]
    names = tuple(dict.fromkeys(str(one) for part in classes for one in np.unique(part)))
    n = len(start)

    def shares(asked: Model) -> Floats:
        found = np.array(
            [
                segments.means(summed(world, asked.chances(world), part, names, n))
                for world, part in zip(worlds, classes, strict=True)
            ]
        )
        return np.concatenate([found, found[1:] - found[0]])

    found = way.ranges(shares, progress)
    n_worlds = len(worlds)
    return Comparison(
        names,
        segments,
        tuple(scenario.name for scenario in scenarios),
        found[0],
        found[1:n_worlds],
        found[n_worlds:],
        _observed(start, segments, classes[0], names),
        start.kind,
        way.model.probabilistic,
        way.name,
        way.level,
        None if money is None else _surplus(way, worlds, segments, money, progress),
    )


def _observed(
    situations: Situations, segments: Segments, classes: NDArray[np.str_], names: Sequence[str]
) -> Floats | None:
    """Return the shares of chosen objects, where the choice is known; None if it never is."""
    known = situations.with_choices
    if situations.chosen is None or not (segments.members & known).any(axis=1).all():
        return None
    chosen = situations.chosen.astype(np.float64)
    observed = summed(situations, chosen, classes, names, len(situations))
    return replace(segments, members=segments.members & known).means(observed)


def _surplus(
    way: Way,
    worlds: Sequence[Situations],
    segments: Segments,
    money: str,
    progress: Progress | None,
) -> Surplus:
    if len(worlds) < 2:
        raise InvalidParameter("surplus is that of a scenario: give one")
    if any(len(world) < len(worlds[0]) for world in worlds):
        raise InvalidParameter("there is no surplus where a scenario leaves nothing on offer")

    def means(asked: Model) -> Floats:
        return segments.means(surpluses(asked, worlds, money)).T

    by_task = way.point(lambda asked: surpluses(asked, worlds, money))  # (tasks, scenarios)
    quartiles = np.array(
        [np.percentile(by_task[members], _QUARTILES, axis=0).T for members in segments.members]
    )
    return Surplus(money, way.ranges(means, progress), quartiles.swapaxes(0, 1))
