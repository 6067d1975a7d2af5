"""The sections of a report in order, the same in every format."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from cschoice.errors import InvalidPlugin
from cschoice.evaluation.metrics import shown_metrics
from cschoice.registry import Plugins, Registry, leave_out
from cschoice.report.compute import paper
from cschoice.report.compute.summary import Summary
from cschoice.report.contents import pictures
from cschoice.report.contents.best_table import best_table
from cschoice.report.contents.conditions_table import conditions_table
from cschoice.report.contents.descriptions import datasets_table, ranges_table, tried_table
from cschoice.report.contents.fold_sizes import fold_size_tables
from cschoice.report.contents.headlines import headlines
from cschoice.report.contents.marks import marked, other_learners
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
    further: tuple[Table, ...] = ()  # details, folded away or left out where there is no room

    @property
    def behind_pictures(self) -> tuple[Table, ...]:
        """Return the numbers of the pictures, for those who do not see them."""
        return tuple(picture.table for picture in self.pictures if picture.table)

    @property
    def every_table(self) -> tuple[Table, ...]:
        """Return the tables, those behind the pictures and those of details."""
        return (*self.tables, *self.behind_pictures, *self.further)

    @property
    def content(self) -> tuple[object, ...]:
        """Return everything that the section shows."""
        return (*self.text, *self.every_table, *self.pictures)


@dataclass(frozen=True)
class ReportTable:
    """A table of another package: how it is made, and the section whose last table it is."""

    make: Callable[[Summary], Table | None]  # None: there is nothing to show
    section: str = "more"  # by name; "more" is a section of its own


def _of_plugin(name: str, found: Any, target: str) -> ReportTable:  # noqa: ARG001
    """Return the row of a table, or of a function that makes one, of another package."""
    if isinstance(found, ReportTable):
        return found
    if not callable(found):
        raise TypeError(f"{target} is no function that makes a table, and no ReportTable")
    return ReportTable(found)


# The tables of other packages; ours have their places in ``_sections``.
REPORT_TABLES: Registry[ReportTable] = Registry(
    "report table",
    {},
    more=[Plugins("report table", "cschoice.report_tables", _of_plugin, tuple)],
)


@lru_cache(maxsize=1)
def outline(summary: Summary) -> list[Section]:
    """Return the sections that have something to show; several formats show the same ones."""
    others, more = other_learners(summary), _tables_of_plugins(summary)
    sections = [
        replace(section, tables=(*section.tables, *more.pop(section.name, ())))
        for section in _sections(summary)
    ]
    tables = tuple(table for tables in more.values() for table in tables)
    sections.append(Section("more", "More tables", tables=tables))
    return [_with_marks(section, others) for section in sections if section.content]


def _with_marks(section: Section, others: frozenset[str]) -> Section:
    """Mark the names in all tables of a section, those behind its pictures included."""
    return replace(
        section,
        tables=tuple(marked(table, others) for table in section.tables),
        further=tuple(marked(table, others) for table in section.further),
        pictures=tuple(
            replace(one, table=marked(one.table, others)) if one.table else one
            for one in section.pictures
        ),
    )


def _tables_of_plugins(summary: Summary) -> dict[str, list[Table]]:
    """Return the tables of other packages by section; one that fails costs only itself."""
    found: dict[str, list[Table]] = {}
    for name, row in REPORT_TABLES.items():
        try:
            table = row.make(summary)
        except Exception as error:  # noqa: BLE001 - code that is not ours
            reason = f"{type(error).__name__}: {error}"
            leave_out(InvalidPlugin(f"report table '{name}' cannot be made: {reason}"))
            continue
        if table:
            found.setdefault(row.section, []).append(table)
    return found


def _sections(summary: Summary) -> Iterator[Section]:
    results = summary.results
    yield Section("summary", "Summary", tuple(headlines(summary)))
    n_stale = int(summary.inputs.every_fold["stale"].sum())
    if table := conditions_table(summary.conditions, n_stale):
        yield Section("conditions", "Compared with the paper", tables=(table,))
    if summary.missing:
        yield Section("missing", "What is missing", summary.missing)
    yield _winners(summary)
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
    cost = cost_table(summary.inputs, results)
    yield Section("cost", "Computing time", tables=(cost,))
    yield _hyperparameters(summary)
    facts = (datasets_table(summary.inputs, results), *fold_size_tables(summary.inputs))
    yield Section("datasets", "Datasets", pictures=(pictures.tasks(),), further=facts)


def _winners(summary: Summary) -> Section:
    found = [
        winners_table(summary.contests, summary.results),
        best_table(summary.contests, summary.results),
        winners_table(summary.on_likelihood, summary.results, "winners-log-loss"),
    ]
    return Section("winners", "Who wins", tables=tuple(table for table in found if table))


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
    text = "Curves of all experiments with the same profile."
    return Section("curves", "Curves", (text,), pictures=tuple(pictures.curves(summary)))


def _hyperparameters(summary: Summary) -> Section:
    tried = tried_table(summary.inputs)
    return Section(
        "hyperparameters",
        "Hyperparameters",
        pictures=tuple(pictures.tuning(summary)),
        further=(ranges_table(), *((tried,) if tried else ())),
    )
