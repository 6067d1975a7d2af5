"""Jobs one after the other in this process: for debugging."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cschoice.errors import FileNotUsable
from cschoice.runs.executors import Executor, ExecutorSettings, OnEvent, Outcome
from cschoice.runs.executors.local import local_slots
from cschoice.runs.protocols.context import Context
from cschoice.runs.records import Job
from cschoice.runs.store import ResultStore
from cschoice.runs.worker import set_threads, work


def inline(store: ResultStore, settings: ExecutorSettings) -> Executor:
    """Return the executor with these settings."""
    device = local_slots(settings.device, 1)[0].device
    return InlineExecutor(store, device, settings.keep_predictions)


@dataclass(frozen=True)
class InlineExecutor:
    """No processes: a debugger stops where the error is."""

    store: ResultStore
    device: str = "cpu"
    keep_predictions: bool = False

    def run(self, jobs: Sequence[Job], on_event: OnEvent) -> Iterator[Outcome]:
        """Run the jobs in order."""
        for job in jobs:
            on_event(job, self.device, {"event": "started"})
            set_threads(job.threads)
            context = Context(
                job,
                self.store,
                self.device,
                self.keep_predictions,
                lambda event, job=job: on_event(job, self.device, event),  # type: ignore[misc]
            )
            try:
                record = work(context)
            except FileNotUsable as error:
                yield Outcome(job, "unusable", self.device, str(error))
                return
            yield Outcome(job, "busy" if record is None else "finished", self.device)
