"""The sections of a report in order, the same in every format."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from cschoice.evaluation.metrics import shown_metrics
from cschoice.report.compute import paper
from cschoice.report.compute.summary import Summary
from cschoice.report.contents import pictures
from cschoice.report.contents.curve_tables import curve_table
from cschoice.report.contents.descriptions import datasets_table, ranges_table, tried_table
from cschoice.report.contents.fold_sizes import fold_size_tables
from cschoice.report.contents.headlines import headlines
from cschoice.report.contents.pictures import Picture
from cschoice.report.contents.score_tables import comparison_table, result_tables
from cschoice.report.contents.table import Table
from cschoice.report.contents.winner_tables import cost_table, ranks_table, winners_table
from cschoice.tasks import Kind

TITLE = "Learning context-dependent choice functions"


@dataclass(frozen=True)
class Section:
    """A part of a report under a heading."""

    name: str
    title: str
    text: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    pictures: tuple[Picture, ...] = ()
    further: tuple[Table, ...] = ()  # details, folded away where the format can


@lru_cache(maxsize=1)
def outline(summary: Summary) -> list[Section]:
    """Return the sections that have something to show; several formats show the same ones."""
    return [section for section in _sections(summary) if section.text or section.tables]


def _sections(summary: Summary) -> Iterator[Section]:
    results = summary.results
    yield Section("summary", "Summary", tuple(headlines(summary)))
    if summary.missing:
        yield Section("missing", "What is missing", summary.missing)
    if summary.contests:
        yield Section("winners", "Who wins", tables=(winners_table(summary.contests, results),))
    if summary.rankings:
        yield Section(
            "ranks",
            "Over all datasets",
            tables=(ranks_table(summary.rankings),),
            pictures=tuple(pictures.ranks(summary)),
        )
    for kind in Kind:
        if summary.of_kind(kind):
            yield _results(summary, kind)
    if summary.curves:
        yield _curves(summary)
    cost = cost_table(summary.inputs, results, summary.against_paper)
    yield Section("cost", "Computing time", tables=(cost,))
    yield _hyperparameters(summary)
    facts = (datasets_table(results), *fold_size_tables())
    yield Section("datasets", "Datasets", tables=facts, pictures=(pictures.tasks(),))


def _results(summary: Summary, kind: Kind) -> Section:
    results = summary.of_kind(kind)
    target, *others = shown_metrics(kind)
    picture = pictures.bars(summary, kind)
    return Section(
        str(kind),
        f"{str(kind).capitalize()} choice",
        tables=(
            *result_tables(results, kind),
            comparison_table(results, kind, target, summary.against_paper),
        ),
        pictures=(picture,) if picture else (),
        further=tuple(
            comparison_table(results, kind, measure, True)
            for measure in others
            if measure in paper.measures()
        )
        if summary.against_paper
        else (),
    )


def _curves(summary: Summary) -> Section:
    drawn = pictures.curves(summary)
    return Section(
        "curves",
        "Curves",
        ("Curves of all experiments with the same profile.",),
        pictures=tuple(drawn),
        further=tuple(curve_table(one.content, f"curve-{one.name}") for one in drawn),
    )


def _hyperparameters(summary: Summary) -> Section:
    tried = tried_table(summary.inputs)
    return Section(
        "hyperparameters",
        "Hyperparameters",
        tables=(ranges_table(),),
        pictures=tuple(pictures.tuning(summary)),
        further=(tried,) if tried else (),
    )
