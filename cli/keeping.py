"""What only the tables of a results folder have stays when they are written anew."""

from __future__ import annotations

from collections.abc import Sequence

from cschoice.errors import InvalidFile
from cschoice.runs.records import Job
from cschoice.runs.store import ResultStore
from cschoice.study.restore import restore
from cschoice.study.settings import Study

from .console import say


def keep_tables(study: Study, store: ResultStore) -> Sequence[Job]:
    """Bring back the jobs that only the tables have, as in a checkout; return them."""
    tables = store.root / "tables"
    if not (tables / "folds.parquet").exists():
        return []
    try:
        restored, _, n_other = restore(study, store)
    except InvalidFile as error:  # there is nothing to keep
        say(str(error))
        return []
    if restored:
        say(f"{len(restored)} jobs were in {tables} alone: they are kept, as done")
    if n_other:
        say(
            f"{n_other} jobs are in {tables} alone, and failed or are of another configuration: "
            "the new tables will be without them"
        )
    return restored
