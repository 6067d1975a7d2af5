"""``cschoice estimate``: coefficients with standard errors, ready to be published."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import Annotated

import typer
from rich.status import Status

from cschoice.estimates.kinds import BOOTSTRAP, KINDS, check_kind
from cschoice.report import TERMINAL

from .console import print_table, talk
from .documents import FORMATS, check_document, tell_document

_MODEL, _SHOWN = "The model", "What is shown"


def estimate(
    models: Annotated[
        list[str], typer.Argument(help="Logit models: mnl, nl, cnl, mixed-logit, …; several.")
    ],
    dataset: Annotated[
        str, typer.Option("--dataset", "-d", help="An imported dataset, or a .parquet file.")
    ],
    utility: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TERMS",
            help="Terms: 'constants, cost, minutes = time * 60, income:constants' (the last has "
            "a coefficient for each alternative). By default all features.",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    where: Annotated[
        str | None,
        typer.Option(
            metavar="CONDITION", help="Tasks to keep: 'age >= 18'.", rich_help_panel=_MODEL
        ),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(
            metavar="ALTERNATIVE", help="The one without a constant.", rich_help_panel=_MODEL
        ),
    ] = None,
    fix: Annotated[
        list[str] | None,
        typer.Option(metavar="EQUATION", help="'freq = 0.1'; repeatable.", rich_help_panel=_MODEL),
    ] = None,
    bound: Annotated[
        list[str] | None,
        typer.Option(
            metavar="BOUND",
            help="'cost <= 0', '-1 <= time <= 0'; repeatable.",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    start: Annotated[
        list[str] | None,
        typer.Option(
            metavar="EQUATION",
            help="Where the search starts: 'cost = -1'; repeatable.",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    nest: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NEST",
            help="For nl and cnl: 'public=train,bus'; repeatable. Others are alone. Or, for nl, "
            "the name of a column.",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    max_dissimilarity: Annotated[
        float | None,
        typer.Option(
            min=1, help="For nl and cnl: of nests; above 1 on request.", rich_help_panel=_MODEL
        ),
    ] = None,
    random: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COEFFICIENT",
            help="For mixed-logit: 'time=normal, cost=negative-lognormal'; also lognormal, "
            "censored, negative-censored, triangular, uniform. By default all but constants "
            "are normal.",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    correlated: Annotated[
        bool,
        typer.Option(
            "--correlated",
            help="For mixed-logit: let random coefficients correlate.",
            rich_help_panel=_MODEL,
        ),
    ] = False,
    money: Annotated[
        str | None,
        typer.Option(
            metavar="COEFFICIENT",
            help="For mnl and mixed-logit: estimate amounts of it, willingness to pay, instead of "
            "coefficients.",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    error: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ERROR",
            help="For mixed-logit: an error that alternatives share, 'public=train,bus'; "
            "repeatable.",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    draws: Annotated[
        int | None,
        typer.Option(
            min=1, help="For mixed-logit: draws per person (500).", rich_help_panel=_MODEL
        ),
    ] = None,
    integration: Annotated[
        str | None,
        typer.Option(
            help="For mixed-logit: sobol (scrambled), halton or mlhs.", rich_help_panel=_MODEL
        ),
    ] = None,
    classes: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER",
            help="For latent-class: how many, or 2-4: the number with the lowest BIC.",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    membership: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TERMS",
            help="For latent-class: what is known of the chooser and says the class: 'income'.",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    network: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TERMS",
            help="For l-mnl and taste-net: what the network sees, mostly of the chooser: "
            "'age, income'.",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    taste: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COEFFICIENT",
            help="For taste-net: a coefficient that depends on what the network sees; repeatable. "
            "By default all but constants.",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    spec: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The same as YAML: utility, where, reference, fixed, bounds, start, nests, …",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    se: Annotated[
        str,
        typer.Option(help=f"Standard errors: {', '.join(KINDS)}.", rich_help_panel=_SHOWN),
    ] = "robust",
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="What clusters are, instead of the person (import --group).",
            rich_help_panel=_SHOWN,
        ),
    ] = None,
    replications: Annotated[
        int, typer.Option(min=20, help="Of the bootstrap.", rich_help_panel=_SHOWN)
    ] = 200,
    level: Annotated[
        float, typer.Option(help="Of confidence intervals.", rich_help_panel=_SHOWN)
    ] = 0.95,
    wtp: Annotated[
        str | None,
        typer.Option(
            metavar="COEFFICIENT",
            help="Show the willingness to pay, in units of this coefficient's feature.",
            rich_help_panel=_SHOWN,
        ),
    ] = None,
    test: Annotated[
        list[str] | None,
        typer.Option(
            metavar="HYPOTHESIS",
            help="Wald test: 'time = cost', 'a = 0, b = 0', 'time / cost = 2'; repeatable.",
            rich_help_panel=_SHOWN,
        ),
    ] = None,
    iia: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ALTERNATIVE",
            help="Hausman–McFadden test: leave this alternative out; repeatable.",
            rich_help_panel=_SHOWN,
        ),
    ] = None,
    format_: Annotated[
        str,
        typer.Option("--format", help=f"One of {', '.join(FORMATS)}.", rich_help_panel=_SHOWN),
    ] = TERMINAL,
    out: Annotated[
        Path | None,
        typer.Option(help="File to write to, instead of the terminal.", rich_help_panel=_SHOWN),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
    seed: Annotated[int, typer.Option(help="Of draws and starts.")] = 0,
) -> None:
    """Estimate logit models by maximum likelihood and print tables to publish.

    cschoice estimate mnl --dataset trips --se clustered --wtp cost --test "time = cost"

    cschoice estimate mnl nl --dataset trips --nest "public=train,bus" --format latex

    Coefficients are in the units of the data. Several models stand side by side; a model nested in
    another is tested against it.
    """
    check_kind(se)
    check_document(format_, out, force)
    from cschoice.estimates.estimation import estimate as estimated
    from cschoice.estimates.hypotheses import (
        hausman_mcfadden,
        likelihood_ratio,
        nested_in,
        wald,
    )
    from cschoice.estimates.kept import specification_for
    from cschoice.estimates.samples import sample_of
    from cschoice.estimates.willingness import willingness_to_pay
    from cschoice.report.contents.estimate_tables import EstimationReport, estimate_tables

    sections = {
        "utility": ", ".join(utility or []),
        "where": where,
        "reference": reference,
        "fixed": fix,
        "bounds": bound,
        "start": start,
        "nests": nest,
        "max_dissimilarity": max_dissimilarity,
        "random": ", ".join(random or []),
        "correlated": correlated,
        "money": money,
        "errors": error,
        "draws": draws,
        "integration": integration,
        "classes": classes,
        "membership": ", ".join(membership or []),
        "network": ", ".join(network or []),
        "tastes": taste,
    }
    written = specification_for(dataset, spec, **sections)
    with talk.status(f"reading {dataset}") as status:
        sample = sample_of(dataset)
        found = []
        for model in models:
            status.update(f"estimating {model}")
            found.append(estimated(sample, model, written, cluster=cluster, seed=seed))
        if se == BOOTSTRAP:
            for one in found:
                one.bootstrap(replications, _telling(status, f"bootstrap of {one.model}"))
        status.update("testing")
        tests = [wald(one, text, se) for text in test or [] for one in found]
        tests += [hausman_mcfadden(one, name, se) for name in iia or [] for one in found]
        tests += [
            likelihood_ratio(small, large, kind)
            for small, large in permutations(found, 2)
            if nested_in(small, large)
            for kind in dict.fromkeys(("classical", se))
        ]
        paid = [willingness_to_pay(one, wtp, se, level) for one in found] if wtp else []
        report = EstimationReport(tuple(found), se, level, tuple(tests), tuple(paid))
    if format_ == TERMINAL:
        for table in estimate_tables(report):
            print_table(table)
        return
    from cschoice.report.formats import estimates

    tell_document(estimates.FORMATS[format_](report), out)


def _telling(status: Status, name: str) -> Callable[[int, int], None]:
    """Return a function that shows how far something is."""
    return lambda done, of: status.update(f"{name}: {done} of {of}")
