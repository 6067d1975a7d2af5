"""An executor with a thread for each job, which waits for the job's process."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed

from cschoice.runs.executors import ExecutorSettings, OnEvent, Outcome, log_tail
from cschoice.runs.records import Job
from cschoice.runs.store import ResultStore
from cschoice.runs.worker import EXIT_BUSY, EXIT_UNUSABLE, PROGRAM, arguments, thread_settings

_ENDED = {0: "finished", EXIT_BUSY: "busy", EXIT_UNUSABLE: "unusable"}


class ThreadExecutor:
    """A pool of threads; each starts a worker and waits for it."""

    def __init__(self, store: ResultStore, settings: ExecutorSettings) -> None:
        self.store, self.settings = store, settings
        self.device = "cpu" if settings.device == "auto" else settings.device
        self.workers = settings.workers or settings.resources.options.get("workers", 2)

    def run(self, jobs: Sequence[Job], on_event: OnEvent) -> Iterator[Outcome]:
        """Run every job once; yield outcomes as they complete."""
        pool = ThreadPoolExecutor(self.workers)
        try:
            futures = [pool.submit(self._work, job, on_event) for job in jobs]
            for future in as_completed(futures):
                yield future.result()
        finally:  # workers end with this process; those that wait are not started
            pool.shutdown(wait=False, cancel_futures=True)

    def _work(self, job: Job, on_event: OnEvent) -> Outcome:
        on_event(job, self.device, {"event": "started"})
        folder = self.store.folder(job)
        folder.mkdir(parents=True, exist_ok=True)
        words = arguments(self.store, job, self.device, self.settings.keep_predictions)
        with (folder / "log.txt").open("a") as log:
            done = subprocess.run(
                [*PROGRAM, *words, "--parent", str(os.getpid())],
                env={**os.environ, **thread_settings(job.threads)},
                stdout=subprocess.DEVNULL,
                stderr=log,
                start_new_session=True,
            )
        ended = _ENDED.get(done.returncode, "died")
        detail = "" if done.returncode in (0, EXIT_BUSY) else log_tail(folder / "log.txt")
        return Outcome(job, ended, self.device, detail)  # type: ignore[arg-type]
