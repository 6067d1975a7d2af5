"""Effects as rows: one per number, with its interval, the same for data frames, CSV and JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from cschoice.effects.assortments import Assortment
from cschoice.effects.calibration import Calibration
from cschoice.effects.elasticities import Matrix
from cschoice.effects.questions import Answers
from cschoice.effects.shares import Comparison
from cschoice.effects.uncertainty import Ranges

Row = dict[str, Any]


def rows_of(found: Answers) -> list[Row]:
    """Return every number of some answers as a row."""
    rows = list(rows_of_comparison(found.comparison))
    for one in found.matrices:
        rows += rows_of_matrix(one)
    if found.calibration is not None:
        rows += rows_of_calibration(found.calibration)
    if found.assortment is not None:
        rows += rows_of_assortment(found.assortment)
    return rows


def rows_of_comparison(found: Comparison) -> Iterator[Row]:
    """Yield the shares as they are, in every scenario and their changes."""
    for s, segment in enumerate(found.segments.names):
        for k, name in enumerate(found.names):
            start = {"segment": segment, "alternative": name}
            if found.observed is not None:
                seen = {"measure": "observed share", "scenario": "", **start}
                yield {"section": "shares", **seen, "value": float(found.observed[s, k])}
            parts = [("share", "", found.before[s, k])]
            for place, scenario in enumerate(found.scenarios):
                parts.append(("share", scenario, found.after[place, s, k]))
                parts.append(("change", scenario, found.change[place, s, k]))
            for measure, scenario, ranges in parts:
                about = {"measure": measure, "scenario": scenario, **start}
                yield {"section": "shares", **about, **numbers(ranges)}
    if found.surplus is None:
        return
    for place, scenario in enumerate(found.scenarios):
        for s, segment in enumerate(found.segments.names):
            about = {"scenario": scenario, "segment": segment, "alternative": ""}
            mean = {"measure": f"surplus in {found.surplus.money}", **about}
            yield {"section": "surplus", **mean, **numbers(found.surplus.means[place, s])}
            for label, value in zip(
                QUARTILES, found.surplus.quartiles[place, s].tolist(), strict=True
            ):
                measure = f"{label} of surplus in {found.surplus.money}"
                yield {"section": "surplus", "measure": measure, **about, "value": value}


QUARTILES = ("lower quartile", "median", "upper quartile")


def rows_of_matrix(found: Matrix, value: str = "value") -> Iterator[Row]:
    """Yield the effect of each alternative on each other one."""
    for j, changed in enumerate(found.changed):
        for i, name in enumerate(found.names):
            ranges = found.effects[j, i]
            if math.isnan(float(ranges.values)):
                continue
            about = {"measure": found.measure, "column": found.column, "at": found.at}
            yield {
                "section": "effects", **about, "changed": changed, "of": name,
                **{value if key == "value" else key: one for key, one in numbers(ranges).items()},
            }  # fmt: skip


def rows_of_calibration(found: Calibration) -> Iterator[Row]:
    """Yield predicted and observed shares of every group."""
    for by, groups in (("alternative", found.by_name), ("chance", found.by_chance)):
        for one in groups:
            yield {
                "section": "calibration", "by": by, "group": one.name, "objects": one.n_objects,
                "value": one.predicted, "observed": one.observed, "low": one.low,
                "high": one.high,
            }  # fmt: skip
    yield {"section": "calibration", "by": "", "measure": "error", "value": found.error}


def rows_of_assortment(found: Assortment) -> Iterator[Row]:
    """Yield the offers with their revenues, the best first."""
    for place, offer in enumerate(found.offers):
        about = {"section": "assortment", "rank": place + 1, "offer": ", ".join(offer)}
        yield {**about, "exact": found.exact, **numbers(found.revenues[place])}
    yield {"section": "assortment", "offer": "everything", "value": found.everything}


def numbers(ranges: Ranges) -> Row:
    """Return one value with its error and interval; None where there is none."""
    named = {
        "value": ranges.values, "std_error": ranges.errors, "low": ranges.low, "high": ranges.high,
    }  # fmt: skip
    return {name: _finite(float(value)) for name, value in named.items()}


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
