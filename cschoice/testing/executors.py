"""The promises of an executor."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from cschoice.io.locks import claim
from cschoice.runs.executors import Executor, ExecutorSettings, Outcome, make_executor
from cschoice.runs.records import Budget, Job, State
from cschoice.runs.store import Progress, ResultStore
from cschoice.testing.checks import Check, check_of


def executor_checks(name: str) -> Iterator[Check]:
    """Yield the checks of an executor, which are run one by one."""
    promises = [
        _every_job_ends_once_and_has_its_record, _a_job_that_fails_costs_only_itself,
        _a_job_of_another_run_is_busy, _it_can_be_stopped,
    ]  # fmt: skip
    yield from (check_of(promise, name) for promise in promises)


def _job(fold: int, **changes: Any) -> Job:
    """Return a job of a moment."""
    small = {"n_train": 30, "n_test": 20}
    job: dict[str, Any] = {
        "profile": "check", "experiment": "study", "protocol": "nested", "dataset": "medoid",
        "learner": "random", "fold": fold, "seed": 0, "budget": Budget(0),
        "dataset_parameters": small, "settings": {},
    }  # fmt: skip
    return Job(**{**job, **changes})


@contextmanager
def _prepared(name: str) -> Iterator[tuple[ResultStore, Executor]]:
    with TemporaryDirectory() as folder:
        store = ResultStore(Path(folder).resolve())
        store.open()
        settings = ExecutorSettings(device="cpu", workers=2, notify=lambda _: None)
        yield store, make_executor(name, store, settings)


def _ignore(*_: object) -> None:
    """Tell nobody."""


def _every_job_ends_once_and_has_its_record(name: str) -> None:
    jobs, told = [_job(fold) for fold in range(3)], set()
    with _prepared(name) as (store, executor):
        outcomes = list(executor.run(jobs, lambda job, *_: told.add(job)))
        assert {outcome.job.fold for outcome in outcomes} == {0, 1, 2}
        assert len(outcomes) == 3
        assert all(outcome.ended == "finished" for outcome in outcomes), outcomes
        assert all(store.progress(job) is Progress.DONE for job in jobs)
        assert told == set(jobs), "on_event was not told of every job"
        again = list(executor.run(jobs[:1], _ignore))
        assert [outcome.ended for outcome in again] == ["busy"], "a job that is done was done again"


def _a_job_that_fails_costs_only_itself(name: str) -> None:
    wrong = _job(0, dataset_parameters={"n_train": 30, "n_test": 20, "n_objects": 2})
    with _prepared(name) as (store, executor):
        outcomes = list(executor.run([wrong, _job(1)], _ignore))
        assert {outcome.ended for outcome in outcomes} == {"finished"}
        record = store.record(wrong)
        assert record is not None
        assert record.state is State.FAILED
        assert "the medoid must be unique" in (record.reason or "")
        assert store.progress(_job(1)) is Progress.DONE


def _a_job_of_another_run_is_busy(name: str) -> None:
    job = _job(0)
    with _prepared(name) as (store, executor):
        store.folder(job).mkdir(parents=True)
        with claim(store.folder(job), ""):
            outcomes: list[Outcome] = list(executor.run([job], _ignore))
        assert [outcome.ended for outcome in outcomes] == ["busy"]
        assert store.record(job) is None


def _it_can_be_stopped(name: str) -> None:
    with _prepared(name) as (_, executor):
        outcomes = executor.run([_job(fold) for fold in range(4)], _ignore)
        next(iter(outcomes))
        close = getattr(outcomes, "close", None)
        assert close is not None, "run is no generator: it cannot be stopped"
        close()
