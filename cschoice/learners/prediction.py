"""Predictions of tables like the one that a learner was fitted on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cschoice.evaluation.decisions import choose, probabilities
from cschoice.tasks import ChoiceTasks, frames
from cschoice.tasks.frames.encoding import Encoding
from cschoice.tasks.given import check_tasks, is_table

if TYPE_CHECKING:
    import pandas as pd

    from cschoice.learners.learner import Learner, Table


_AT_ONCE = 200_000  # objects


def encoding_of(learner: Learner) -> Encoding:
    """Return how tables become tasks of a learner; unless it knows, as in the Parquet format."""
    if learner.preparation_.encoding is not None:
        return learner.preparation_.encoding
    return frames.plain(learner.feature_names, learner.kind_)


def predict_table(learner: Learner, source: Table) -> pd.DataFrame:
    """Predict a data frame or file: one row per object on offer, in the order of its rows.

    Columns: what names the task and the object, ``utility``, ``probability`` if the learner
    defines one, and ``chosen``, 1 or 0.
    """
    import pandas as pd

    if not is_table(source):
        check_tasks(source)
    table = frames.encode(source, encoding_of(learner))
    tasks, names, order = (
        ChoiceTasks.from_table(table, learner.kind_),
        table.labels(),
        table.in_order,
    )
    del table  # it may be large
    parts = [_predicted(learner, part) for part in tasks.pieces(_AT_ONCE)]
    values = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    del tasks, parts
    predicted = pd.DataFrame(names | values, copy=False)
    if np.array_equal(order, np.arange(len(order))):
        return predicted
    return predicted.iloc[order].reset_index(drop=True)


def _predicted(learner: Learner, tasks: ChoiceTasks) -> dict[str, NDArray[Any]]:
    """Return the predictions of some tasks, one value per object."""
    values: dict[str, NDArray[Any]] = {"utility": learner.utilities(tasks)}
    if learner.probabilistic:
        values["probability"] = probabilities(tasks, values["utility"])
    chosen = choose(tasks, values["utility"], learner.preparation_.rule)
    return values | {"chosen": chosen.astype(np.int8)}
