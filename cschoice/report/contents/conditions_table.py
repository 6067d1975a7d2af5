"""The table of conditions: those of the results here beside those in the paper."""

from __future__ import annotations

from collections.abc import Sequence

from cschoice.report.compute.conditions import Condition
from cschoice.report.contents.table import Column, Row, RowGroup, Table


def conditions_table(conditions: Sequence[Condition], n_stale: int) -> Table | None:
    """Return the table of conditions; None where nothing stands beside the paper."""
    if not conditions:
        return None
    notes = "Read from the study's file and the learners as they are now, and from the tables." + (
        " Stale results were made under other conditions, in part." if n_stale else ""
    )
    return Table(
        "conditions",
        "What is compared with what: the results here with the paper's.",
        (Column("Condition"), Column("Here", wide=True), Column("In the paper", wide=True)),
        (RowGroup("", tuple(Row((one.name, one.here, one.paper)) for one in conditions)),),
        notes=(notes,),
        long=True,
    )
