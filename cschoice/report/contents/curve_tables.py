"""Tables of curves: the value of each curve at a few points of its axis."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cschoice.report.compute.curves import Graph, MeanCurve
from cschoice.report.compute.paper import Score
from cschoice.report.contents.table import Cell, Column, Row, RowGroup, ScoreCell, Table

_MOST_PLACES = 6
_FEW_ENDS = 2


def curve_table(graph: Graph, name: str) -> Table:
    """Return means with deviations, one group per panel.

    Beyond its end a curve has none, but over CPU time: a training that is over keeps its value.
    """
    places = _places(graph)
    return Table(
        name,
        f"{graph.y_label} by {graph.x_label}, experiment {graph.experiment}.",
        (
            Column("Dataset"),
            Column("Learner"),
            *(Column(f"{place:g}", scores=True) for place in places),
        ),
        tuple(
            RowGroup(
                panel.title,
                tuple(
                    Row(
                        (curve.label, *(_at(curve, place, graph.over_time) for place in places)),
                        stale=curve.stale,
                    )
                    for curve in panel.curves
                ),
            )
            for panel in graph.panels
        ),
        notes=(_ENDED,) if graph.over_time else (),
    )


_ENDED = "A training that ended earlier keeps its last value; before its first test it has none."


def _places(graph: Graph) -> NDArray[np.float64]:
    """Return round numbers between the ends of all curves, and the ends themselves if few."""
    curves = [curve for panel in graph.panels for curve in panel.curves]
    ends = {float(round(curve.x[-1])) for curve in curves}
    first = min(curve.x[0] for curve in curves)
    if graph.over_time:  # of trainings some are over soon: as much room for them
        places = np.geomspace(first, max(ends), _MOST_PLACES + 1)[1:]
        return np.array([float(f"{place:.2g}") for place in places])
    places = np.linspace(first, max(ends), _MOST_PLACES).round()
    return np.unique([*places, *(ends if len(ends) <= _FEW_ENDS else ())])


def _at(curve: MeanCurve, place: float, keeps: bool) -> Cell:
    if place < curve.x[0] or (place > curve.x[-1] and not keeps):
        return ""
    mean, std = (float(np.interp(place, curve.x, values)) for values in (curve.mean, curve.std))
    return ScoreCell(Score(mean, std, curve.n_folds))
