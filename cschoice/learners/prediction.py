"""Predictions of tables like the one that a learner was fitted on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cschoice.evaluation.decisions import choose, probabilities
from cschoice.tasks import ChoiceTasks, frames
from cschoice.tasks.container import check_tasks, is_table
from cschoice.tasks.frames.encoding import Encoding, Feature

if TYPE_CHECKING:
    import pandas as pd

    from cschoice.learners.learner import Learner, Table


def encoding_of(learner: Learner) -> Encoding:
    """Return how tables become tasks of a learner; unless it knows, as in the Parquet format."""
    if learner.preparation_.encoding is not None:
        return learner.preparation_.encoding
    names = learner.feature_names
    described = frames.describe(task="task", chosen="chosen", features=names, kind=learner.kind_)
    return Encoding(described, tuple(Feature(name) for name in names))


def predict_table(learner: Learner, source: Table) -> pd.DataFrame:
    """Predict a data frame or file: one row per object on offer, in the order of its rows.

    Columns: what names the task and the object, ``utility``, ``probability`` if the learner
    defines one, and ``chosen``, 1 or 0.
    """
    import pandas as pd

    if not is_table(source):
        check_tasks(source)
    table = frames.encode(source, encoding_of(learner))
    tasks = ChoiceTasks.from_table(table, learner.kind_)
    utilities = learner.utilities(tasks)
    columns = table.labels() | {"utility": utilities}
    if learner.probabilistic:
        columns["probability"] = probabilities(tasks, utilities)
    chosen = choose(tasks, utilities, learner.preparation_.threshold)
    predicted = pd.DataFrame(columns | {"chosen": chosen.astype(np.int8)})
    return predicted.iloc[table.in_order].reset_index(drop=True)
