"""``cschoice test``: hypotheses about choices that need no model of one's own."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from .console import answer_json, answer_table, complain, steps, talk, tell
from .options import Json

if TYPE_CHECKING:
    from cschoice.estimates.independence import ContextTests

app = typer.Typer(help="Test hypotheses about the choices of a dataset.")


@app.callback(invoke_without_command=True)
def test(context: typer.Context) -> None:
    """Show the help where no test is named."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
def context(
    dataset: Annotated[
        str, typer.Option("--dataset", "-d", help="An imported dataset, or a .parquet file.")
    ],
    utility: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TERMS",
            help="The utility without context: 'constants, cost, income:constants'. By default "
            "all features.",
        ),
    ] = None,
    where: Annotated[
        str | None, typer.Option(metavar="CONDITION", help="Tasks to keep: 'age >= 18'.")
    ] = None,
    reference: Annotated[
        str | None, typer.Option(metavar="ALTERNATIVE", help="The one without a constant.")
    ] = None,
    level: Annotated[float, typer.Option(help="Of all tests together.")] = 0.05,
    samples: Annotated[int, typer.Option(min=19, help="Of exchanged choices.")] = 499,
    seed: Annotated[int, typer.Option(help="Of the exchanges.")] = 0,
    as_json: Json = False,
) -> None:
    """Test whether the odds of two objects depend on the rest of the offer.

    cschoice test context --dataset trips

    Likelihood ratios of the multinomial logit in the linear context logit and in the
    context-dependent utility model, Hausman–McFadden for each alternative, and exchanges of
    choices between sets that offer the same two objects, which needs no model. The last line is
    the verdict, for all tests together (Holm); warnings say what the data cannot tell.
    """
    from cschoice.estimates.independence import context_tests

    with talk.status(f"reading {dataset}") as status:
        found = context_tests(
            dataset,
            utility=", ".join(utility or []),
            where=where,
            reference=reference,
            level=level,
            n_samples=samples,
            seed=seed,
            progress=steps(status),
        )
    if as_json:
        answer_json({**asdict(found), "matters": found.matters, "verdict": found.verdict})
        return
    _print(found)


def _print(found: ContextTests) -> None:
    rows = [
        [
            test.name,
            test.of,
            f"{test.statistic:.2f}",
            "" if test.degrees is None else str(test.degrees),
            _probability(test.p),
            _probability(adjusted),
        ]
        for test, adjusted in zip(found.tests, found.adjusted, strict=True)
    ]
    title = f"Tests of context on {found.sample} ({found.n_tasks:,} tasks, {found.n_sets:,} sets)"
    columns = ["test", "of", "#statistic", "#df", "#p", "#together"]
    answer_table(title, columns, rows, folding="of")
    for warning in found.warnings:
        complain(warning, "warning")
    tell(found.verdict)


def _probability(p: float) -> str:
    return f"{p:.4f}" if p >= 0.0001 else f"{p:.1e}"
