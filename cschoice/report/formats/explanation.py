"""Explanations as documents: one HTML page, or LaTeX with a file per table and figure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from cschoice.explanations.explanation import Explanation
from cschoice.io.files import filling
from cschoice.report.contents.explanation.sections import sections, title
from cschoice.report.formats.html import document as html_document
from cschoice.report.formats.latex import document as latex_document
from cschoice.report.formats.text import Files


def html(explanation: Explanation) -> Files:
    """Return one page that needs nothing else."""
    about = f"{explanation.support.n_tasks:,} sets, {explanation.about.folds} folds"
    page = html_document(title(explanation), about, sections(explanation))
    return {"explanation.html": page.encode()}


def latex(explanation: Explanation) -> Files:
    """Return ``explanation.tex``, which pdflatex compiles, and its tables and figures."""
    return latex_document("explanation", title(explanation), sections(explanation))


FORMATS: Mapping[str, Callable[[Explanation], Files]] = {"html": html, "latex": latex}


def write(explanation: Explanation, folder: Path, names: Iterable[str]) -> list[Path]:
    """Write an explanation in these formats, all files or none; return the one to open of each."""
    made = [FORMATS[name](explanation) for name in names]
    with filling(folder) as temporary:
        for files in made:
            for name, content in files.items():
                (temporary / name).write_bytes(content)
    return [folder / next(iter(files)) for files in made]
