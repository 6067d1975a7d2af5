"""svmlight files, in which LETOR and others keep graded objects: ``2 qid:7 1:0.5 3:-1 # note``."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cschoice.errors import InvalidFile
from cschoice.tasks.frames.unpacking import explained, unpacked

_FEATURE = re.compile(r"f(\d+)")


def open_svmlight(
    path: Path, features: Sequence[str]
) -> tuple[list[str], Callable[[Sequence[str], frozenset[str]], Any]]:
    """Return the columns label, qid, f1, f2, …, and a loader of some; features left out are 0.

    ``features`` that are called so are columns even if no line has them.
    """
    from sklearn.datasets import load_svmlight_file

    with explained(path), unpacked(path) as file:
        try:
            table, labels, tasks = load_svmlight_file(
                file, query_id=True, zero_based=True, dtype=np.float32
            )
        except ValueError as error:
            raise InvalidFile(f"{path} is no svmlight file: {error}") from error
    if len(tasks) != len(labels):
        raise InvalidFile(f"{path} has lines without qid: what says which lines are one task?")
    columns = table.tocsc()
    first = 0 if columns[:, :1].nnz else 1
    numbers = [int(found[1]) for name in features if (found := _FEATURE.fullmatch(name))]
    last = max([columns.shape[1] - 1, *numbers])
    names = ["label", "qid", *(f"f{k}" for k in range(first, last + 1))]

    def load(wanted: Sequence[str], measured: frozenset[str]) -> Any:  # noqa: ARG001
        import pyarrow as pa

        def column(name: str) -> Any:
            if name in ("label", "qid"):
                return labels if name == "label" else tasks
            number = int(name[1:])
            if number >= columns.shape[1]:
                return np.zeros(len(labels), dtype=np.float32)
            return columns[:, [number]].toarray().ravel()

        return pa.table({name: column(name) for name in wanted})

    return names, load
