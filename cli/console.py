"""Printing: answers to stdout, the conversation to stderr."""

from __future__ import annotations

import json
import time
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.status import Status
from rich.table import Table

if TYPE_CHECKING:
    from cschoice.report.contents import table as reports
    from cschoice.runs.store import ResultStore

talk = Console(stderr=True)
_WIDE = Console(width=1_000).options
_MANY = 10
# Of Unicode: controls, halves of characters, breaks; and what turns the direction of writing.
_CONTROLS = {"Cc", "Cs", "Zl", "Zp"}
_TURNS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


def visible(text: str) -> str:
    r"""Return a text with control characters shown instead of obeyed: names are anybody's.

    >>> visible("a\x1b[2Jb")
    'a\\x1b[2Jb'
    """
    return "".join(
        letter
        if letter in "\n\t" or _is_plain(letter)
        else letter.encode("unicode_escape").decode("ascii")
        for letter in text
    )


def _is_plain(letter: str) -> bool:
    turns = unicodedata.bidirectional(letter) in _TURNS
    return unicodedata.category(letter) not in _CONTROLS and not turns


def complain(message: str, kind: str = "error") -> None:
    """Print an error or a warning in one line."""
    typer.echo(f"{kind}: {visible(message)}", err=True)


def tell(text: object, *, newline: bool = True) -> None:
    """Print an answer to stdout."""
    typer.echo(visible(str(text)), nl=newline)


def say(message: str) -> None:
    """Print a message about the progress in one line."""
    talk.print(visible(message), highlight=False, markup=False, soft_wrap=True)


def steps(status: Status, every: float = 5.0) -> Callable[[str], None]:
    """Return a function that shows the current step: on a terminal at once, in a log in lines.

    A log has at most a line in so many seconds, so that what is quick leaves none.
    """
    started = last = time.monotonic()

    def step(name: str) -> None:
        nonlocal last
        status.update(escape(visible(name)))
        now = time.monotonic()
        if not talk.is_terminal and now - last >= every:
            last = now
            say(f"{now - started:6.0f} s  {name}")

    return step


def warn_of_damage(store: ResultStore) -> None:
    """Name damaged files, which count as not there."""
    problems = [*store.damage.values(), *([store.tables.damage] if store.tables.damage else [])]
    for problem in problems[:_MANY]:
        complain(problem)
    if len(problems) > _MANY:
        complain(f"{len(problems) - _MANY} more files are damaged")
    if store.damage:
        say(f"{len(store.damage)} jobs count as not done: 'cschoice run' does them again")


def answer_table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], folding: str
) -> None:
    """Print a table to stdout; columns whose name starts with '#' are numbers.

    On a narrow terminal only the column ``folding`` gives way: no number is ever cut.
    """
    table = Table(title=visible(title), title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        justify: Literal["left", "right"] = "right" if column.startswith("#") else "left"
        folds = column == folding
        table.add_column(column.lstrip("#"), justify=justify, no_wrap=not folds, overflow="fold")
    for row in rows:
        table.add_row(*(escape(visible(cell)) for cell in row))
    console = Console()
    # A pipe has no width, and a table that is too wide for its terminal is wrapped, never cut.
    width = console.width if console.is_terminal else 160
    Console(width=max(width, table.__rich_measure__(console, _WIDE).minimum)).print(table)


def print_table(table: reports.Table) -> None:
    """Print a table of a report to stdout, with its notes."""
    from cschoice.report.contents import table as reports

    columns = [
        f"#{column.label}" if column.numeric or column.scores else column.label
        for column in table.columns
    ]
    shown = list(table.rows())
    rows = [[reports.plain(cell, table.gaps) for cell in row] for row in shown]
    wide = [column.label for column in table.columns if column.wide]
    answer_table(table.caption, columns, rows, folding=(wide or columns)[0])
    notes = [f"[{number}] {reason}" for number, reason in enumerate(table.gaps, start=1)]
    if any(isinstance(cell, reports.ScoreCell) and cell.best for row in shown for cell in row):
        notes.insert(0, "* best on its dataset")
    tell("\n".join([*notes, *table.notes, ""]))


def answer_json(rows: Any) -> None:
    """Print JSON for scripts."""
    typer.echo(json.dumps(rows, indent=2, ensure_ascii=False))
