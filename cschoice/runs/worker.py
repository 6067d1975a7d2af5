"""One job in one process: the program that executors start, here or on a cluster.

    python -m cschoice.runs.worker --results RESULTS --job '{"dataset": "medoid", …}'

Results go through files only. Lines of JSON on stdout tell the parent how it goes; everything
else that is printed goes to the job's log.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any

from cschoice.datasets import DATASETS
from cschoice.errors import CschoiceError, DataUnavailable, FileNotUsable, MissingDependency
from cschoice.evaluation.metrics import METRICS
from cschoice.io.documents import adapter, from_json, to_json
from cschoice.io.files import explained, make_folder
from cschoice.io.locks import ClaimLost, claim
from cschoice.learners import LEARNERS
from cschoice.runs.environment import environment
from cschoice.runs.protocols.context import Context
from cschoice.runs.protocols.protocol import protocol_of
from cschoice.runs.records import Job, Record, State
from cschoice.runs.sources import check_sources
from cschoice.runs.store import ResultStore

PROGRAM = (sys.executable, "-m", "cschoice.runs.worker")
EXIT_BUSY = 75  # someone else works on this job, or has done it
EXIT_UNUSABLE = 74  # the results folder cannot be written
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def arguments(store: ResultStore, job: Job, device: str, keep_predictions: bool) -> list[str]:
    """Return the command-line arguments of a worker, the same for every executor."""
    return [
        "--results", str(store.root),
        "--job", to_json(asdict(job)),
        "--device", device,
        *(["--keep-predictions"] if keep_predictions else []),
    ]  # fmt: skip


def thread_settings(n_threads: int) -> dict[str, str]:
    """Return the environment in which libraries start that many threads."""
    return dict.fromkeys(_THREADS, str(n_threads))


def work(context: Context, owner: str = "") -> Record | None:
    """Do a job and write its record; None if another process is at it, or was faster.

    The one place that catches everything: whatever a job does costs only that job.
    """
    job, store = context.job, context.store
    folder = store.folder(job)
    with explained(folder):
        make_folder(folder)
    with claim(folder, owner) as mine:
        if mine is None:
            return None
        if store.done(job):
            return None
        store.begin(job)
        try:
            check_sources(job.sources, job.dataset, job.registered)
            record = protocol_of(job).run(replace(context, holds=mine.held))
        except ClaimLost:
            return None
        except (DataUnavailable, MissingDependency) as error:
            record = ended(context, State.SKIPPED, str(error))
        except FileNotUsable:
            raise
        except CschoiceError as error:
            record = ended(context, State.FAILED, f"{type(error).__name__}: {error}")
        except Exception:  # noqa: BLE001
            record = ended(context, State.FAILED, traceback.format_exc())
        if not mine.held():
            return None
        store.finish(job, record)
        return record


def give_up(store: ResultStore, job: Job, record: Record, owner: str = "") -> None:
    """Write the record of a job whose worker could not, unless it is done or claimed by another."""
    folder = store.folder(job)
    with explained(folder):
        make_folder(folder)
    with claim(folder, owner) as mine:
        if mine is not None and not store.done(job):
            store.begin(job)
            store.finish(job, record)


def ended(context: Context, state: State, reason: str) -> Record:
    """Return the record of a job without results."""
    here = {**environment(context.device), **context.job.sources}
    return Record(context.job.key, state, reason, environment=here)


def main(words: Sequence[str] | None = None) -> int:
    """Read the job, do it, and return the exit code."""
    parser = argparse.ArgumentParser(description="Do one job.")
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--job", required=True, help="the job, as JSON")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--keep-predictions", action="store_true")
    parser.add_argument("--parent", type=int, help="end when this process does")
    parser.add_argument("--owner", default="", help="who takes the job over from an earlier life")
    options = parser.parse_args(words)
    if options.parent:
        die_with(options.parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to stop
    tell = _teller()
    job: Job = from_json(Job, options.job, "the job")
    set_threads(job.threads, prepared=True)
    context = Context(
        job, ResultStore(options.results), options.device, options.keep_predictions, tell
    )
    try:
        record = work(context, options.owner)
    except (FileNotUsable, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return EXIT_UNUSABLE
    return EXIT_BUSY if record is None else 0


def _teller() -> Callable[[Any], None]:
    """Keep stdout for events to the parent; every other output goes to the log."""
    channel = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)

    def tell(event: Any) -> None:
        channel.write(json.dumps(event) + "\n")

    return tell


def prepare() -> None:
    """Do the work common to all jobs once, for the forks of this process."""
    environment("cpu")
    for kind in (Job, Record):
        adapter(kind)
    for registry in (LEARNERS, DATASETS, METRICS):
        assert "" not in registry  # looks through the packages that are installed
    _thread_pools.cache_clear()
    _thread_pools()


@cache
def _thread_pools() -> Any:
    """Return the pools of the libraries that are loaded so far; finding them takes a while."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def set_threads(n_threads: int, *, prepared: bool = False) -> None:
    """Use the job's number of threads; the environment does so for libraries not yet loaded.

    ``prepared``: this process is for one job, and its libraries are those of ``prepare``.
    """
    os.environ.update(thread_settings(n_threads))
    if not prepared:
        _thread_pools.cache_clear()
    _thread_pools().limit(limits=n_threads)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(n_threads)


def die_with(parent: int) -> None:
    """Have the kernel end this process when its parent is killed."""
    if sys.platform == "linux":
        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)
    if os.getppid() != parent:  # it was already gone
        os._exit(1)


if __name__ == "__main__":
    sys.exit(main())
