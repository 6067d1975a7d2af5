"""The mean of several fitted learners, in which their random errors cancel out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from cschoice.learners import make_learner, name_of
from cschoice.learners.learner import Arrays, Learner
from cschoice.seeding import seed_for
from cschoice.space import Limit, Whole
from cschoice.tasks import ChoiceTasks


class MeanEnsemble(Learner):
    """The mean utility of several learners of one name and with the same parameters."""

    name: ClassVar[str] = "mean"
    limits: ClassVar[Mapping[str, Limit]] = {
        "n_members": Whole(1, 1000)
    }  # the rest by make_learner

    members_: list[Learner]

    def __init__(self, learner: str, parameters: Mapping[str, Any], n_members: int) -> None:
        self.learner = learner
        self.parameters = parameters
        self.n_members = n_members

    @classmethod
    def of(cls, members: Sequence[Learner]) -> Self:
        """Return the mean of fitted learners."""
        first = members[0]
        mean = cls(name_of(first), first.get_params(deep=False), len(members))
        mean.kind_, mean.n_features_in_ = first.kind_, first.n_features_in_
        mean.members_ = list(members)
        return mean

    def _fit(self, tasks: ChoiceTasks, seed: int, device: str) -> None:
        self.members_ = [
            self._member().learn(tasks, seed=seed_for(seed, "member", number=number), device=device)
            for number in range(self.n_members)
        ]

    def _utilities(self, tasks: ChoiceTasks) -> NDArray[np.floating[Any]]:
        utilities = [member.utilities(tasks) for member in self.members_]
        return np.asarray(np.mean(utilities, axis=0))

    def _gradient(self, tasks: ChoiceTasks, weights: NDArray[Any]) -> NDArray[Any] | None:
        found = [member.gradient(tasks, weights) for member in self.members_]
        known = [one for one in found if one is not None]
        return np.mean(known, axis=0) if len(known) == len(found) else None

    @property
    def probabilistic(self) -> bool:
        """Tell whether the members give probabilities: the mean of log-odds are log-odds too."""
        return self.members_[0].probabilistic

    def _member(self) -> Learner:
        return make_learner(self.learner, **self.parameters)

    def _state(self) -> Arrays:
        return {
            f"{number}.{name}": array
            for number, member in enumerate(self.members_)
            for name, array in member._state().items()
        }

    def _set_state(self, arrays: Arrays) -> None:
        self.members_ = []
        for number in range(self.n_members):
            member = self._member()
            member.kind_, member.n_features_in_ = self.kind_, self.n_features_in_
            start = f"{number}."
            member._set_state(
                {
                    name.removeprefix(start): array
                    for name, array in arrays.items()
                    if name.startswith(start)
                }
            )
            self.members_.append(member)
