"""Jobs on a SLURM cluster, as job arrays sent through submitit.

The results folder says what is done and SLURM's queue what is on its way; nothing else is
remembered, so any run can go on where another one left off. submitit submits, and puts a job back
into the queue when its time is over. How jobs are doing, SLURM is asked itself: submitit needs
accounting for that, looks rarely, and takes a job on a lost node, which SLURM runs again, for dead.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from cschoice.errors import ClusterError
from cschoice.io.files import refresh
from cschoice.io.locks import claimed_by_living, owner_of, release
from cschoice.runs.executors import (
    Executor,
    ExecutorSettings,
    OnEvent,
    Outcome,
    log_tail,
    pause,
    slurm_queue,
)
from cschoice.runs.executors.resources import Resources
from cschoice.runs.executors.slurm_batches import Batches, owner, owns
from cschoice.runs.executors.slurm_queue import Task
from cschoice.runs.executors.slurm_submission import Submission
from cschoice.runs.job_files import JOURNAL
from cschoice.runs.records import Job
from cschoice.runs.store import Progress, ResultStore
from cschoice.runs.tuning import best_trial

_MAX_FAILURES = 3  # in a row, without getting further in between
_WANTED = ("CANCELLED", "DEADLINE")  # someone decided so: it does not run again by itself
_HINTS = {"OUT_OF_MEMORY": "--mem", "exceeded memory limit": "--mem", "TIMEOUT": "--time"}


def slurm(store: ResultStore, settings: ExecutorSettings) -> Executor:
    """Return the executor with these settings."""
    return SlurmExecutor(
        store,
        settings.resources,
        device=settings.device,
        keep_predictions=settings.keep_predictions,
        notify=settings.notify,
    )


class SlurmExecutor:
    """Hands jobs to SLURM and watches them; whoever stops watching leaves them running."""

    def __init__(
        self,
        store: ResultStore,
        resources: Resources,
        *,
        device: str = "auto",
        keep_predictions: bool = False,
        notify: Callable[[str], None],
    ) -> None:
        self.store, self.resources, self.notify = store, resources, notify
        self.watched: dict[str, Job] = {}  # by SLURM's name of the task
        self.unsent: list[Job] = []  # more than SLURM takes now
        self._limits = slurm_queue.limits()  # before anything is written: is there a SLURM at all?
        self._batches = Batches(store)
        self._submission = Submission(self._batches, resources, device, keep_predictions)
        self._owners: dict[str, str] = {}
        self._failures: dict[Job, tuple[int, str]] = {}  # how many, and how far it had come
        self._journals: dict[Job, int] = {}  # sizes, to read them only when they grew
        self._arrays: set[str] = set()  # of this results folder, whoever watches them
        self._last_message = ""

    def submit(self, jobs: Sequence[Job]) -> int:
        """Submit the jobs that are not in the queue; return their number."""
        holders = {job: owner_of(self.store.folder(job)) for job in jobs}  # before the queue
        tasks = slurm_queue.queue()
        self._batches.sweep(tasks, self._limits.cluster)
        active = [task for task in tasks if task.active]
        self._arrays = {task.array for task in active if self._batches.job(task)}
        self._adopt(jobs, active)
        living = {owner(task.batch, task.index) for task in active}
        known = set(self.watched.values())
        missing = [job for job in jobs if job not in known]
        for job in missing:
            if owns(self._limits.cluster, holders[job]) and holders[job] not in living:
                release(self.store.folder(job), holders[job])
        self.unsent = missing.copy()
        self._send()
        return len(missing) - len(self.unsent)

    def run(self, jobs: Sequence[Job], on_event: OnEvent) -> Iterator[Outcome]:
        """Submit the jobs, then watch them to their end."""
        self.submit(jobs)
        started = time.monotonic()
        tasks: dict[str, Task] = {}
        while self.watched or self.unsent:
            time.sleep(pause(time.monotonic() - started))
            try:
                tasks = {task.id: task for task in slurm_queue.queue()}
                for task_id, job in list(self.watched.items()):
                    task = tasks.get(task_id)
                    if task is not None and task.active:
                        self._report(job, task, on_event)
                    elif outcome := self._ended(task_id, job, task):
                        del self.watched[task_id]
                        yield outcome
            except ClusterError as error:  # a controller that restarts comes back
                self._say_once(f"{error}; waiting for it")
                continue
            self._send()
        self._batches.sweep(tasks.values(), self._limits.cluster)

    def cancel(self) -> None:
        """Cancel the watched tasks; a worker that still lives finds its claim gone."""
        slurm_queue.cancel(*self.watched)
        for task_id, job in self.watched.items():
            release(self.store.folder(job), self._owners[task_id])

    def _adopt(self, jobs: Sequence[Job], active: Sequence[Task]) -> None:
        """Watch the jobs that are in the queue already; cancel those of a changed study."""
        asked = {self.store.folder(job): job for job in jobs}
        outdated: dict[str, tuple[Path, str]] = {}
        for task in active:
            queued = self._batches.job(task)
            job = asked.get(self.store.folder(queued)) if queued else None
            if queued is None or job is None:
                continue
            if job.key != queued.key:
                outdated[task.id] = self.store.folder(job), owner(task.batch, task.index)
            elif job not in self.watched.values():
                self._watch(task.id, job, owner(task.batch, task.index))
        if outdated:
            self.notify(f"cancelling {len(outdated)} queued jobs of another configuration")
            slurm_queue.cancel(*outdated)
            for folder, holder in outdated.values():
                release(folder, holder)
        if self.watched:
            self.notify(f"{len(self.watched)} jobs are in SLURM's queue already")

    def _send(self) -> None:
        """Submit the jobs that are not in the queue, as far as there is room."""
        while self.unsent:
            before = self._arrays | {task_id.split("_")[0] for task_id in self.watched}
            try:
                sent = self._submission.send(self.unsent, self._limits, before)
            except ClusterError as error:
                if not self.watched:  # nothing will change by waiting
                    raise
                self._say_once(f"{len(self.unsent)} jobs have to wait: {error}")
                return
            for index, (task_id, job) in enumerate(sent.tasks.items()):
                self._watch(task_id, job, owner(sent.batch, index))
                self.unsent.remove(job)
            self.notify(f"{len(sent.tasks)} jobs submitted as SLURM job {sent.array}")

    def _watch(self, task_id: str, job: Job, holder: str) -> None:
        self.watched[task_id], self._owners[task_id] = job, holder

    def _report(self, job: Job, task: Task, on_event: OnEvent) -> None:
        """Report the place of a task and its last trial."""
        if not task.node:
            on_event(job, "", {"event": "queued", "reason": task.reason})
            return
        on_event(job, task.node, {"event": "running"})
        try:
            size = (self.store.place(job) / JOURNAL).stat().st_size
        except OSError:
            return
        if size != self._journals.get(job):
            self._journals[job] = size
            trials = self.store.trials(job)
            best = best_trial(trials)
            number = min(len(trials), job.budget.n_trials - 1)
            loss = best.loss if best else None
            on_event(job, task.node, {"event": "tried", "number": number, "rung": "", "best": loss})

    def _ended(self, task_id: str, job: Job, task: Task | None) -> Outcome | None:
        """Return the outcome of a task that left the queue; None if it runs again."""
        folder = self.store.folder(job)
        node = task.node if task else ""
        refresh(folder)
        release(folder, self._owners[task_id])
        state = self.store.progress(job, claimed_by_living)
        if state is Progress.RUNNING:
            return Outcome(job, "busy", node)
        ended = task is None or task.state == "COMPLETED"
        if state is Progress.DONE or (ended and state in (Progress.FAILED, Progress.SKIPPED)):
            return Outcome(job, "finished", node)
        return self._died(task_id, job, task)

    def _died(self, task_id: str, job: Job, task: Task | None) -> Outcome | None:
        """Run a task again that ended without a record, unless it keeps doing so."""
        words = slurm_queue.last_words(task_id) or "nothing: it does not know the job any more"
        reached = self.store.progress_mark(job)
        count, before = self._failures.get(job, (0, reached))
        count = count + 1 if reached == before else 1
        state = task.state if task else ""
        if state not in _WANTED and (count < _MAX_FAILURES or state == "PREEMPTED"):
            self._again(task_id, job)
            self._failures[job] = (count, reached)
            self.notify(f"{job.label} goes on again; SLURM says {words}")
            return None
        log = self._batches.root / self._owners[task_id].split()[1] / f"{task_id}_0_log.out"
        end_of_logs = f"{log_tail(self.store.folder(job) / 'log.txt')}\n{log_tail(log)}"
        hints = {hint for text, hint in _HINTS.items() if text in end_of_logs + words}
        advice = f": give it more with {' and '.join(sorted(hints))}" if hints else ""
        times = f" {count} times" if count > 1 else ""
        detail = f"{end_of_logs}\nfailed{times}, SLURM says {words}{advice}"
        return Outcome(job, "died", task.node if task else "", detail)

    def _again(self, task_id: str, job: Job) -> None:
        """Put a task back into the queue, or else its job."""
        try:
            slurm_queue.requeue(task_id)
        except ClusterError:  # forgotten; or someone else was faster
            if not any(task.id == task_id and task.active for task in slurm_queue.queue()):
                del self.watched[task_id]
                self.unsent.append(job)

    def _say_once(self, message: str) -> None:
        if message != self._last_message:
            self.notify(message)
        self._last_message = message
