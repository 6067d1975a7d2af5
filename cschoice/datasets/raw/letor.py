"""LETOR 4.0: choose the relevant documents of a query, or the most relevant one."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cschoice.datasets.raw.cache import cached, load_array, save_arrays
from cschoice.datasets.raw.catalogue import RAW_DATA
from cschoice.datasets.raw.files import RawFile
from cschoice.datasets.raw.observed_choices import (
    Numbers,
    ObservedChoices,
    WholeTasks,
    with_largest_chosen,
)
from cschoice.errors import DamagedData, InvalidParameter
from cschoice.space import Limit, OneOf
from cschoice.tasks import ChoiceTasks, Kind

N_FEATURES = 46
_LINES_AT_ONCE = 5_000

Rows = NDArray[np.float64]  # relevance, query, then the features
Line = tuple[int, bytes]


@dataclass(frozen=True, kw_only=True)
class _Letor(ObservedChoices):
    """Queries in five parts, S1 to S5: fold i tests on one of them and trains on the others."""

    year: int = 2008

    suffix: ClassVar[str]
    limits: ClassVar[Mapping[str, Limit]] = {
        **ObservedChoices.limits,
        "year": OneOf((2007, 2008)),
    }
    grades: ClassVar[tuple[int, ...] | None]  # the relevances allowed; None: any number

    def whole(self) -> WholeTasks:
        """Read the queries with their documents, from the cache after the first time."""
        files = RAW_DATA[f"letor-mq{self.year}{self.suffix}"].find()
        about = {"format": 1, "grades": self.grades}

        def make(folder: Path) -> None:
            save_arrays(folder, _parse(files, self.grades))

        folder = cached(f"letor-mq{self.year}{self.suffix}", about, files.values(), make)
        relevance, offsets = load_array(folder, "relevance"), load_array(folder, "offsets")
        tasks = ChoiceTasks.trusted(
            table=load_array(folder, "features"),
            items=np.arange(len(relevance)),
            offsets=offsets,
            chosen=relevance >= 1,
            kind=self.kind,
        )
        return self._choices(WholeTasks(tasks, relevance, load_array(folder, "part")))

    def _choices(self, whole: WholeTasks) -> WholeTasks:
        raise NotImplementedError

    def split(self, whole: WholeTasks, index: int, seed: int) -> tuple[Numbers, Numbers]:  # noqa: ARG002
        """Test on the part of that number; the files decide, not the seed."""
        assert whole.part is not None
        n_parts = int(whole.part.max()) + 1
        if not 0 <= index < n_parts:
            raise InvalidParameter(f"LETOR has the folds 0 to {n_parts - 1}, got {index}")
        in_test = whole.part == index
        return np.flatnonzero(~in_test), np.flatnonzero(in_test)


@dataclass(frozen=True, kw_only=True)
class LetorSubset(_Letor):
    """The supervised sets: documents of relevance 1 or 2 are chosen, where there are any."""

    kind: ClassVar[Kind] = Kind.SUBSET
    suffix: ClassVar[str] = ""
    grades: ClassVar[tuple[int, ...] | None] = (0, 1, 2)

    def _choices(self, whole: WholeTasks) -> WholeTasks:
        tasks, part = whole.tasks, whole.part
        assert part is not None
        answered = np.flatnonzero(tasks.reduce(np.logical_or, tasks.chosen))
        return WholeTasks(tasks[answered], part=part[answered])

    def n_samples(self, sizes: Numbers) -> Numbers:
        """Return the numbers behind the paper's counts, for example 1,187 in fold 0 of MQ2008."""
        return sizes // self.n_objects + 2


@dataclass(frozen=True, kw_only=True)
class LetorList(_Letor):
    """The listwise sets: the document with the largest relevance is chosen."""

    kind: ClassVar[Kind] = Kind.SINGLETON
    suffix: ClassVar[str] = "-list"
    grades: ClassVar[tuple[int, ...] | None] = None

    def _choices(self, whole: WholeTasks) -> WholeTasks:
        assert whole.relevance is not None
        tasks = with_largest_chosen(whole.tasks, whole.relevance)
        return WholeTasks(tasks, whole.relevance, whole.part)

    def n_samples(self, sizes: Numbers) -> Numbers:
        """Return about the paper's counts: 72 of a query with 440 documents."""
        return sizes // 6


