"""A table for reports: how far apart the learners are on each dataset."""

from __future__ import annotations

from itertools import groupby

from cschoice.report.compute.labels import dataset_label, metric_label
from cschoice.report.compute.summary import Summary
from cschoice.report.contents.outline import ReportTable
from cschoice.report.contents.table import Column, Row, RowGroup, Table, number


def difficulty(summary: Summary) -> Table | None:
    """Return the range of the target measure over learners, for each dataset."""
    rows = []
    for dataset, found in groupby(summary.results, key=lambda result: result.dataset):
        results = list(found)
        means = [result.on_target.ours.mean for result in results if result.on_target.ours]
        if means:
            ends = (number(value, ".3f") for value in (min(means), max(means)))
            measure = metric_label(results[0].target)
            rows.append(Row((dataset_label(dataset), measure, *ends)))
    if not rows:
        return None
    columns = (Column("Dataset"), Column("Measure"), Column("Lowest", numeric=True),
               Column("Highest", numeric=True))  # fmt: skip
    caption = "How far apart the learners are on each dataset."
    return Table("difficulty", caption, columns, (RowGroup("", tuple(rows)),))


DIFFICULTY = ReportTable(difficulty, section="winners")
