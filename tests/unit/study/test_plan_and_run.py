"""The records of a run, by the way its workers ended."""

import pytest
from job_examples import make_job, make_record

from cschoice.runs.executors import Outcome
from cschoice.runs.records import State
from cschoice.runs.run import run_jobs
from cschoice.runs.store import Progress, ResultStore
from cschoice.study.config import load
from cschoice.study.plan import Selection, plan, planned_on_disk


@pytest.fixture
def store(tmp_path):
    store = ResultStore(tmp_path / "results")
    store.open()
    return store


class _Dying:
    """An executor whose workers end before they begin."""

    def run(self, jobs, _on_event):
        for job in jobs:
            yield Outcome(job, "died", "cpu:0", "no such module")


def test_a_job_to_be_redone_that_never_began_keeps_its_results(store):
    job = make_job()
    store.begin(job)
    store.finish(job, make_record(job))
    store.redo(job)
    ((_, record),) = run_jobs([job], store, _Dying(), lambda *_: None)
    assert record.state is State.FAILED
    assert store.record(job) == make_record(job)
    assert store.progress(job) is Progress.STALE


def test_a_job_whose_process_died_is_written_down_as_failed(store):
    job = make_job()
    ((_, record),) = run_jobs([job], store, _Dying(), lambda *_: None)
    assert (record.state, record.reason) == (State.FAILED, "no such module")
    assert store.record(job) == record


class _Busy:
    """An executor that finds another run at every job; that run is done by then."""

    def __init__(self, store):
        self.store = store

    def run(self, jobs, _on_event):
        for job in jobs:
            self.store.begin(job)
            self.store.finish(job, make_record(job))
            yield Outcome(job, "busy", "cpu:0")


def test_what_another_run_has_done_is_told_too(store):
    job, events = make_job(), []
    outcomes = list(run_jobs([job], store, _Busy(store), lambda *event: events.append(event)))
    assert [(outcome.ended, record) for outcome, record in outcomes] == [
        ("elsewhere", make_record(job))
    ]
    assert events == [(job, "another run", {"event": "elsewhere"})]


def test_results_of_another_number_of_trials_are_not_current(store):
    study = load()
    jobs = [
        plan(study, Selection("study", "smoke", [name], ["medoid"], 1, n_trials), store)[0]
        for name, n_trials in (("mnl", 0), ("random", None))
    ]
    for job in jobs:
        store.begin(job)
        store.finish(job, make_record(job))
    assert planned_on_disk(study, store, jobs[1:]) == (jobs[1:], 1)
    assert planned_on_disk(study, store, jobs[:1], 0)[1] == 0
