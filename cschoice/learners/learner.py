"""The base of all learners: a utility that is learned, and all it takes to predict choices."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from cschoice.errors import InvalidParameter, InvalidTasks, InvalidUtilities, NotFitted
from cschoice.evaluation.decisions import Decision, choose, probabilities
from cschoice.evaluation.metrics import METRICS, TARGETS
from cschoice.learners.preparation import Preparation, held_out_rule
from cschoice.space import Dimension, Limit, problems_of_parameters
from cschoice.tasks import ChoiceTasks, Kind
from cschoice.tasks.given import check_tasks
from cschoice.tasks.scaling import Scaling

if TYPE_CHECKING:
    import pandas as pd

    class BaseEstimator:
        """The methods of scikit-learn's class that learners use; it has no types itself."""

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
Table: TypeAlias = "pd.DataFrame | str | PathLike[str]"


class Learner(BaseEstimator):
    """A context-dependent utility function that is learned from choice tasks.

    scikit-learn's contract: the constructor only stores its arguments, ``fit`` returns the
    learner, learned attributes end in an underscore, ``clone`` forgets them. Tasks take the place
    of X, and hold what was chosen: there is no y. Beside the utility, ``fit`` keeps a
    ``Preparation``: how tables become tasks, their scale, and the rule of subset choice.

    A new one implements ``_fit`` and ``_utilities``, and ``_state`` and ``_set_state`` to be
    saved; the checks around them are here.
    """

    name: ClassVar[str]
    kinds: ClassVar[frozenset[Kind]] = frozenset(Kind)
    limits: ClassVar[Mapping[str, Limit]] = {}  # of every parameter of the constructor
    search_space: ClassVar[Mapping[str, Dimension]] = {}  # the part that is tuned
    constant: ClassVar[bool] = False  # meant to give all objects the same utility
    guesses: ClassVar[bool] = False  # meant to learn nothing
    costly: ClassVar[bool] = False  # a fit takes much longer than proposing what to fit next
    standardize: ClassVar[bool] = False  # whether ``fit`` scales features; others do so inside

    on_epoch: Callable[[dict[str, float]], None] | None = None  # set it to follow the training

    kind_: Kind
    n_features_in_: int
    preparation_: Preparation = Preparation()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if not hasattr(cls, "name"):  # a name of its own is better: seeds depend on it
            cls.name = cls.__name__

    def tunable(self) -> Mapping[str, Dimension]:
        """Return the part of the search space that matters for this learner as it is set."""
        return self.search_space

    def fit(
        self,
        tasks: ChoiceTasks,
        y: None = None,
        *,
        seed: int = 0,
        device: str = "cpu",
        decision: Decision = "threshold",
    ) -> Self:
        """Learn from the tasks; the same seed gives the same learner.

        The utility is learned from all tasks. For subset choice, the threshold, or the calibration
        for ``decision="expected-f1"``, is tuned on tasks held out from further fits, with one to
        three tenths of the tasks.
        """
        if y is not None:
            raise InvalidParameter("the tasks hold what was chosen: give no y")
        self._accept(tasks)
        scaling = Scaling.learn(tasks.table, tasks.items) if self.standardize else None
        scaled = tasks.scaled(scaling) if scaling else tasks
        subset = tasks.kind is Kind.SUBSET
        rule = held_out_rule(self, scaled, seed, device, decision) if subset else None
        self.learn(scaled, seed=seed, device=device)
        self.preparation_ = Preparation.with_rule(rule, scaling, tasks.encoding)
        return self

    def learn(self, tasks: ChoiceTasks, *, seed: int = 0, device: str = "cpu") -> Self:
        """Learn the utility alone, from features as they are, without a threshold.

        For protocols that scale features and tune thresholds themselves.
        """
        self._accept(tasks)
        self._fit(tasks, seed, device)
        return self

    def utilities(self, tasks: ChoiceTasks) -> NDArray[np.float32]:
        """Return one utility per entry, in the order of the entries."""
        return self.precise_utilities(tasks).astype(np.float32, copy=False)

    def precise_utilities(self, tasks: ChoiceTasks) -> NDArray[np.floating[Any]]:
        """Return utilities as precisely as they are computed, for differences between them."""
        self._check_fitted()
        self._check_features(check_tasks(tasks))
        scaling = self.preparation_.scaling
        return self._utilities(tasks.scaled(scaling) if scaling else tasks)

    def gradient(
        self, tasks: ChoiceTasks, weights: NDArray[np.floating[Any]]
    ) -> NDArray[np.floating[Any]] | None:
        """Return the gradient of a weighted sum of utilities by every feature of every entry.

        None where the learner has no derivatives: then differences have to do.
        """
        self._check_fitted()
        self._check_features(check_tasks(tasks))
        scaling = self.preparation_.scaling
        slopes = self._gradient(tasks.scaled(scaling) if scaling else tasks, weights)
        return slopes if slopes is None or scaling is None else slopes / scaling.deviation

    def inclusive_values(self, tasks: ChoiceTasks) -> NDArray[np.float64] | None:
        """Return the expected largest utility of each task, up to a constant: the logsum.

        None where a choice is not that of the largest of random utilities, as with context.
        """
        self._check_fitted()
        self._check_features(check_tasks(tasks))
        scaling = self.preparation_.scaling
        return self._inclusive_values(tasks.scaled(scaling) if scaling else tasks)

    @overload
    def predict(self, source: ChoiceTasks) -> NDArray[np.bool_]: ...

    @overload
    def predict(self, source: Table) -> pd.DataFrame: ...

    def predict(self, source: ChoiceTasks | Table) -> NDArray[np.bool_] | pd.DataFrame:
        """Predict choices: of tasks one value per entry, of a table a data frame.

        The table is a data frame or the path of a CSV or Parquet file, with the columns of the
        table that was learned from; what was chosen is not needed. The data frame has a row per
        object on offer, with its task and name, ``utility``, ``probability`` where there is one,
        and ``chosen``, 1 or 0.
        """
        self._check_fitted()
        if isinstance(source, ChoiceTasks):
            return choose(source, self.utilities(source), self.preparation_.rule)
        from cschoice.learners.prediction import predict_table

        return predict_table(self, source)

    def predict_proba(self, tasks: ChoiceTasks) -> NDArray[np.float64]:
        """Return the probability of each entry to be chosen."""
        utilities = self.utilities(tasks)
        if not self.probabilistic:
            raise InvalidUtilities(
                f"the utilities of this {self.name} are not probabilities: it was not fitted by "
                "its likelihood"
            )
        return probabilities(tasks, utilities)

    def score(self, tasks: ChoiceTasks, y: None = None) -> float:  # noqa: ARG002 - scikit-learn's
        """Return the target metric: the accuracy of singleton choice, the F1-measure of subsets."""
        target = METRICS[TARGETS[check_tasks(tasks).kind]]
        return target(
            tasks, self.predict(tasks) if target.needs == "choices" else self.utilities(tasks)
        )

    def save(self, folder: str | Path) -> None:
        """Write the fitted learner as a folder that ``Predictor.load`` reads."""
        from cschoice.learners.saving import save

        save(self, folder)

    @property
    def probabilistic(self) -> bool:
        """Tell whether utilities were learned by a likelihood, so that they mean probabilities."""
        return False

    @property
    def feature_names(self) -> list[str]:
        """The names of the features that were learned from; x0, x1, … where they have none."""
        self._check_fitted()
        if self.preparation_.encoding is not None:
            return list(self.preparation_.encoding.names)
        return [f"x{number}" for number in range(self.n_features_in_)]

    def check_parameters(self) -> None:
        """Refuse parameters outside their limits; scikit-learn's constructors only store them."""
        if problems := problems_of_parameters(self.limits, self.get_params(deep=False)):
            raise InvalidParameter("; ".join(problems))

    def _accept(self, tasks: ChoiceTasks) -> None:
        """Check parameters and tasks; keep the kind and the features of the tasks."""
        self.check_parameters()
        if check_tasks(tasks).kind not in self.kinds:
            allowed = " and ".join(sorted(self.kinds))
            raise InvalidTasks([f"{self.name} learns {allowed} choice, the tasks are {tasks.kind}"])
        self.kind_, self.n_features_in_ = tasks.kind, tasks.n_features
        self.preparation_ = Preparation(encoding=tasks.encoding)

    def _check_fitted(self) -> None:
        if not hasattr(self, "n_features_in_"):
            raise NotFitted(f"this {self.name} is not fitted yet: call fit first")

    def _check_features(self, tasks: ChoiceTasks) -> None:
        """Refuse tasks of other features than those that were learned from."""
        if tasks.n_features != self.n_features_in_:
            expected = f"{self.name} was fitted on {self.n_features_in_} features"
            raise InvalidTasks([f"{expected}, got {tasks.n_features}"])
        named = tasks.encoding is not None and self.preparation_.encoding is not None
        if named and tasks.feature_names != self.feature_names:
            raise InvalidTasks(
                [
                    f"{self.name} was fitted on the features {', '.join(self.feature_names)}, got "
                    f"{', '.join(tasks.feature_names)}: predict(table) reads a table as the one "
                    "that was learned from"
                ]
            )

    @abstractmethod
    def _fit(self, tasks: ChoiceTasks, seed: int, device: str) -> None: ...

    @abstractmethod
    def _utilities(self, tasks: ChoiceTasks) -> NDArray[np.floating[Any]]: ...

    def _gradient(
        self,
        tasks: ChoiceTasks,  # noqa: ARG002
        weights: NDArray[np.floating[Any]],  # noqa: ARG002
    ) -> NDArray[np.floating[Any]] | None:
        """Return the gradient of a weighted sum of utilities, (n_entries, n_features), if known."""
        return None

    def _inclusive_values(
        self,
        tasks: ChoiceTasks,  # noqa: ARG002
    ) -> NDArray[np.float64] | None:
        return None

    @abstractmethod
    def _state(self) -> Arrays:
        """Return the learned attributes as named arrays."""

    @abstractmethod
    def _set_state(self, arrays: Arrays) -> None:
        """Restore the arrays of ``_state``; ``kind_`` and ``n_features_in_`` are already set."""
