"""What a run makes of how its workers ended."""

import pytest
from made_jobs import make_job, make_record

from cschoice.executors import Outcome
from cschoice.pipeline import run
from cschoice.records import State
from cschoice.store import Progress, ResultStore


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
    ((_, record),) = run([job], store, _Dying(), lambda *_: None)
    assert record.state is State.FAILED
    assert store.record(job) == make_record(job)
    assert store.progress(job) is Progress.STALE


def test_a_job_whose_process_died_is_written_down_as_failed(store):
    job = make_job()
    ((_, record),) = run([job], store, _Dying(), lambda *_: None)
    assert (record.state, record.reason) == (State.FAILED, "no such module")
    assert store.record(job) == record
