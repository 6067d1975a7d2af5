"""Figures inside a page: they take its colours, and their names do not clash."""

from __future__ import annotations

import re
from html import escape

from cschoice.report.figures.style import INK

_NUMBER = re.compile(r"-?\d+\.\d{3,}")
_PATH = re.compile(r' d="[^"]*"')


def inline(svg: str, name: str, description: str) -> str:
    """Return matplotlib's file as an element: no prologue, own names, the page's ink."""
    body = svg[svg.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    head, _, rest = body.partition(">")
    (view,) = re.findall(r'viewBox="[^"]*"', head)
    rest = re.sub(r'\bid="', f'id="{name}-', rest)
    rest = rest.replace('href="#', f'href="#{name}-').replace("url(#", f"url(#{name}-")
    rest = rest.replace("xlink:href", "href").replace(INK.lower(), "currentColor")
    rest = _PATH.sub(lambda path: _NUMBER.sub(_rounded, path[0]), rest)
    rest = re.sub(r"\s*\n\s*", "\n", rest)
    label = escape(description, quote=True)
    return f'<svg {view} role="img" aria-label="{label}">{rest.rstrip()}'


def _rounded(number: re.Match[str]) -> str:
    """Return two decimals of a place: less than a hundredth of a point cannot be seen."""
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")
