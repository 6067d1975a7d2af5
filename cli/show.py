"""``cschoice show``: list what exists."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer

from cschoice.datasets import DATASETS
from cschoice.metrics import METRICS

from .console import answer_json, answer_table

app = typer.Typer(help="List what exists: datasets, metrics.")

Json = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]


@app.callback(invoke_without_command=True)
def show(context: typer.Context) -> None:
    """Show the help when it is not said what to list."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
def datasets(as_json: Json = False) -> None:
    """List the datasets with the paper's sizes, and whether they are available."""
    if as_json:
        answer_json(
            [
                {"name": name, **asdict(info), "available": info.source is not None}
                for name, info in DATASETS.items()
            ]
        )
        return
    answer_table(
        "Datasets (sizes of the paper; per fold)",
        ["name", "kind", "#train", "#test", "#features", "#objects", "available"],
        [
            [
                name,
                str(info.kind),
                _count(info.n_train),
                _count(info.n_test),
                _count(info.n_features),
                _count(info.n_objects),
                "yes" if info.source else "not yet",
            ]
            for name, info in DATASETS.items()
        ],
        folding="name",
    )


@app.command()
def metrics(as_json: Json = False) -> None:
    """List the metrics: for which kind of choice, from what, and which direction is better."""
    rows: list[dict[str, Any]] = [
        {
            "name": metric.name,
            "kinds": sorted(metric.kinds),
            "needs": metric.needs,
            "better": "higher" if metric.higher_is_better else "lower",
            "summary": metric.summary,
        }
        for metric in METRICS.values()
    ]
    if as_json:
        answer_json(rows)
        return
    answer_table(
        "Metrics (top-k exists for every k)",
        ["name", "kind", "needs", "better", "what it is"],
        [
            [row["name"], ", ".join(row["kinds"]), row["needs"], row["better"], row["summary"]]
            for row in rows
        ],
        folding="what it is",
    )


def _count(value: int | tuple[int, int]) -> str:
    """Write a number, or a range as the paper does.

    >>> _count(10_000), _count((5, 38))
    ('10,000', '5–38')
    """
    return f"{value:,}" if isinstance(value, int) else f"{value[0]:,}–{value[1]:,}"
