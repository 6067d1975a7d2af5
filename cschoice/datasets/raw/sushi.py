"""SUSHI: choose the most preferred of the ten sushi that a person ranked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cschoice.datasets.raw.catalogue import RAW_DATA
from cschoice.datasets.raw.files import RawFile
from cschoice.datasets.raw.observed_choices import (
    Numbers,
    ShuffleSplits,
    WholeTasks,
    with_largest_chosen,
)
from cschoice.space import Flag, Limit
from cschoice.tasks import ChoiceTasks, Kind
from cschoice.tasks.ragged import starts_of

# The items of set A have numbers of their own; these are their numbers in set B, which are those
# of the item table.
_A_IN_B = (0, 1, 2, 3, 4, 6, 7, 8, 26, 29)

_FEATURES = (
    "style",
    "major group",
    "minor group",
    "oiliness",
    "frequency eaten",
    "price",
    "frequency sold",
)
_MINOR = _FEATURES.index("minor group")
_N_CATEGORIES = {"style": 2, "major group": 2, "minor group": 12}

Table = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class Sushi(ShuffleSplits):
    """The rankings of both sets; the text's split is 80 % / 20 %, the table's 70 % / 30 %."""

    train_share: float = 0.8
    one_hot: bool = False  # of the minor group, else a number

    kind: ClassVar[Kind] = Kind.SINGLETON
    limits: ClassVar[Mapping[str, Limit]] = {**ShuffleSplits.limits, "one_hot": Flag()}

    def whole(self) -> WholeTasks:
        """Read the rankings; objects stand in the order of the item table, not of preference."""
        files = RAW_DATA["sushi"].find()
        table = _read_items(files["items"])
        rankings = [
            *_read_orders(files["orders-a"], _A_IN_B),
            *_read_orders(files["orders-b"], range(len(table))),
        ]
        sizes = np.array([len(ranking) for ranking in rankings])
        tasks = ChoiceTasks.trusted(
            table=_one_hot(table) if self.one_hot else table,
            items=np.concatenate([np.sort(ranking) for ranking in rankings]),
            offsets=starts_of(sizes),
            chosen=np.zeros(sizes.sum(), dtype=bool),
            kind=self.kind,
        )
        # The position in the ranking of each object in order: 0 is the most preferred.
        place = np.concatenate([np.argsort(ranking) for ranking in rankings])
        relevance = (-place).astype(np.float32)
        return WholeTasks(with_largest_chosen(tasks, relevance), relevance)

    def n_samples(self, sizes: Numbers) -> Numbers:
        """Return one: rankings are larger than a task only if ``n_objects`` says so."""
        return np.ones_like(sizes)


def _read_items(file: RawFile) -> Table:
    """Read ``id TAB name TAB seven features``; items are numbered from 0, in order."""
    rows: list[list[float]] = []
    for number, line in file.lines():
        if line.startswith(b"#"):
            continue
        words = line.decode("utf-8", errors="replace").rstrip("\r\n").split("\t")
        if len(words) != 2 + len(_FEATURES):
            expected = f"an id, a name and {len(_FEATURES)} features, separated by tabs"
            raise file.malformed(number, f"expected {expected}, got {len(words)} fields")
        if words[0].strip() != str(len(rows)):
            raise file.malformed(number, f"expected item {len(rows)}, got '{words[0]}'")
        pairs = zip(_FEATURES, words[2:], strict=True)
        rows.append([_feature(file, number, name, text) for name, text in pairs])
    if len(rows) <= max(_A_IN_B):
        raise file.malformed(
            number if rows else 1, f"{len(rows)} items; orders need at least {max(_A_IN_B) + 1}"
        )
    return np.array(rows, dtype=np.float32)


def _feature(file: RawFile, line: int, name: str, text: str) -> float:
    value = file.number(line, name, text)
    n_categories = _N_CATEGORIES.get(name)
    if n_categories and value not in range(n_categories):
        raise file.malformed(line, f"{name} must be 0 to {n_categories - 1}, got '{text}'")
    return value


def _read_orders(file: RawFile, items: Sequence[int]) -> Iterator[Numbers]:
    """Read rankings, ``0 length id id …`` with the most preferred first, as item numbers."""
    lines = file.lines()
    number, header = next(lines, (1, b""))
    if header.split() != [str(len(items)).encode(), b"1"]:
        raise file.malformed(number, f"expected '{len(items)} 1', got {_shown(header)}")
    names = {str(name).encode(): item for name, item in enumerate(items)}
    for number, line in lines:
        words = line.split()
        if len(words) < 4 or words[0] != b"0" or words[1] != str(len(words) - 2).encode():
            problem = f"expected '0 length id id …' with that many ids, got {_shown(line)}"
            raise file.malformed(number, problem)
        unknown = [word.decode("utf-8", "replace") for word in words[2:] if word not in names]
        if unknown:
            raise file.malformed(number, f"ids are 0 to {len(items) - 1}, got '{unknown[0]}'")
        if len(set(words[2:])) < len(words) - 2:
            raise file.malformed(number, f"an id stands twice in {_shown(line)}")
        yield np.array([names[word] for word in words[2:]])


def _shown(line: bytes) -> str:
    text = " ".join(line.decode("utf-8", errors="replace").split())
    return f"'{text[:40]}…'" if len(text) > 40 else f"'{text}'"


def _one_hot(table: Table) -> Table:
    """Put one feature per minor group at the end instead of its number."""
    groups = np.eye(_N_CATEGORIES["minor group"], dtype=np.float32)[table[:, _MINOR].astype(int)]
    return np.concatenate([np.delete(table, _MINOR, axis=1), groups], axis=1)
