"""Drawing of pictures into files: the only way into matplotlib."""

from __future__ import annotations

from functools import lru_cache

from cschoice.registry import load
from cschoice.report.contents.pictures import Picture
from cschoice.report.figures.style import saved, styled


@lru_cache(maxsize=64)
def drawn(picture: Picture, suffix: str) -> bytes:
    """Draw a picture; the same content gives the same bytes. Two formats may show it."""
    with styled():
        figure = load(f"cschoice.report.figures.{picture.source}")(picture.content)
        return saved(figure, suffix)


def on_white(svg: bytes) -> bytes:
    r"""Return a picture with a white background, readable on a page of any colour.

    >>> on_white(b'<svg width="7pt"> <g/></svg>')
    b'<svg width="7pt">\n<rect width="100%" height="100%" fill="white"/> <g/></svg>'
    """
    start = svg.index(b">", svg.index(b"<svg")) + 1
    return svg[:start] + b'\n<rect width="100%" height="100%" fill="white"/>' + svg[start:]