def _parse(files: Mapping[str, RawFile], grades: Sequence[int] | None) -> dict[str, NDArray[Any]]:
    """Read all parts; the documents of a query stand together, in the order of the file."""
    relevances, features, sizes, parts = [], [], [], []
    for part, file in enumerate(files.values()):
        relevance, query, x = _read(file, grades)
        _, first, number, size = np.unique(
            query, return_index=True, return_inverse=True, return_counts=True
        )
        together = np.argsort(first[number], kind="stable")
        relevances.append(relevance[together])
        features.append(x[together])
        sizes.append(size[np.argsort(first)])
        parts.append(np.full(len(size), part))
    return {
        "features": np.concatenate(features),
        "relevance": np.concatenate(relevances),
        "offsets": np.concatenate([[0], np.cumsum(np.concatenate(sizes))]),
        "part": np.concatenate(parts),
    }


def _read(
    file: RawFile, grades: Sequence[int] | None
) -> tuple[NDArray[np.float32], Numbers, NDArray[np.float32]]:
    """Read svmlight lines, ``relevance qid:query 1:value … 46:value #comment``.

    Returns relevances, queries and features.
    """
    lines = file.lines()
    relevance, query, features = [], [], []
    while chunk := list(islice(lines, _LINES_AT_ONCE)):
        rows = _regular(chunk)
        if rows is None or (grades and not np.isin(rows[:, 0], grades).all()):
            rows = np.array([_row(file, number, line, grades) for number, line in chunk])
        relevance.append(rows[:, 0].astype(np.float32))
        query.append(rows[:, 1].astype(np.int64))
        features.append(rows[:, 2:].astype(np.float32))
    if not query:
        raise DamagedData(f"{file} is empty: get it again")
    return np.concatenate(relevance), np.concatenate(query), np.concatenate(features)


def _regular(chunk: Sequence[Line]) -> Rows | None:
    """Read lines that have every feature once and in order, all at once; None if some have not."""
    text = b" ".join(line.partition(b"#")[0] for _, line in chunk)
    if text.count(b" qid:") != len(chunk):
        return None
    text = text.replace(b" qid:", b" ").replace(b":", b" ")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            numbers = np.fromstring(text, sep=" ")
        except (ValueError, DeprecationWarning):
            return None
    if numbers.size != len(chunk) * (2 + 2 * N_FEATURES) or not np.isfinite(numbers).all():
        return None
    rows = numbers.reshape(len(chunk), -1)
    if not (rows[:, 2::2] == np.arange(1, N_FEATURES + 1)).all() or (rows[:, 1] % 1).any():
        return None
    return np.concatenate([rows[:, :2], rows[:, 3::2]], axis=1)


def _row(file: RawFile, number: int, line: bytes, grades: Sequence[int] | None) -> Rows:
    """Read one line, features left out being 0; ``DamagedData`` names its first mistake."""
    words = line.partition(b"#")[0].decode("ascii", errors="replace").split()
    if len(words) < 2 or not words[1].startswith("qid:"):
        raise file.malformed(number, "expected 'relevance qid:query 1:value …'")
    row = np.full(2 + N_FEATURES, np.nan)
    row[0] = _number(file, number, "relevance", words[0])
    row[1] = _number(file, number, "query", words[1].removeprefix("qid:"))
    if row[1] % 1:
        raise file.malformed(number, f"query must be an integer, got '{words[1]}'")
    if grades and row[0] not in grades:
        allowed = ", ".join(map(str, grades))
        raise file.malformed(number, f"relevance must be one of {allowed}, got {words[0]}")
    for word in words[2:]:
        index, colon, value = word.partition(":")
        if not colon or not index.isdigit() or not 1 <= int(index) <= N_FEATURES:
            allowed = f"index:value with an index from 1 to {N_FEATURES}"
            raise file.malformed(number, f"features are {allowed}, got '{word}'")
        if not np.isnan(row[1 + int(index)]):
            raise file.malformed(number, f"feature {index} for the second time")
        row[1 + int(index)] = _number(file, number, f"feature {index}", value)
    return np.asarray(np.nan_to_num(row))


def _number(file: RawFile, line: int, name: str, text: str) -> float:
    if text == "NULL":
        raise file.malformed(line, f"{name} is NULL: use the QueryLevelNorm version of the set")
    return file.number(line, name, text)
