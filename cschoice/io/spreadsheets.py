"""Cells of CSV files that a spreadsheet shows as they are, and does not take for formulas."""

from __future__ import annotations

from typing import Any

_STARTS = ("=", "+", "-", "@", "\t", "\r")


def harmless(cell: Any) -> Any:
    """Return a cell with an apostrophe before a would-be formula; numbers are none.

    >>> harmless("=1+1"), harmless("-2.5"), harmless("@SUM(A1)"), harmless(-1)
    ("'=1+1", '-2.5', "'@SUM(A1)", -1)
    """
    if not isinstance(cell, str) or not cell.lstrip(" ").startswith(_STARTS):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell
