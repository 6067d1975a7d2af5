"""Numbers to tables: reads the Parquet tables of a results folder and nothing else."""

from __future__ import annotations

from cschoice.registry import Registry

# Each turns a view into text; one row per format.
FORMATS: Registry[str] = Registry(
    "format",
    {
        "terminal": "cschoice.report.text:terminal",
        "markdown": "cschoice.report.text:markdown",
        "csv": "cschoice.report.text:csv",
        "latex": "cschoice.report.latex:latex",
    },
)
SUFFIXES = {"markdown": ".md", "csv": ".csv", "latex": ".tex"}
