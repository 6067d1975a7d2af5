"""The files of the Tag Genome, in both releases: tags, who used them, and relevances."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cschoice.datasets.raw.files import RawFile
from cschoice.datasets.raw.text_tables import Problem, Row, TableFile, repeated
from cschoice.errors import DamagedData

Tags = NDArray[np.int64]  # their numbers, in the order of the features
Files = Mapping[str, RawFile]

_MOST_RELEVANCES = 2**28  # in memory; the largest release has 16 million
_ROOM = 1_024  # movies to begin with
_SEPARATED_BY_TABS: Mapping[str, Any] = {"delimiter": "\t", "quote": None}


def popularities(files: Files) -> tuple[Tags, NDArray[np.int64]]:
    """Return the tags, and how many people used each of them.

    The separate release has the numbers; the one with the ratings has every use of a tag.
    """
    if "applied" not in files:
        columns = ("tagId", "tag", "popularity")
        table = TableFile(
            files["tags"], {"tagId": int, "popularity": int}, columns, **_SEPARATED_BY_TABS
        )
        tags, popularity = _columns(table)
        return _checked(tags, table), popularity
    table = TableFile(files["tags"], {"tagId": int, "tag": str})
    tags, names = _columns(table)
    number = {name.strip().lower(): k for k, name in enumerate(names.tolist())}
    uses = _uses(TableFile(files["applied"], {"userId": int, "tag": str}), number)
    return _checked(tags, table), np.bincount(uses[:, 0], minlength=len(tags))


def _columns(table: TableFile) -> list[NDArray[Any]]:
    batches = list(table.batches())
    if not batches:
        raise DamagedData(f"{table.file} has no rows: get it again")
    return [np.concatenate([batch[name] for batch in batches]) for name in table.columns]


def _uses(table: TableFile, number: Mapping[str, int]) -> NDArray[np.int64]:
    """Return each pair (tag, user) once; tags that are not in the genome are left out."""
    pairs = [np.zeros((0, 2), dtype=np.int64)]
    for batch in table.batches():
        tag = np.array([number.get(name.strip().lower(), -1) for name in batch["tag"].tolist()])
        used = np.stack([tag, batch["userId"]], axis=1)[tag >= 0]
        pairs.append(np.unique(used, axis=0))
    return np.unique(np.concatenate(pairs), axis=0)


def _checked(tags: Tags, table: TableFile) -> Tags:
    if len(np.unique(tags)) < len(tags):
        raise table.first_error(repeated("tagId"))
    return tags


def relevances(files: Files, tags: Tags) -> NDArray[np.float32]:
    """Return the relevance of every tag for every movie, movies in the order of their numbers."""
    columns = {"movieId": int, "tagId": int, "relevance": float}
    table = TableFile(files["scores"], columns)
    if "applied" not in files:
        table = TableFile(files["scores"], columns, tuple(columns), **_SEPARATED_BY_TABS)
    order = np.argsort(tags)
    matrix = np.full((_ROOM, len(tags)), np.nan, dtype=np.float32)
    rows: dict[int, int] = {}  # of the movies
    n_relevances = 0
    for batch in table.batches():
        tag = np.minimum(np.searchsorted(tags, batch["tagId"], sorter=order), len(tags) - 1)
        right = (batch["relevance"] >= 0) & (batch["relevance"] <= 1)
        if not (right & (tags[order[tag]] == batch["tagId"])).all():
            raise table.first_error(_unlike(set(tags.tolist())))
        movies, movie = np.unique(batch["movieId"], return_inverse=True)
        place = np.array([rows.setdefault(number, len(rows)) for number in movies.tolist()])
        matrix = _with_room(matrix, len(rows), table)
        matrix[place[movie], order[tag]] = batch["relevance"]
        n_relevances += len(tag)
    numbers = sorted(rows)
    matrix = matrix[[rows[number] for number in numbers]]
    _check_complete(table, matrix, numbers, tags, n_relevances)
    return matrix


def _unlike(tags: set[int]) -> Problem:
    def problem(row: Row) -> str | None:
        if row["tagId"] not in tags:
            return f"tag {row['tagId']} is not in the list of tags"
        if not 0 <= row["relevance"] <= 1:
            return f"relevance must be between 0 and 1, got {row['relevance']}"
        return None

    return problem


def _with_room(matrix: NDArray[np.float32], n_rows: int, table: TableFile) -> NDArray[np.float32]:
    if n_rows <= len(matrix):
        return matrix
    n_rows = max(n_rows, 2 * len(matrix))
    if n_rows * matrix.shape[1] > _MOST_RELEVANCES:
        raise DamagedData(
            f"{table.file} has more than {len(matrix):,} movies: is it the right file?"
        )
    more = np.full((n_rows - len(matrix), matrix.shape[1]), np.nan, dtype=np.float32)
    return np.concatenate([matrix, more])


def _check_complete(
    table: TableFile, matrix: NDArray[np.float32], movies: list[int], tags: Tags, n_read: int
) -> None:
    """Refuse a matrix with gaps, and one with a relevance that was read twice."""
    if not movies:
        raise DamagedData(f"{table.file} has no rows: get it again")
    gaps = np.isnan(matrix)
    if gaps.any():
        row, column = np.argwhere(gaps)[0]
        raise DamagedData(
            f"{table.file}: movie {movies[row]} has no relevance for tag {tags[column]}: "
            "get it again"
        )
    if n_read > matrix.size:
        raise table.first_error(repeated("movieId", "tagId"))
