"""Pictures to files: the only way into matplotlib."""

from __future__ import annotations

from cschoice.registry import load
from cschoice.report.figures import Picture
from cschoice.report.figures.style import saved, styled


def drawn(picture: Picture, suffix: str, background: str = "none") -> bytes:
    """Draw a picture; the same content gives the same bytes."""
    with styled():
        figure = load(f"cschoice.report.figures.{picture.source}")(picture.content)
        return saved(figure, suffix, background)
