"""The base of all learners: parameters in the constructor, ``fit``, one utility per entry."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from cschoice.errors import InvalidParameter, InvalidTasks, NotFitted
from cschoice.evaluation.decisions import probabilities
from cschoice.space import Dimension, Limit, problems_of_parameters
from cschoice.tasks import ChoiceTasks, Kind

if TYPE_CHECKING:

    class BaseEstimator:
        """What learners use of scikit-learn's class, which has no types."""

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            """Return the parameters of the constructor."""
            ...

        def set_params(self, **params: Any) -> Self:
            """Change parameters of the constructor."""
            ...

        @classmethod
        def _get_param_names(cls) -> list[str]: ...
else:
    from sklearn.base import BaseEstimator

Arrays = Mapping[str, NDArray[Any]]


class Learner(BaseEstimator):
    """A context-dependent utility function that is learned from choice tasks.

    scikit-learn's contract: the constructor only stores its arguments, ``fit`` returns the
    learner, learned attributes end in an underscore, ``clone`` forgets them. A learner holds no
    threshold and no arg max (see ``decision``).

    A new one implements ``_fit`` and ``_utilities``, and ``_state`` and ``_set_state`` to be
    saved; the checks around them are here.
    """

    name: ClassVar[str]
    kinds: ClassVar[frozenset[Kind]] = frozenset(Kind)
    limits: ClassVar[Mapping[str, Limit]] = {}  # of every parameter of the constructor
    search_space: ClassVar[Mapping[str, Dimension]] = {}  # the part that is tuned
    constant: ClassVar[bool] = False  # meant to give all objects the same utility
    costly: ClassVar[bool] = False  # a fit takes much longer than proposing what to fit next

    on_epoch: Callable[[dict[str, float]], None] | None = None  # set it to follow the training

    kind_: Kind
    n_features_in_: int

    def tunable(self) -> Mapping[str, Dimension]:
        """Return the part of the search space that matters for this learner as it is set."""
        return self.search_space

    def fit(
        self,
        tasks: ChoiceTasks,
        y: None = None,  # noqa: ARG002 - scikit-learn passes it
        *,
        seed: int = 0,
        device: str = "cpu",
    ) -> Self:
        """Learn from the tasks; the same seed gives the same learner.

        The tasks hold what was chosen, so there is no ``y``.
        """
        self._accept(tasks)
        self._fit(tasks, seed, device)
        return self

    def _accept(self, tasks: ChoiceTasks) -> None:
        """Check parameters and tasks; keep the kind and number of features of the tasks."""
        self.check_parameters()
        if tasks.kind not in self.kinds:
            allowed = " and ".join(sorted(self.kinds))
            raise InvalidTasks([f"{self.name} learns {allowed} choice, the tasks are {tasks.kind}"])
        self.kind_, self.n_features_in_ = tasks.kind, tasks.n_features

    def check_parameters(self) -> None:
        """Refuse parameters outside their limits; scikit-learn's constructors only store them."""
        if problems := problems_of_parameters(self.limits, self.get_params(deep=False)):
            raise InvalidParameter("; ".join(problems))

    def utilities(self, tasks: ChoiceTasks) -> NDArray[np.float32]:
        """Return one utility per entry, in the order of the entries."""
        if not hasattr(self, "n_features_in_"):
            raise NotFitted(f"this {self.name} is not fitted yet: call fit first")
        if tasks.n_features != self.n_features_in_:
            expected = f"{self.name} was fitted on {self.n_features_in_} features"
            raise InvalidTasks([f"{expected}, got {tasks.n_features}"])
        return self._utilities(tasks).astype(np.float32, copy=False)

    @property
    def probabilistic(self) -> bool:
        """Tell whether utilities were learned by a likelihood, so that they mean probabilities."""
        return False

    def probabilities(self, tasks: ChoiceTasks) -> NDArray[np.float64]:
        """Return the probability of each entry to be chosen."""
        return probabilities(tasks, self.utilities(tasks))

    @abstractmethod
    def _fit(self, tasks: ChoiceTasks, seed: int, device: str) -> None: ...

    @abstractmethod
    def _utilities(self, tasks: ChoiceTasks) -> NDArray[np.floating[Any]]: ...

    @abstractmethod
    def _state(self) -> Arrays:
        """Return the learned attributes as named arrays."""

    @abstractmethod
    def _set_state(self, arrays: Arrays) -> None:
        """Restore the arrays of ``_state``; ``kind_`` and ``n_features_in_`` are already set."""
