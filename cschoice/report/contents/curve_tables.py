"""Tables of curves: the value of each curve at a few points of its axis."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cschoice.report.compute.curves import Graph, Line
from cschoice.report.compute.paper import Value
from cschoice.report.contents.table import Column, Entry, Group, Measured, Table
from cschoice.report.contents.table import Line as TableLine

_MOST_PLACES = 6
_FEW_ENDS = 2


def curve_table(graph: Graph, name: str) -> Table:
    """Return means with deviations, one group per panel; beyond its end a curve has none."""
    places = _places(graph)
    return Table(
        name,
        f"{graph.y_label} by {graph.x_label}, experiment {graph.experiment}.",
        (
            Column("Dataset"),
            Column("Learner"),
            *(Column(f"{place:g}", measured=True) for place in places),
        ),
        tuple(
            Group(
                panel.title,
                tuple(
                    TableLine((line.label, *(_at(line, place) for place in places)))
                    for line in panel.lines
                ),
            )
            for panel in graph.panels
        ),
    )


def _places(graph: Graph) -> NDArray[np.float64]:
    """Return round numbers between the ends of all curves, and the ends themselves if few."""
    lines = [line for panel in graph.panels for line in panel.lines]
    ends = {float(round(line.x[-1])) for line in lines}
    first = min(line.x[0] for line in lines)
    places = np.linspace(first, max(ends), _MOST_PLACES).round()
    return np.unique([*places, *(ends if len(ends) <= _FEW_ENDS else ())])


def _at(line: Line, place: float) -> Entry:
    if not line.x[0] <= place <= line.x[-1]:
        return ""
    mean, std = (float(np.interp(place, line.x, values)) for values in (line.mean, line.std))
    return Measured(Value(mean, std, line.n_folds))
