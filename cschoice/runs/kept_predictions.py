"""Kept predictions of test tasks: other metrics of them need no new training."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cschoice.errors import InvalidFile
from cschoice.evaluation.metrics import METRICS
from cschoice.evaluation.scores import evaluate
from cschoice.learners.saving import load
from cschoice.runs.job_files import MODEL, PREDICTIONS, verified
from cschoice.tasks import ChoiceTasks, Kind

Scores = dict[str, float | None]


def has_predictions(folder: Path) -> bool:
    """Return whether the predictions of a job were kept in its folder."""
    return (folder / PREDICTIONS).is_file()


def evaluate_kept(folder: Path, metrics: Collection[str] = METRICS) -> Scores:
    """Return metrics of the predictions in a job's folder, as far as they apply.

    The model beside them knows the kind of choice, the rule of subset choice, and whether its
    utilities mean probabilities.
    """
    for path in sorted((folder / MODEL).glob("[!.]*")):
        verified(folder, f"{MODEL}/{path.name}")
    learner = load(folder / MODEL)
    tasks, utilities = read_predictions(folder, learner.kind_)
    rule = learner.preparation_.rule
    return evaluate(tasks, utilities, rule, learner.probabilistic, metrics)


def read_predictions(folder: Path, kind: Kind) -> tuple[ChoiceTasks, NDArray[np.float32]]:
    """Return the test tasks, which have no features here, and the utility of each entry."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    content = verified(folder, PREDICTIONS)
    try:
        table = pq.read_table(pa.BufferReader(content), columns=["task", "chosen", "utility"])
        numbers, chosen, utilities = (table[name].to_numpy() for name in table.column_names)
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        why = " ".join(str(error).split())[:200]
        path = folder / PREDICTIONS
        raise InvalidFile(f"{path} cannot be read ({why}): run the job again") from error
    starts = np.flatnonzero(np.diff(numbers, prepend=-1))
    tasks = ChoiceTasks(
        np.zeros((1, 1), dtype=np.float32),
        np.zeros(len(numbers), dtype=np.int64),
        np.append(starts, len(numbers)),
        chosen.astype(bool),
        kind,
    )
    return tasks, utilities
