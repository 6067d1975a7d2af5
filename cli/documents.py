"""The words ``--format``, ``--out`` and ``--force``: documents on the terminal or in a file."""

from __future__ import annotations

from pathlib import Path

from cschoice.errors import FileAlreadyExists, InvalidParameter
from cschoice.io.files import replacing
from cschoice.registry import unknown_name
from cschoice.report import TERMINAL

from .console import tell

FORMATS = (TERMINAL, "latex", "html", "markdown", "csv", "json")


def check_document(format_: str, out: Path | None, force: bool) -> None:
    """Refuse words that would fail only after a long computation."""
    if format_ not in FORMATS:
        raise InvalidParameter(unknown_name("format", format_, FORMATS))
    if out is not None and format_ == TERMINAL:
        raise InvalidParameter("--out needs a --format: latex, html, markdown, csv or json")
    check_free("--out", out, force)


def check_free(option: str, path: Path | None, force: bool) -> None:
    """Refuse the path of a file that is there, unless it may be replaced."""
    if path is not None and path.exists() and not force:
        raise FileAlreadyExists(f"{path} is there already: give --force, or another {option}")


def tell_document(text: str, out: Path | None) -> None:
    """Print a document, or write it to a file and print where."""
    if out is None:
        tell(text, newline=False)
        return
    with replacing(out) as (temporary,):
        temporary.write_text(text, encoding="utf-8")
    tell(out)
