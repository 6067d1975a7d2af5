"""The progress of jobs, some of which are in SLURM's queue."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from cschoice.errors import ClusterError
from cschoice.io.locks import claimed_by_living, owner_of
from cschoice.runs.executors import slurm_queue as slurm
from cschoice.runs.executors.slurm_batches import Batches, owner, owns
from cschoice.runs.records import Job
from cschoice.runs.store import Progress, ResultStore


def progress_of(
    store: ResultStore, jobs: Sequence[Job], notify: Callable[[str], None]
) -> list[Progress]:
    """Return the progress of jobs, by their files and by SLURM's queue."""
    batches = Batches(store)
    if not batches.root.is_dir():
        return [store.progress(job) for job in jobs]
    try:
        cluster = slurm.limits().cluster
        tasks = slurm.queue()
    except ClusterError as error:
        notify(f"{error}; this is what the files say")
        return [store.progress(job) for job in jobs]
    living = {owner(task.batch, task.index) for task in tasks if task.active}
    queued = {batches.job(task): task for task in tasks if task.active}

    def claimed(folder: Path) -> bool:
        holder = owner_of(folder)
        return holder in living if owns(cluster, holder) else claimed_by_living(folder)

    def one(job: Job) -> Progress:
        state, task = store.progress(job, claimed), queued.get(job)
        if task is None or state is Progress.DONE:
            return state
        return Progress.RUNNING if task.node else Progress.QUEUED

    states = {job: one(job) for job in jobs}
    lost = {batches.job(task): task.state for task in tasks}
    words = Counter(lost[job] for job in jobs if job in lost and states[job] is Progress.TO_DO)
    for word, n_jobs in words.items():
        notify(f"{n_jobs} jobs ended without a result, SLURM says {word}: run them again")
    return [states[job] for job in jobs]
