"""The style of figures: colours that colour-blind readers can tell apart, reproducible bytes."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

WIDTH = 7.0  # inches: the width of a page's text
INK = "#111213"  # text and lines; the HTML report puts the page's own colour in its place
CHOSEN = "#D55E00"
SMALL = 7

_STYLE: Any = {  # of matplotlib's settings
    "font.family": "DejaVu Sans",  # matplotlib brings it along: every machine has the same
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "axes.titlecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": INK,
    "grid.alpha": 0.15,
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.3,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "pdf.fonttype": 42,
    "svg.fonttype": "path",
    "svg.hashsalt": "cschoice",
    "text.parse_math": False,  # names are names
}
# The colours of Okabe and Ito; greys for learners that see each object alone and linearly.
_BLUE, _VERMILION, _GREEN = "#0072B2", "#D55E00", "#009E73"
_SKY, _ORANGE, _PURPLE = "#56B4E9", "#E69F00", "#CC79A7"
PALETTE = (_BLUE, _VERMILION, _GREEN, _PURPLE, _ORANGE, _SKY)
GAIN, LOSS = _BLUE, _VERMILION


@dataclass(frozen=True)
class Look:
    """The colour and the dashes of a learner's lines."""

    colour: str
    dashes: str | tuple[int, tuple[float, ...]] = "solid"


_LOOKS = {
    "feta": Look(_BLUE),
    "fate": Look(_VERMILION),
    "feta-linear": Look(_SKY, "dashed"),
    "fate-linear": Look(_ORANGE, "dashed"),
    "sda": Look(_GREEN),
    "ranknet": Look(_PURPLE),
    "pairwise-svm": Look("#7A7A7A", "dashed"),
    "mnl": Look("#7A7A7A"),
    "nl": Look("#7A7A7A", "dotted"),
    "gnl": Look("#A6A6A6"),
    "mixed-logit": Look("#A6A6A6", "dashed"),
    "all-positive": Look("#A6A6A6", "dotted"),
    "random": Look("#A6A6A6", "dotted"),
}
_VARIANT_DASHES = (
    "dashed",
    "dotted",
    (0, (5, 1, 1, 1)),
    (0, (1, 2)),
    (0, (8, 2)),
)


def look(learner: str, number: int = 0) -> Look:
    """Return the style of a learner; a variant has its family's colour, dashed by its number.

    >>> look("feta-paper", 1).colour == look("feta").colour
    True
    """
    if learner in _LOOKS:
        return _LOOKS[learner]
    families = [name for name in _LOOKS if learner.startswith(name)]
    colour = _LOOKS[max(families, key=len)].colour if families else INK
    return Look(colour, _VARIANT_DASHES[number % len(_VARIANT_DASHES)])


@contextmanager
def styled() -> Iterator[None]:
    """Draw in the style of the reports instead of the user's own settings."""
    with mpl.rc_context(), warnings.catch_warnings():
        # Names in other scripts are drawn as boxes with their number; the tables have them.
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        yield


def saved(figure: Figure, suffix: str) -> bytes:
    """Return a figure as a file, without the time at which it was made."""
    file = io.BytesIO()
    no_date = {"Date": None} if suffix == "svg" else {"CreationDate": None}
    figure.savefig(file, format=suffix, metadata=no_date)
    return file.getvalue()
