"""The offer that earns most: which few alternatives, when each choice has its revenue."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from cschoice.effects.models import Model
from cschoice.effects.situations import Situations
from cschoice.effects.uncertainty import Progress, Ranges, Way
from cschoice.errors import InvalidParameter
from cschoice.registry import unknown_name

Floats = NDArray[np.float64]
Offer = frozenset[str]
EXACT_UP_TO = 2_000  # sets that are all tried
_SHOWN = 5


@dataclass(frozen=True, eq=False)
class Assortment:
    """The best offer that was found, with the next best ones and the offer of everything."""

    offers: tuple[tuple[str, ...], ...]  # the best first
    revenues: Ranges  # of these, per task
    everything: float
    always: tuple[str, ...]
    most: int
    exact: bool  # all sets were tried
    n_tried: int
    way: str
    level: float


def best_assortment(
    way: Way,
    situations: Situations,
    revenues: Mapping[str, float] | str,
    most: int,
    *,
    always: Sequence[str] = (),
    progress: Progress | None = None,
) -> Assortment:
    """Return the offer of at most so many alternatives with the largest expected revenue per task.

    ``revenues`` are by alternative (others earn nothing), or the name of a column. Alternatives
    that are ``always`` on offer, such as staying at home, do not count. Up to 2,000 sets are all
    tried. Otherwise an offer is improved, by the best single addition, removal or exchange, until
    there is none, once from nothing and once from the alternatives that earn most: the best of
    both, a local optimum.
    """
    search = _Search(way, situations, _per_object(situations, revenues), tuple(always), progress)
    candidates = _candidates(situations, always)
    if most < 1:
        raise InvalidParameter(f"an assortment has at least one alternative, got {most}")
    most = min(most, len(candidates))
    n_sets = sum(comb(len(candidates), size) for size in range(1, most + 1))
    exact = n_sets <= EXACT_UP_TO
    if exact:
        search.announced = n_sets
        search.try_all(
            frozenset(one) for size in range(1, most + 1) for one in combinations(candidates, size)
        )
    else:
        earning = sorted(candidates, key=search.alone, reverse=True)
        for start in (frozenset[str](), frozenset(earning[:most])):
            search.improve(start, candidates, most)
    ranked = sorted(search.tried, key=lambda offer: (-search.tried[offer], sorted(offer)))
    offers = [offer for offer in ranked if offer][:_SHOWN]

    def of_models(asked: Model) -> Floats:
        return np.array([search.revenue(offer, asked) for offer in offers])

    return Assortment(
        tuple(tuple(sorted(offer)) for offer in offers),
        way.ranges(of_models),
        search.mean(frozenset(candidates)),
        tuple(always),
        most,
        exact,
        len(search.tried),
        way.name,
        way.level,
    )


@dataclass
class _Search:
    way: Way
    situations: Situations
    per_object: Floats
    always: tuple[str, ...]
    progress: Progress | None
    announced: int = 0

    def __post_init__(self) -> None:
        self.tried: dict[Offer, float] = {}
        self.marks = {name: self.situations.is_alternative(name) for name in self.situations.names}
        self.total = float(self.situations.task_weights.sum())

    def revenue(self, offer: Offer, model: Model) -> float:
        """Return the expected revenue of an offer per task; where nothing is left, none."""
        kept = np.zeros(self.situations.n_objects, dtype=bool)
        for name in (*offer, *self.always):
            kept |= self.marks[name]
        if not kept.any():
            return 0.0
        part = self.situations.with_objects(kept)
        weights = part.spread(part.task_weights)
        return float((model.chances(part) * weights) @ self.per_object[kept]) / self.total

    def mean(self, offer: Offer) -> float:
        """Return the same of the model, or on average of those of folds."""
        return float(self.way.point(lambda asked: np.array(self.revenue(offer, asked))))

    def value(self, offer: Offer) -> float:
        """Return the revenue of an offer, computed once."""
        if offer not in self.tried:
            self.tried[offer] = self.mean(offer)
            if self.progress is not None:
                self.progress(len(self.tried), max(self.announced, len(self.tried)))
        return self.tried[offer]

    def try_all(self, offers: Iterable[Offer]) -> None:
        for offer in offers:
            self.value(offer)

    def alone(self, name: str) -> float:
        """Return the mean revenue of an alternative when it is chosen."""
        return float(self.per_object[self.marks[name]].mean())

    def improve(self, offer: Offer, candidates: Sequence[str], most: int) -> None:
        """Improve an offer by its best neighbour until there is no better one."""
        value = self.value(offer)
        while True:
            best = max(_neighbours(offer, candidates, most), key=self.value)
            if self.value(best) <= value:
                return
            offer, value = best, self.value(best)


def _neighbours(offer: Offer, candidates: Sequence[str], most: int) -> list[Offer]:
    """Return the offers with one alternative more, one less, or one exchanged."""
    others = [name for name in candidates if name not in offer]
    found = [offer - {out} for out in offer]
    found += [offer - {out} | {new} for out in offer for new in others]
    if len(offer) < most:
        found += [offer | {new} for new in others]
    return found


def _candidates(situations: Situations, always: Sequence[str]) -> list[str]:
    for name in always:
        situations.is_alternative(name)
    found = [name for name in situations.names if name not in always]
    if not found:
        raise InvalidParameter(f"no alternatives to choose from; there are {situations.described}")
    return found


def _per_object(situations: Situations, revenues: Mapping[str, float] | str) -> Floats:
    """Return the revenue of each object, should it be chosen."""
    if isinstance(revenues, str):
        values = situations.column(revenues)
        if values.dtype.kind != "f" or np.isnan(values).any():
            raise InvalidParameter(f"'{revenues}' must be a number everywhere to be a revenue")
        return values
    for name in revenues:
        if name not in situations.names:
            raise InvalidParameter(unknown_name("alternative", name, situations.names))
    per_object = np.zeros(situations.n_objects)
    for name, revenue in revenues.items():
        per_object[situations.is_alternative(name)] = revenue
    return per_object
