"""Writing of reports: all files of a format or none, and no file of the last report is left."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from cschoice.errors import UnknownName
from cschoice.io.files import explained, filling
from cschoice.registry import load, unknown_name
from cschoice.report import ALL, FORMATS, TERMINAL
from cschoice.report.compute.summary import Summary

# Patterns of the names by which documents show other files, and the suffixes of these files.
_BESIDE = {
    "report.tex": (r"\{((?:table|figure)-[\w.-]+)\}", {"table": ".tex", "figure": ".pdf"}),
    "tables.csv": (r"(table-[\w.-]+)\.csv", {"table": ".csv"}),
    "report.md": (r"\((figure-[\w.-]+)\.svg\)", {"figure": ".svg"}),
}


def formats(name: str) -> list[str]:
    """Return the formats of that name that are files; none for the terminal."""
    if name == TERMINAL:
        return []
    if name != ALL and name not in FORMATS:
        raise UnknownName(unknown_name("format", name, [TERMINAL, *FORMATS, ALL]))
    return list(FORMATS) if name == ALL else [name]


def write(summary: Summary, folder: Path, names: Iterable[str]) -> list[list[Path]]:
    """Write the report in these formats; return the files of each, the one to open first."""
    made = [load(FORMATS[name])(summary) for name in names]
    before = _beside_the_last(folder)
    with filling(folder) as temporary:
        for files in made:
            for name, content in files.items():
                (temporary / name).write_bytes(content)
    written = {name for files in made for name in files}
    documents = {name for name in _BESIDE if name in written}
    with explained(folder):
        for document, name in before:
            if document in documents and name not in written:
                (folder / name).unlink(missing_ok=True)
    return [[folder / name for name in files] for files in made]


def _beside_the_last(folder: Path) -> list[tuple[str, str]]:
    """Return documents of the last report with the files they show: other numbers than ours."""
    found = []
    for document, (pattern, suffixes) in _BESIDE.items():
        path = folder / document
        if path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace")
            for name in re.findall(pattern, text):
                found.append((document, name + suffixes[name.partition("-")[0]]))
    return found
