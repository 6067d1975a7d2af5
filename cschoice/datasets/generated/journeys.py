"""Journeys by bus, car or train, chosen by a logit whose coefficients are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cschoice.datasets.source import LARGEST, check_limits, does_not_fit
from cschoice.seeding import seed_for
from cschoice.space import Limit, Whole
from cschoice.tasks import ChoiceTasks, Kind, frames
from cschoice.tasks.frames.encoding import Encoding, Feature

MODES = ("bus", "car", "train")
PER_PERSON = 8
# What estimates have to find again; the car has no constant.
COEFFICIENTS: Mapping[str, float] = {
    "constant=bus": -0.5,
    "constant=train": 0.3,
    "cost": -0.3,
    "time": -0.06,
    "income:bus": -0.3,
    "income:train": -0.1,
}
DEVIATION_OF_TIME = 0.04  # between people, normal
_PEOPLE_AT_ONCE = 500
_SHAPES = np.array([3.0, 4.0, 5.0])  # of the costs of bus, car and train
_MINUTES = np.array([45.0, 25.0, 35.0])


@dataclass(frozen=True, kw_only=True)
class Journeys:
    """People who travel eight times each and differ in how they mind time.

    Features: cost in euros, time in minutes, constants of bus and train, and the traveller's income
    in thousands, centred. Choices follow a logit with ``COEFFICIENTS``; the one of time is normal
    between people. Every fold is a fresh draw of people.
    """

    n_train: int = 4_000
    n_test: int = 4_000

    kind: ClassVar[Kind] = Kind.SINGLETON
    standardize: ClassVar[bool] = True
    limits: ClassVar[Mapping[str, Limit]] = dict.fromkeys(("n_train", "n_test"), Whole(1))

    def __post_init__(self) -> None:
        check_limits(self)

    def fold(self, index: int, seed: int) -> tuple[ChoiceTasks, ChoiceTasks]:
        """Draw the train and test tasks of a fold; more of them begin with the same ones."""
        return (
            self.sample(self.n_train, seed_for(seed, "train", rule="Journeys", fold=index)),
            self.sample(self.n_test, seed_for(seed, "test", rule="Journeys", fold=index)),
        )

    def sample(self, n_tasks: int, seed: int) -> ChoiceTasks:
        """Draw tasks, a few hundred people at a time."""
        n_modes, n_features = len(MODES), len(_encoding().names)
        if n_tasks * n_modes * n_features > LARGEST:
            raise does_not_fit(n_tasks, n_modes, 4 * n_tasks * n_modes * n_features)
        rng = np.random.default_rng(seed)
        n_people = -(-n_tasks // PER_PERSON)
        parts = [_draw(rng) for _ in range(0, n_people, _PEOPLE_AT_ONCE)]
        x = np.concatenate([x for x, _ in parts])[:n_tasks]
        chosen = np.concatenate([chosen for _, chosen in parts])[:n_tasks]
        return ChoiceTasks.trusted(
            table=x.reshape(-1, n_features).astype(np.float32),
            items=np.arange(n_tasks * n_modes),
            offsets=np.arange(n_tasks + 1) * n_modes,
            chosen=chosen.ravel(),
            kind=self.kind,
            groups=np.arange(n_tasks) // PER_PERSON,
            encoding=_encoding(),
        )


def _encoding() -> Encoding:
    """Return how a table of such journeys would be read: features have names."""
    described = frames.describe(
        task="journey",
        object="mode",
        chosen="chosen",
        features="cost,time",
        context="income",
        group="person",
        constants=True,
        reference="car",
        kind=Kind.SINGLETON,
    )
    own, of_chooser = (Feature("cost"), Feature("time")), (Feature("income"),)
    return Encoding(described, own, of_chooser, constants=("bus", "train"), reference="car")


def _draw(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return features and choices of some people, with the modes of each journey in any order."""
    shape = (_PEOPLE_AT_ONCE * PER_PERSON, len(MODES))
    person = np.repeat(np.arange(_PEOPLE_AT_ONCE), PER_PERSON)
    cost = rng.gamma(_SHAPES, 1.5, size=shape).round(2)
    time = (_MINUTES * rng.gamma(6.0, 1 / 6, size=shape)).round(1)
    income = (rng.gamma(4.0, 0.8, size=_PEOPLE_AT_ONCE) - 3.2).round(2)[person]
    minded = COEFFICIENTS["time"] + DEVIATION_OF_TIME * rng.normal(size=_PEOPLE_AT_ONCE)
    worth = COEFFICIENTS["cost"] * cost + minded[person, None] * time
    for place, mode in enumerate(MODES):
        constant = COEFFICIENTS.get(f"constant={mode}", 0.0)
        worth[:, place] += constant + COEFFICIENTS.get(f"income:{mode}", 0.0) * income
    chosen = np.arange(len(MODES)) == (worth + rng.gumbel(size=shape)).argmax(axis=1)[:, None]
    order = rng.permuted(np.broadcast_to(np.arange(len(MODES)), shape), axis=1)
    columns = [cost, time, np.eye(3)[0], np.eye(3)[2], income[:, None]]
    x = np.stack([np.broadcast_to(column, shape) for column in columns], axis=2)
    return np.take_along_axis(x, order[:, :, None], 1), np.take_along_axis(chosen, order, 1)
