"""Tables of estimates: one model in full, several side by side, willingness to pay, tests."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cschoice.estimates.estimates import Coefficient, Estimates, Fit
from cschoice.estimates.hypotheses import Test
from cschoice.estimates.kinds import CLASSICAL
from cschoice.estimates.willingness import Willingness
from cschoice.report.contents.table import (
    NO_RESULT,
    Cell,
    Column,
    Gap,
    NumberCell,
    Row,
    RowGroup,
    Table,
    number,
    probability,
    signed,
)

_DIGITS, _DECIMALS = 3, 4  # of a standard error; of any number, at least
_UNDEFINED = Gap("not defined: a parameter is at its bound, or has no standard error")
_STARS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))


@dataclass(frozen=True)
class EstimationReport:
    """Estimates of one sample with everything that is to be shown of them."""

    models: tuple[Estimates, ...]
    kind: str = CLASSICAL  # of standard errors
    level: float = 0.95
    tests: tuple[Test, ...] = ()
    willingness: tuple[Willingness, ...] = ()

    @property
    def title(self) -> str:
        """Return the heading of a document."""
        return f"Estimates of {', '.join(labels(self.models))} from {self.models[0].sample.name}"


def labels(models: Sequence[Estimates]) -> list[str]:
    """Return a label of each model; the same model twice is numbered."""
    names = [model.model for model in models]
    return [
        f"{name} ({names[: k + 1].count(name)})" if names.count(name) > 1 else name
        for k, name in enumerate(names)
    ]


def estimate_tables(report: EstimationReport) -> list[Table]:
    """Return the tables of a report, in order."""
    if len(report.models) == 1:
        tables = [_coefficients(report), _fits(report)]
    else:
        tables = [_side_by_side(report)]
    tables += [
        _willingness(paid, label, report.level)
        for paid, label in zip(report.willingness, labels(report.models), strict=False)
    ]
    return [*tables, _tests(report.tests)] if report.tests else tables


def _coefficients(report: EstimationReport) -> Table:
    """Return one model: a row per coefficient, with z, p and interval."""
    (model,) = report.models
    rows = []
    for one in model.coefficients(report.kind, report.level):
        form = _form(one)
        why = one.remark or ("" if math.isfinite(one.error) else "no standard error")
        rest: tuple[Cell, ...] = (why, "", "", "", "")
        if not why:
            rest = (
                number(one.error, form),
                number(one.z, ".2f"),
                probability(one.p),
                number(one.low, form),
                number(one.high, form),
            )
        rows.append(Row((one.name, number(one.value, form), *rest)))
    percent = f"{report.level * 100:g} %"
    return Table(
        "estimates",
        f"{model.model} on {model.sample.name}, {report.kind} standard errors.",
        (
            Column("Coefficient"),
            *_decimals("Estimate", "Std. error", "z", "p", f"{percent} from", "to"),
        ),
        (RowGroup("", tuple(rows)),),
        tuple(notes(report)),
    )


def _fits(report: EstimationReport) -> Table:
    (model,) = report.models
    rows = tuple(Row((label, cell)) for label, cell in _fit_cells(model.fit))
    return Table("fit", "Fit.", (Column(""), *_decimals("Value")), (RowGroup("", rows),))


def _side_by_side(report: EstimationReport) -> Table:
    """Return several models: a column for each, standard errors below estimates."""
    found = [
        {one.name: one for one in model.coefficients(report.kind, report.level)}
        for model in report.models
    ]
    names = list(dict.fromkeys(name for rows in found for name in rows))
    rows = []
    for name in names:
        cells = [_estimate_and_error(of.get(name)) for of in found]
        rows.append(Row((name, *(above for above, _ in cells))))
        rows.append(Row(("", *(below for _, below in cells))))
    fits = [dict(_fit_cells(model.fit)) for model in report.models]
    fit_rows = [Row((label, *(fit[label] for fit in fits))) for label in fits[0]]
    stars = ", ".join(f"{mark} p < {bound}" for bound, mark in reversed(_STARS))
    return Table(
        "estimates",
        f"Estimates from {report.models[0].sample.name}, {report.kind} standard errors in "
        "parentheses.",
        (Column("Coefficient"), *_decimals(*labels(report.models))),
        (RowGroup("", tuple(rows)), RowGroup("", tuple(fit_rows))),
        (f"{stars}.", *notes(report)),
        sortable=False,
    )


def _estimate_and_error(one: Coefficient | None) -> tuple[Cell, Cell]:
    if one is None:
        return "", ""
    form = _form(one)
    if not math.isfinite(one.error):
        return number(one.value, form), f"({one.remark or NO_RESULT})"
    stars = next((mark for bound, mark in _STARS if one.p < bound), "")
    error = format(one.error, form)
    above = NumberCell(f"{signed(format(one.value, form))}{stars}", one.value)
    return above, NumberCell(f"({error})", one.error)


def _fit_cells(fit: Fit) -> Iterator[tuple[str, Cell]]:
    """Yield the labels and values of the fit of a model."""
    yield "Log-likelihood", number(fit.log_likelihood, ".3f")
    yield "Null log-likelihood", number(fit.null, ".3f")
    constants = NO_RESULT if fit.constants is None else number(fit.constants, ".3f")
    yield "Constants-only log-likelihood", constants
    yield "ρ²", number(fit.rho2, ".4f")
    yield "Adjusted ρ²", number(fit.adjusted_rho2, ".4f")
    yield "AIC", number(fit.aic, ".3f")
    yield "BIC", number(fit.bic, ".3f")
    yield "Parameters", number(fit.n_parameters)
    yield "Tasks", number(fit.n_tasks)
    yield "People", NO_RESULT if fit.n_people is None else number(fit.n_people)


def _willingness(paid: Willingness, label: str, level: float) -> Table:
    """Return the willingness to pay for each feature."""
    rows = []
    for one, (low, high) in zip(paid.rows, paid.simulated, strict=True):
        form = _form(one)
        numbers = (one.value, one.error, one.low, one.high, low, high)
        rows.append(Row((one.name, *(number(value, form) for value in numbers))))
    percent = f"{level * 100:g} %"
    return Table(
        f"willingness-{label.split()[0]}",
        f"{label}: willingness to pay for one unit more, in units of {paid.money}, "
        f"{paid.kind} standard errors.",
        (
            Column("Feature"),
            *_decimals(
                "Amount",
                "Std. error",
                f"Delta {percent} from",
                "to",
                f"Krinsky–Robb {percent} from",
                "to",
            ),
        ),
        (RowGroup("", tuple(rows)),),
    )


def _tests(tests: Sequence[Test]) -> Table:
    rows = tuple(
        Row(
            (
                test.hypothesis,
                f"{test.name}, {test.kind}",
                _UNDEFINED if math.isnan(test.statistic) else number(test.statistic, ".3f"),
                number(test.degrees),
                _UNDEFINED if math.isnan(test.p) else probability(test.p),
            )
        )
        for test in tests
    )
    columns = (Column("Hypothesis"), Column("Test"), *_decimals("χ²", "df", "p"))
    return Table("tests", "Tests.", columns, (RowGroup("", rows),))


def notes(report: EstimationReport) -> list[str]:
    """Return the notes of all models, each once."""
    named = len(report.models) > 1
    found = [
        f"{label}: {note}" if named else note
        for model, label in zip(report.models, labels(report.models), strict=True)
        for note in model.notes
    ]
    return list(dict.fromkeys(found))


def _decimals(*names: str) -> tuple[Column, ...]:
    return tuple(Column(name, numeric=True, decimal=True) for name in names)


def _form(one: Coefficient) -> str:
    """Return the format of a row: four decimals, or three digits of its standard error.

    >>> _form(Coefficient("time", -1.277859, 0.104254, 0, 0, 0, 0))
    '.4f'
    >>> _form(Coefficient("income", -0.0064689, 0.0031, 0, 0, 0, 0))
    '.5f'
    """
    size = one.error if one.error > 0 else abs(one.value)
    if not (size > 0 and math.isfinite(size)):
        return ".4f"
    return f".{min(12, max(_DECIMALS, _DIGITS - 1 - math.floor(math.log10(size))))}f"
