"""``cschoice whatif``: how choices would change, of any fitted model or estimates."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cschoice.estimates.kinds import KINDS, check_kind
from cschoice.io.files import replacing
from cschoice.report import TERMINAL

from .asking import check_files, name_of, revenues_of, source_of
from .console import print_table, steps, talk, tell
from .documents import FORMATS, tell_document

if TYPE_CHECKING:
    from cschoice.effects.questions import Answers

_SCENARIO, _EFFECTS, _SHOWN = "The scenario", "Effects", "What is shown"


def whatif(
    data: Annotated[
        str, typer.Argument(help="An imported dataset, or a table like the one learned from.")
    ],
    model: Annotated[
        list[str],
        typer.Option(
            "--model",
            "-m",
            help="A folder of 'cschoice fit' or 'run' (one that holds fold-0/model, … gives all "
            "folds), or a logit model to estimate first: mnl, nl, …; repeatable for folds.",
        ),
    ],
    utility: Annotated[
        list[str] | None,
        typer.Option(metavar="TERMS", help="Of a model to estimate, as for 'cschoice estimate'."),
    ] = None,
    spec: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The same as YAML, as for 'cschoice estimate'."),
    ] = None,
    change: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CHANGE",
            help="'train.time * 0.8', 'cost + 2', 'train.time = 30'; repeatable, in order.",
            rich_help_panel=_SCENARIO,
        ),
    ] = None,
    remove: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ALTERNATIVE",
            help="Take an alternative away; repeatable.",
            rich_help_panel=_SCENARIO,
        ),
    ] = None,
    add: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ALTERNATIVE",
            help="Offer one more: 'night: like train, time = 480, cost = train.cost * 0.8'.",
            rich_help_panel=_SCENARIO,
        ),
    ] = None,
    scenario: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Several scenarios in YAML, each with change, remove, add; where and by, too.",
            rich_help_panel=_SCENARIO,
        ),
    ] = None,
    where: Annotated[
        str | None,
        typer.Option(
            metavar="CONDITION", help="Tasks to keep: 'income > 50'.", rich_help_panel=_SCENARIO
        ),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CONDITION",
            help="Segments: 'income > 50' and the others, or a column; repeatable.",
            rich_help_panel=_SCENARIO,
        ),
    ] = None,
    of: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="What objects are told apart by where they have no names: 'brand', 'cost > 5'.",
            rich_help_panel=_SCENARIO,
        ),
    ] = None,
    money: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Show the change of consumer surplus, in units of this column.",
            rich_help_panel=_EFFECTS,
        ),
    ] = None,
    elasticity: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Own and cross elasticities; repeatable.",
            rich_help_panel=_EFFECTS,
        ),
    ] = None,
    arc: Annotated[
        float | None,
        typer.Option(
            metavar="PER CENT",
            help="Arc elasticities: of so many per cent more, not of a little.",
            rich_help_panel=_EFFECTS,
        ),
    ] = None,
    marginal: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Marginal effects, per unit; repeatable.",
            rich_help_panel=_EFFECTS,
        ),
    ] = None,
    at: Annotated[
        str,
        typer.Option(help="Both over all tasks (sample), or at means.", rich_help_panel=_EFFECTS),
    ] = "sample",
    diversion: Annotated[
        bool,
        typer.Option(
            "--diversion",
            help="Where the choosers of each alternative would go without it.",
            rich_help_panel=_EFFECTS,
        ),
    ] = False,
    calibration: Annotated[
        bool,
        typer.Option("--calibration", help="Predicted against observed.", rich_help_panel=_EFFECTS),
    ] = False,
    assortment: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="NUMBER",
            help="The best offer of at most so many alternatives; needs --revenue.",
            rich_help_panel=_EFFECTS,
        ),
    ] = None,
    revenue: Annotated[
        str | None,
        typer.Option(
            metavar="REVENUES",
            help="Of each choice: 'bus=1, train=6' (others earn nothing), or a column.",
            rich_help_panel=_EFFECTS,
        ),
    ] = None,
    always: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ALTERNATIVE",
            help="Is in every assortment, not counted; repeatable.",
            rich_help_panel=_EFFECTS,
        ),
    ] = None,
    intervals: Annotated[
        str | None,
        typer.Option(
            help="delta or krinsky-robb (estimates), folds, bootstrap, none. By default delta for "
            "estimates, folds for several models.",
            rich_help_panel=_SHOWN,
        ),
    ] = None,
    se: Annotated[
        str,
        typer.Option(
            help=f"Standard errors of estimates: {', '.join(KINDS)}.", rich_help_panel=_SHOWN
        ),
    ] = "robust",
    level: Annotated[float, typer.Option(help="Of intervals.", rich_help_panel=_SHOWN)] = 0.95,
    draws: Annotated[
        int | None,
        typer.Option(
            min=2, help="Of krinsky-robb (500) or bootstrap (20).", rich_help_panel=_SHOWN
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
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Draw the calibration: .svg or .pdf.", rich_help_panel=_SHOWN
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.")] = False,
    seed: Annotated[int, typer.Option(help="Of draws and fits.")] = 0,
) -> None:
    """Ask a fitted model how choices would change if the data were different.

    cschoice whatif trips --model models/trips-feta --change "train.time * 0.8" --by "income > 50"

    cschoice whatif trips --model mnl --elasticity cost --money cost --remove bus

    Scenarios speak of the columns of your table; everything made of them follows. Shares of
    subset choice are rates of inclusion.
    """
    check_kind(se)
    check_files(format_, out, plot, force)
    from cschoice.effects.functions import asked
    from cschoice.effects.questions import Questions, answers
    from cschoice.effects.scenarios import Scenario, read_scenarios
    from cschoice.effects.ways import way_of

    given = read_scenarios(scenario) if scenario else {}
    sections = {"change": change, "remove": remove, "add": add}
    own = {name: value for name, value in sections.items() if value}
    questions = Questions(
        [*given.get("scenarios", []), *([Scenario.of(name_of(own), own)] if own else [])],
        [*given.get("by", []), *(by or [])],
        of,
        money,
        elasticity or [],
        arc,
        marginal or [],
        at,
        diversion,
        calibration or plot is not None,
        assortment,
        revenues_of(revenue, assortment),
        always or [],
    )
    with talk.status(f"reading {data}") as status:
        step = steps(status)

        def telling(name: str) -> Callable[[int, int], None]:
            return lambda done, of: step(f"{name}: {done} of {of}")

        condition = where or given.get("where")
        models, situations = asked(*source_of(data, model, utility, spec, seed, step), condition)
        way = way_of(
            models, situations, intervals, errors=se, level=level, draws=draws, seed=seed
        )  # fmt: skip
        found = answers(questions, way, situations, data, telling)
    if plot is not None:
        _draw(found, plot)
    _show(found, format_, out)


def _draw(found: Answers, path: Path) -> None:
    from cschoice.report.contents.effect_tables import effect_sections
    from cschoice.report.figures.drawing import drawn, on_white

    (picture,) = (picture for section in effect_sections(found) for picture in section.pictures)
    suffix = path.suffix[1:]
    content = drawn(picture, suffix)
    with replacing(path) as (temporary,):
        temporary.write_bytes(on_white(content) if suffix == "svg" else content)


def _show(found: Answers, format_: str, out: Path | None) -> None:
    """Print the answers, or write them to a file."""
    from cschoice.effects.rows import rows_of
    from cschoice.report.contents.effect_tables import effect_sections

    sections = effect_sections(found)
    if format_ == TERMINAL:
        for section in sections:
            for table in section.tables:
                print_table(table)
            for line in section.text:
                tell(f"{line}\n")
        return
    from cschoice.report.formats import documents

    text = documents.FORMATS[format_](documents.Document(found.title, sections, rows_of(found)))
    tell_document(text, out)
