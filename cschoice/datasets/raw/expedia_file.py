"""Expedia's train.csv, ten million rows: streamed twice, to count gaps and to fill them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cschoice.datasets.raw.cache import save_arrays
from cschoice.datasets.raw.files import RawFile
from cschoice.datasets.raw.text_tables import Batch, Row, TableFile
from cschoice.errors import DamagedData
from cschoice.tasks.ragged import starts_of

POSITION = "position"  # where on the page a hotel was shown; the last feature that is kept

_HOTEL = (
    "visitor_hist_starrating",
    "visitor_hist_adr_usd",
    "prop_starrating",
    "prop_review_score",
    "prop_brand_bool",
    "prop_location_score1",
    "prop_location_score2",
    "prop_log_historical_price",
    "price_usd",
    "promotion_flag",
    "srch_length_of_stay",
    "srch_booking_window",
    "srch_adults_count",
    "srch_children_count",
    "srch_room_count",
    "srch_saturday_night_bool",
    "srch_query_affinity_score",
    "orig_destination_distance",
    "random_bool",
)
_COMPETITORS = tuple(
    f"comp{k}_{what}" for k in range(1, 9) for what in ("rate", "inv", "rate_percent_diff")
)
# All columns but ids, the date, and those known only after the search.
FEATURES = (*_HOTEL, *_COMPETITORS, POSITION)

_CHOICES = {"srch_id": int, "click_bool": int, "booking_bool": int}
_MISSING = ("NULL", "")
_MOST_MISSING = 0.5  # share of the rows


@dataclass(frozen=True)
class _Summary:
    """The result of the first pass."""

    n_rows: int
    fills: Mapping[str, float]  # of the features that are kept


def make(file: RawFile, folder: Path) -> None:
    """Write the features of all hotels, the searches they belong to, and the choices."""
    summary = _summarize(file)
    searches = np.empty(summary.n_rows, dtype=np.int64)
    relevance = np.empty(summary.n_rows, dtype=np.int8)
    names = list(summary.fills)
    table = _table(file, names, _CHOICES)
    fills = np.array([summary.fills[name] for name in names], dtype=np.float32)
    start = 0
    with (folder / "features.npy").open("wb") as features:
        header = {"descr": "<f4", "fortran_order": False, "shape": (summary.n_rows, len(names))}
        np.lib.format.write_array_header_1_0(features, header)
        for batch in table.batches():
            rows = np.stack([batch[name] for name in names], axis=1)
            np.copyto(rows, fills, where=np.isnan(rows))
            features.write(rows.astype("<f4").tobytes())
            part = slice(start, start + len(rows))
            searches[part] = batch["srch_id"]
            relevance[part] = _relevance(batch, table)
            start = part.stop
    save_arrays(folder, _grouped(searches, relevance))


def _grouped(searches: NDArray[np.int64], relevance: NDArray[np.int8]) -> dict[str, NDArray[Any]]:
    """Return the rows search by search; where they stand together, nothing moves."""
    order = np.argsort(searches, kind="stable")
    sizes = np.unique(searches, return_counts=True)[1]
    return {"items": order, "offsets": starts_of(sizes), "relevance": relevance[order]}


def _table(file: RawFile, features: list[str], choices: Mapping[str, type]) -> TableFile:
    return TableFile(file, {**dict.fromkeys(features, float), **choices}, missing=_MISSING)


def _summarize(file: RawFile) -> _Summary:
    """Count rows and gaps; a feature of which more than half is missing is not kept.

    Gaps are filled with a number below -1 and below all others, as in the paper.
    """
    n_rows = 0
    n_missing = dict.fromkeys(FEATURES, 0)
    least = dict.fromkeys(FEATURES, -1.0)
    for batch in _table(file, list(FEATURES), {}).batches():
        n_rows += len(batch[POSITION])
        for name in FEATURES:
            missing = np.isnan(batch[name])
            n_missing[name] += int(missing.sum())
            least[name] = float(min(least[name], np.min(batch[name], initial=-1.0, where=~missing)))
    if n_rows == 0:
        raise DamagedData(f"{file} has no rows: get it again")
    n_missing[POSITION] = 0  # always kept, so that the last feature is the position
    kept = [name for name in FEATURES if n_missing[name] <= _MOST_MISSING * n_rows]
    return _Summary(n_rows, {name: least[name] - 1 for name in kept})


def _relevance(batch: Batch, table: TableFile) -> NDArray[np.int8]:
    """Return 2 for the booked hotels, 1 for those that were clicked only."""
    clicked, booked = batch["click_bool"], batch["booking_bool"]
    if not (np.isin(clicked, (0, 1)) & np.isin(booked, (0, 1))).all():
        raise table.first_error(_unlike)
    return np.where(booked == 1, 2, clicked).astype(np.int8)


def _unlike(row: Row) -> str | None:
    for name in ("click_bool", "booking_bool"):
        if row[name] not in (0, 1):
            return f"{name} must be 0 or 1, got {row[name]}"
    return None
