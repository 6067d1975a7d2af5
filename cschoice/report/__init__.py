"""Numbers to documents: reads the Parquet tables of a results folder; trains nothing.

``compute`` reads the tables and computes all numbers (a ``Summary``), ``contents`` lays them out
as tables and pictures in sections, ``figures`` draws the pictures, and ``formats`` write files.
"""

from __future__ import annotations

from cschoice.registry import Registry

TERMINAL, ALL = "terminal", "all"

# Each turns a summary into files, by name; the first is the one to open.
FORMATS: Registry[str] = Registry(
    "format",
    {
        "html": "cschoice.report.formats.html:html",
        "latex": "cschoice.report.formats.latex:latex",
        "markdown": "cschoice.report.formats.text:markdown",
        "csv": "cschoice.report.formats.text:csv_files",
    },
)
