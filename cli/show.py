"""``cschoice show``: lists of datasets, learners, metrics and executors, and their origins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import typer

from cschoice.datasets import DATASETS
from cschoice.datasets.raw.catalogue import RAW_DATA
from cschoice.evaluation.metrics import METRICS
from cschoice.learners import LEARNERS
from cschoice.origins import origin
from cschoice.registry import Registry
from cschoice.runs.executors import EXECUTORS
from cschoice.space import Categorical, Dimension

from .console import answer_json, answer_table, talk
from .options import Json

app = typer.Typer(
    help="List the datasets, learners, metrics and executors of cschoice and of other packages."
)


@app.callback(invoke_without_command=True)
def show(context: typer.Context) -> None:
    """Show the help where no list is named."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
def datasets(as_json: Json = False) -> None:
    """List the datasets with the paper's sizes, and whether their raw data are there."""
    present = {name for name, raw in RAW_DATA.items() if raw.present()}
    if as_json:
        answer_json(
            [
                {
                    "name": name,
                    **asdict(info),
                    "available": info.raw in {None, *present},
                    "from": _from(DATASETS, name),
                }
                for name, info in DATASETS.items()
            ]
        )
        return
    answer_table(
        "Datasets (sizes of the paper; per fold)",
        ["name", "kind", "#train", "#test", "#features", "#objects", "raw data", "from"],
        [
            [
                name,
                str(info.kind),
                _count(info.n_train),
                _count(info.n_test),
                _count(info.n_features),
                _count(info.n_objects),
                "–" if info.raw is None else "present" if info.raw in present else "missing",
                _from(DATASETS, name),
            ]
            for name, info in DATASETS.items()
        ],
        folding="name",
    )
    if absent := [name for name in RAW_DATA if name not in present]:
        talk.print(
            f"'cschoice data list' says where {', '.join(absent)} can be had", soft_wrap=True
        )


@app.command()
def learners(as_json: Json = False) -> None:
    """List the learners with their kinds of choice and the search space of each."""
    if as_json:
        answer_json(
            [
                {
                    "name": name,
                    "label": info.label,
                    "in_paper": info.in_paper,
                    "from": _from(LEARNERS, name),
                    "kinds": sorted(info.kinds),
                    "parameters": info.parameters,
                    "search_space": {
                        dimension: asdict(row)
                        for dimension, row in info.learner.search_space.items()
                    },
                }
                for name, info in LEARNERS.items()
            ]
        )
        return
    answer_table(
        "Learners and what is tuned (drop and epochs_drop: with the recipe 'paper' only; a profile "
        "may narrow it)",
        ["name", "from", "in the paper", "kinds", "tuned"],
        [
            [
                name,
                _from(LEARNERS, name),
                "yes" if info.in_paper else "no",
                ", ".join(sorted(info.kinds)),
                _space(info.learner.search_space),
            ]
            for name, info in LEARNERS.items()
        ],
        folding="tuned",
    )


@app.command()
def metrics(as_json: Json = False) -> None:
    """List the metrics with their kinds of choice, their inputs and the better direction."""
    rows: list[dict[str, Any]] = [
        {
            "name": metric.name,
            "label": metric.label,
            "kinds": sorted(metric.kinds),
            "needs": metric.needs,
            "better": "higher" if metric.higher_is_better else "lower",
            "shown": metric.shown,
            "from": _from(METRICS, metric.name),
            "summary": metric.summary,
        }
        for metric in METRICS.values()
    ]
    if as_json:
        answer_json(rows)
        return
    answer_table(
        "Metrics (top-k exists for every k)",
        ["name", "kind", "needs", "better", "in reports", "from", "what it is"],
        [
            [
                row["name"],
                ", ".join(row["kinds"]),
                row["needs"],
                row["better"],
                "column" if row["shown"] else "numbers",
                row["from"],
                row["summary"],
            ]
            for row in rows
        ],
        folding="what it is",
    )


@app.command()
def executors(as_json: Json = False) -> None:
    """List the executors, the places where jobs run."""
    rows = [{"name": name, "from": _from(EXECUTORS, name)} for name in EXECUTORS]
    if as_json:
        answer_json(rows)
        return
    answer_table(
        "Executors", ["name", "from"], [[row["name"], row["from"]] for row in rows], "from"
    )


def _from(registry: Registry[Any], name: str) -> str:
    """Return the package that brings a row, with its version, or else its module."""
    if name in registry.written:
        return "cschoice"
    place = registry.foreign(name)
    return origin(place).package or place if place else "imported"


def _space(space: Mapping[str, Dimension]) -> str:
    return ", ".join(
        f"{name} {'|'.join(row.options)}"
        if isinstance(row, Categorical)
        else f"{name} {row.low:g}–{row.high:g}"
        for name, row in space.items()
    )


def _count(value: int | tuple[int, int] | None) -> str:
    """Write a number, or a range as the paper does.

    >>> _count(10_000), _count((5, 38))
    ('10,000', '5–38')
    """
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) else f"{value[0]:,}–{value[1]:,}"
