"""Jobs to outcomes: run the unfinished ones, and share the work with other runs."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from cschoice.errors import FileNotUsable
from cschoice.runs.executors import Executor, OnEvent, Outcome, pause
from cschoice.runs.records import Job, Record, State
from cschoice.runs.store import Progress, ResultStore
from cschoice.runs.worker import give_up


def run_jobs(
    jobs: Sequence[Job], store: ResultStore, executor: Executor, on_event: OnEvent
) -> Iterator[tuple[Outcome, Record | None]]:
    """Run these jobs; yield each outcome with its record.

    Jobs that another run is doing are awaited, and done here if that run dies.
    """
    store.open()
    waiting = list(jobs)
    while waiting:
        elsewhere: list[Job] = []
        for outcome in executor.run(waiting, on_event):
            if outcome.ended == "unusable":
                raise FileNotUsable(outcome.detail or f"cannot write to {store.root}")
            if outcome.ended == "busy":
                elsewhere.append(outcome.job)
                on_event(outcome.job, "another run", {"event": "elsewhere"})
                continue
            if outcome.ended == "died" and store.to_redo(outcome.job):
                yield outcome, _died(outcome)  # its earlier result stays, and what it got to
                continue
            if outcome.ended == "died":
                give_up(store, outcome.job, _died(outcome))
            yield outcome, store.latest(outcome.job)
        waiting = _await(elsewhere, store)
        for job in elsewhere:
            if job not in waiting:
                yield Outcome(job, "elsewhere", "another run"), store.latest(job)


def _await(jobs: Sequence[Job], store: ResultStore) -> list[Job]:
    """Wait until nobody works on these jobs any more; return those that are still not done."""
    started = time.monotonic()
    while any(store.progress(job) is Progress.RUNNING for job in jobs):
        time.sleep(pause(time.monotonic() - started))
    ended = (Progress.DONE, Progress.FAILED, Progress.SKIPPED)
    return [job for job in jobs if store.progress(job) not in ended]


def _died(outcome: Outcome) -> Record:
    return Record(outcome.job.key, State.FAILED, outcome.detail)
