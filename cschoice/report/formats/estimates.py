"""Estimates as documents: LaTeX, HTML, Markdown, CSV, JSON; computes nothing."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator
from html import escape
from typing import Any

import numpy as np

from cschoice.estimates.estimates import Coefficient, Estimates
from cschoice.io.spreadsheets import harmless
from cschoice.report.contents.estimate_tables import EstimationReport, estimate_tables, labels
from cschoice.report.formats.html import page
from cschoice.report.formats.html.tables import html_table
from cschoice.report.formats.latex import HEAD
from cschoice.report.formats.latex_tables import preamble, table_tex
from cschoice.report.formats.text import markdown_table

_CSV_HEAD = (
    "model", "section", "name", "value", "std_error", "z", "p", "low", "high", "std_errors",
    "remark",
)  # fmt: skip


def latex(report: EstimationReport) -> str:
    """Return a document for pdflatex; its tables can be put into another one."""
    head = HEAD.replace("\\input{report-preamble}\n", preamble())
    tables = "\n".join(table_tex(table) for table in estimate_tables(report))
    return f"{head}{tables}\\end{{document}}\n"


def html(report: EstimationReport) -> str:
    """Return one page that needs nothing else."""
    tables = "\n".join(html_table(table) for table in estimate_tables(report))
    section = f'<section id="summary">\n{tables}\n</section>'
    return page(title=escape(report.title), heading="Estimates", about=escape(report.title),
                sections=section)  # fmt: skip


def markdown(report: EstimationReport) -> str:
    """Return the tables in Markdown."""
    return "\n\n".join(markdown_table(table) for table in estimate_tables(report)) + "\n"


def csv_text(report: EstimationReport) -> str:
    """Return every number in full precision, one row each."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(_CSV_HEAD)
    writer.writerows(map(harmless, row) for row in _csv_rows(report))
    return file.getvalue()


def _csv_rows(report: EstimationReport) -> Iterator[tuple[Any, ...]]:
    for model, label in zip(report.models, labels(report.models), strict=True):
        for one in model.coefficients(report.kind, report.level):
            yield (label, "coefficient", *_numbers(one), report.kind, one.remark)
        for name, value in _fit(model).items():
            shown = "" if value is None else value
            yield (label, "fit", name, shown, "", "", "", "", "", "", "")
    for paid, label in zip(report.willingness, labels(report.models), strict=False):
        for one in paid.rows:
            yield (label, f"willingness to pay in {paid.money}", *_numbers(one), paid.kind, "")
    for test in report.tests:
        yield (test.name, "test", test.hypothesis, test.statistic, "", "", test.p, "", "",
               test.kind, f"df = {test.degrees}")  # fmt: skip


def _numbers(one: Coefficient) -> tuple[Any, ...]:
    values = (one.value, one.error, one.z, one.p, one.low, one.high)
    return (one.name, *("" if math.isnan(value) else value for value in values))


def json_text(report: EstimationReport) -> str:
    """Return every number in full precision, with the covariance matrices."""
    found = {
        "sample": report.models[0].sample.name,
        "std_errors": report.kind,
        "level": report.level,
        "models": [
            _model(model, label, report)
            for model, label in zip(report.models, labels(report.models), strict=True)
        ],
        "tests": [
            {
                "hypothesis": test.hypothesis,
                "test": test.name,
                "statistic": test.statistic,
                "df": test.degrees,
                "p": test.p,
                "std_errors": test.kind,
            }
            for test in report.tests
        ],
    }
    return json.dumps(found, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _model(model: Estimates, label: str, report: EstimationReport) -> dict[str, Any]:
    place = labels(report.models).index(label)
    paid = report.willingness[place] if place < len(report.willingness) else None
    covariance = model.covariance(report.kind)[np.ix_(model.shown, model.shown)]
    return {
        "model": label,
        "coefficients": [
            _coefficient(one) for one in model.coefficients(report.kind, report.level)
        ],
        "covariance": [[_finite(value) for value in row] for row in covariance],
        "fit": _fit(model),
        "converged": model.optimum.converged,
        "notes": list(model.notes),
        "willingness_to_pay": None
        if paid is None
        else {
            "money": paid.money,
            "amounts": [
                _coefficient(one) | {"krinsky_robb_low": low, "krinsky_robb_high": high}
                for one, (low, high) in zip(paid.rows, paid.simulated, strict=True)
            ],
        },
    }


def _fit(model: Estimates) -> dict[str, float | int | None]:
    fit = model.fit
    return {
        "log_likelihood": fit.log_likelihood,
        "null_log_likelihood": fit.null,
        "constants_log_likelihood": fit.constants,
        "rho2": _finite(fit.rho2),
        "adjusted_rho2": _finite(fit.adjusted_rho2),
        "aic": fit.aic,
        "bic": fit.bic,
        "n_parameters": fit.n_parameters,
        "n_tasks": fit.n_tasks,
        "n_people": fit.n_people,
    }


def _coefficient(one: Coefficient) -> dict[str, Any]:
    return {
        "name": one.name,
        "estimate": one.value,
        "std_error": _finite(one.error),
        "z": _finite(one.z),
        "p": _finite(one.p),
        "low": _finite(one.low),
        "high": _finite(one.high),
        "remark": one.remark,
    }


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


FORMATS = {
    "latex": latex,
    "html": html,
    "markdown": markdown,
    "csv": csv_text,
    "json": json_text,
}
