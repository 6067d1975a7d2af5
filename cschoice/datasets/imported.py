"""Imported datasets: tables of one's own, found by name in the folder ``data``.

data/NAME/
  tasks.parquet  all tasks, in the format of every other dataset
  cschoice.json  their properties without reading them, and the encoding of the table
  folds.parquet  where folds were given: the one in which each task is tested, -1 for none
  estimates.yaml the specification of its logit models, where one was given; people may edit it

The hash of the content is part of every job on the dataset: imported again with other content,
old results are stale.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cschoice.datasets.source import check_limits
from cschoice.errors import DataUnavailable, FileNotUsable, InvalidFile, InvalidParameter
from cschoice.io.documents import from_sealed, sealed, to_json
from cschoice.io.files import check_regular, filling, read_regular
from cschoice.seeding import seed_for
from cschoice.space import Flag, Limit, Optional, Text, Whole
from cschoice.tasks import ChoiceTasks, Kind
from cschoice.tasks.frames import Encoding
from cschoice.tasks.splits import at_most, fold_numbers

FOLDER = Path("data")
FORMAT = "cschoice-dataset"
VERSION = 2  # 1: every alternative had a constant
SPECIFICATION = "estimates.yaml"
_TASKS, _DESCRIPTION, _FOLDS = "tasks.parquet", "cschoice.json", "folds.parquet"

_HASHED_AT_ONCE = 1_000_000  # objects

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class DatasetDescription:
    """The properties of an imported dataset that are known without reading its tasks."""

    format: str
    version: int
    source: str  # the name of the file it came from
    kind: Kind
    n_tasks: int
    smallest: int  # number of objects of a task
    largest: int
    features: tuple[str, ...]
    n_folds: int
    fold_sizes: tuple[int, ...]  # tasks tested in each, with seed 0
    content: str  # hash of tasks and encoding
    encoding: Encoding
    fold_names: tuple[str, ...] = ()  # where folds were given; else tasks are dealt out to them

    @property
    def n_features(self) -> int:
        """Return the number of features of an object."""
        return len(self.features)

    @property
    def n_objects(self) -> int | tuple[int, int]:
        """Return the number of objects of a task, or the smallest and largest."""
        return _range([self.smallest, self.largest])

    @property
    def n_train(self) -> int | tuple[int, int]:
        """Return the number of training tasks per fold."""
        return _range([self.n_tasks - size for size in self.fold_sizes])

    @property
    def n_test(self) -> int | tuple[int, int]:
        """Return the number of test tasks per fold."""
        return _range(self.fold_sizes)


@dataclass(frozen=True, kw_only=True)
class ImportedDataset:
    """An imported dataset; outer folds are a cross-validation over its tasks or its groups."""

    name: str
    content: str
    n_folds: int = 5
    max_train: int | None = None  # tasks of a fold, drawn at random; None: all
    max_test: int | None = None
    standardize: bool = True

    limits: ClassVar[Mapping[str, Limit]] = {
        "name": Text(),
        "content": Text(),
        "n_folds": Whole(1),
        "max_train": Optional(Whole(1)),
        "max_test": Optional(Whole(1)),
        "standardize": Flag(),
    }

    @property
    def kind(self) -> Kind:
        """Return the kind of choice that its tasks ask for."""
        return describe_dataset(self.name).kind

    def __post_init__(self) -> None:
        """Refuse a name that leads elsewhere than below the folder of imported datasets."""
        check_limits(self)
        check_name(self.name, ())

    def fold(self, index: int, seed: int) -> tuple[ChoiceTasks, ChoiceTasks]:
        """Return the train and test tasks of a fold; a seed deals the same folds to everyone."""
        if not 0 <= index < self.n_folds:
            allowed = f"0 to {self.n_folds - 1}"
            raise InvalidParameter(f"dataset '{self.name}' has folds {allowed}, got {index}")
        tasks = self.tasks()
        tested = self._given_folds()
        if tested is None:
            tested = fold_numbers(tasks, self.n_folds, seed_for(seed, "folds", dataset=self.name))
        rng = np.random.default_rng(seed_for(seed, "sample", dataset=self.name, fold=index))
        return (
            tasks[at_most(self.max_train, np.flatnonzero(tested != index), rng)],
            tasks[at_most(self.max_test, np.flatnonzero(tested == index), rng)],
        )

    def every_task(self, seed: int) -> ChoiceTasks:  # noqa: ARG002 - nothing is drawn
        """Return all tasks, to learn from where nothing is tested."""
        return self.tasks()

    def tasks(self) -> ChoiceTasks:
        """Return all tasks, as they were imported."""
        described = describe_dataset(self.name)
        if described.content != self.content:
            raise DataUnavailable(
                f"dataset '{self.name}' was imported again after this job was planned: run again"
            )
        path = FOLDER / self.name / _TASKS
        tasks = ChoiceTasks.from_parquet(path)
        if content_hash(tasks, described.encoding, self._given_folds()) != described.content:
            raise InvalidFile(
                f"{path} does not belong to {_DESCRIPTION} beside it: import it again"
            )
        return tasks.with_arrays(encoding=described.encoding)

    def _given_folds(self) -> Numbers | None:
        if not describe_dataset(self.name).fold_names:
            return None
        import pyarrow as pa
        import pyarrow.parquet as pq

        path = FOLDER / self.name / _FOLDS
        try:
            check_regular(path)
            folds: Numbers = pq.read_table(path)["fold"].to_numpy()
        except (pa.ArrowException, OSError, KeyError) as error:
            raise InvalidFile(f"{path} cannot be read: import the dataset again") from error
        return folds


def store_dataset(
    name: str,
    tasks: ChoiceTasks,
    encoding: Encoding,
    n_folds: int,
    source: str,
    given: tuple[Numbers, Sequence[str]] | None = None,
    specification: str = "",
) -> DatasetDescription:
    """Store imported tasks under a name, with the folds given if any; all files or none appear."""
    folds: Numbers
    if given is None:
        folds = fold_numbers(tasks, n_folds, seed_for(0, "folds", dataset=name))
    else:
        folds, n_folds = given[0], len(given[1])
    described = DatasetDescription(
        format=FORMAT,
        version=VERSION,
        source=source,
        kind=tasks.kind,
        n_tasks=len(tasks),
        smallest=int(tasks.sizes.min()),
        largest=int(tasks.sizes.max()),
        features=tuple(encoding.names),
        n_folds=n_folds,
        fold_sizes=tuple(np.bincount(folds[folds >= 0]).tolist()),
        content=content_hash(tasks, encoding, folds if given else None),
        encoding=encoding,
        fold_names=tuple(given[1]) if given else (),
    )
    with filling(FOLDER / name) as temporary:
        tasks.to_parquet(temporary / _TASKS, {"dataset": name, "source": source})
        text = json.dumps(sealed(asdict(described)), indent=2, ensure_ascii=False)
        (temporary / _DESCRIPTION).write_text(text + "\n", encoding="utf-8")
        if specification:
            (temporary / SPECIFICATION).write_text(specification, encoding="utf-8")
        if given is not None:
            import pyarrow as pa
            import pyarrow.parquet as pq

            pq.write_table(pa.table({"fold": folds}), temporary / _FOLDS)
    return described


def check_name(name: str, taken: Collection[str]) -> None:
    """Refuse a name that cannot be a folder's, or is a built-in dataset's."""
    if not _is_name(name):
        raise InvalidParameter(f"a name has letters, digits, '-', '_' and '.', got '{name}'")
    if name in taken:
        raise InvalidParameter(f"'{name}' is the name of a built-in dataset: choose another")


def _is_name(name: object) -> bool:
    return isinstance(name, str) and re.fullmatch(r"[A-Za-z0-9][\w.-]{0,199}", name) is not None


def imported_names() -> list[str]:
    """Return the names of the datasets that were imported in this folder."""
    found = (path.parent.name for path in FOLDER.glob(f"*/{_DESCRIPTION}"))
    return sorted(name for name in found if _is_name(name))


def is_imported(name: str) -> bool:
    """Return whether a dataset of that name was imported in this folder."""
    return _is_name(name) and os.path.lexists(FOLDER / name / _DESCRIPTION)


def describe_dataset(name: str) -> DatasetDescription:
    """Return the description of an imported dataset."""
    path = FOLDER / name / _DESCRIPTION
    try:
        status = path.stat()
        return _read_description(Path.cwd(), path, status.st_mtime_ns, status.st_size)
    except FileNotFoundError:
        raise DataUnavailable(f"{path} is not there: import the dataset again") from None
    except OSError as error:
        raise FileNotUsable(f"cannot read {path}: {error.strerror or error}") from error


@lru_cache(maxsize=64)  # a job asks for it a dozen times
def _read_description(folder: Path, path: Path, *version: int) -> DatasetDescription:  # noqa: ARG001
    """Read a description, once per folder, path and version (time and size) of the file."""
    described: DatasetDescription = from_sealed(DatasetDescription, read_regular(path), path)
    if described.format != FORMAT or described.version != VERSION:
        raise InvalidFile(f"{path} is of another version: import the dataset again")
    return described


def content_hash(
    tasks: ChoiceTasks, encoding: Encoding | None, folds: Numbers | None = None
) -> str:
    """Return a hash of everything that can be learned from tasks."""
    described = None if encoding is None else asdict(encoding)
    digest = hashlib.blake2b(to_json([tasks.kind, described]).encode(), digest_size=16)
    for start in range(0, tasks.n_entries, _HASHED_AT_ONCE):
        digest.update(tasks.table[tasks.items[start : start + _HASHED_AT_ONCE]].tobytes())
    for array in (tasks.offsets, tasks.chosen, tasks.groups, tasks.weights, folds):
        digest.update(b"" if array is None else np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _range(values: Collection[int]) -> int | tuple[int, int]:
    return max(values) if min(values) == max(values) else (min(values), max(values))
