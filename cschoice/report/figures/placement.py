"""Placement of labels and panels without overlaps."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def spread(
    wanted: Sequence[float], gap: float, low: float = -math.inf, high: float = math.inf
) -> NDArray[np.float64]:
    """Move positions apart as little as possible: at least ``gap`` between any two.

    The squares of the moves are as small as they can be, which is an isotonic regression.

    >>> spread([0.0, 0.1, 5.0], gap=1.0).tolist()
    [-0.45, 0.55, 5.0]
    """
    from scipy.optimize import isotonic_regression

    order = np.argsort(wanted, kind="stable")
    steps = gap * np.arange(len(order))
    free = isotonic_regression(np.asarray(wanted)[order] - steps).x
    placed = np.empty(len(order))
    placed[order] = np.clip(free, low, max(low, high - (steps[-1] if len(steps) else 0))) + steps
    return placed


def grid(n_panels: int, most_columns: int) -> tuple[int, int]:
    """Return the numbers of rows and columns for the panels, as even as possible.

    >>> grid(10, 4), grid(5, 4), grid(2, 4)
    ((3, 4), (2, 3), (1, 2))
    """
    n_rows = math.ceil(n_panels / most_columns)
    return n_rows, math.ceil(n_panels / n_rows)


def hide_unused(axes: NDArray[Any], n_used: int) -> None:
    """Hide the panels without content; the panels above them number their own axis."""
    n_rows, n_columns = axes.shape
    for place in range(n_used, n_rows * n_columns):
        axes.flat[place].set_visible(False)
    for panel in axes.flat[max(0, n_used - n_columns) : n_used]:
        panel.tick_params(labelbottom=True)


def short(label: str, most: int = 22) -> str:
    """Return a label cut to a length that leaves room for the plot.

    >>> short("FETA-Net"), short("feta-with-a-very-long-name")
    ('FETA-Net', 'feta-with-a-very-long…')
    """
    return label if len(label) <= most else f"{label[: most - 1]}…"


def wrapped(title: str, width: int = 18) -> str:
    r"""Break a long title into lines.

    >>> wrapped("Tag Genome Dissimilar Movie")
    'Tag Genome\nDissimilar Movie'
    """
    return "\n".join(textwrap.wrap(title, width)[:3]) or title
