"""Numbers to documents: reads the Parquet tables of a results folder and never loads torch.

``inputs`` and ``paper`` are read, ``views``, ``contests``, ``rankings`` and ``series`` compute
(``summary`` has it all), ``content`` and ``figures`` say what to show, ``outline`` in which
order, and each format shows it. Formats compute nothing.
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
