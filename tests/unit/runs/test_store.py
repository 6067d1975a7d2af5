"""Results as files: identity, journals and tables."""

import dataclasses
import errno
from dataclasses import replace
from pathlib import Path

import pytest
from job_examples import make_job, make_record, make_trial

from cschoice.errors import InvalidFile
from cschoice.io import locks
from cschoice.io.files import read_shared
from cschoice.runs.collect import collect
from cschoice.runs.protocols.context import Context
from cschoice.runs.records import Budget, Ensemble, Frugal, State, TrialState
from cschoice.runs.store import Progress, ResultStore
from cschoice.runs.tables import SCHEMAS, read
from cschoice.runs.worker import work


@pytest.fixture
def store(tmp_path):
    store = ResultStore(tmp_path / "results")
    store.open()
    return store


def test_the_key_follows_what_can_change_a_number_and_nothing_else():
    job = make_job()
    assert job.key == make_job(profile="other", experiment="another").key
    changed = [
        make_job(dataset="pareto2d"),
        make_job(learner="nl"),
        make_job(fold=1),
        make_job(seed=1),
        make_job(budget=Budget(4)),
        make_job(learner_parameters={"l2": 0.2}),
        make_job(dataset_parameters={"n_train": 5}),
        make_job(space={"l2": [0.1, 1.0]}),
        make_job(threads=2),
        make_job(threshold_refit=False),
        make_job(settings={"n_test": 5}),
    ]
    assert len({job.key, *(other.key for other in changed)}) == 1 + len(changed)


def test_numbers_that_were_constants_once_are_in_the_key_where_they_are_others(monkeypatch):
    monkeypatch.setattr("cschoice.runs.records.PROTOCOL_VERSION", 9)
    frugal = Frugal(0.2, 0.5, 0.1)
    assert (
        make_job(budget=Budget(3, frugal=frugal)).key == "8366d17c7466e09c417bb0dc3d4bcda0"
    )  # as before
    changed = [
        Budget(3, frugal=frugal, n_spread=5),
        Budget(3, frugal=replace(frugal, clear_gain=0.02)),
        Budget(3, frugal=replace(frugal, few_tasks=450)),
        Budget(3, frugal=replace(frugal, ensemble=Ensemble(10, 0.25))),
        Budget(3, frugal=replace(frugal, ensemble=Ensemble(20, 0.1))),
    ]
    assert len({make_job().key, *(make_job(budget=budget).key for budget in changed)}) == 6


def test_files_give_back_what_was_written(store):
    job = make_job()
    store.begin(job)
    trials = [make_trial(0), make_trial(1, losses=[], state=TrialState.FAILED, error="diverged")]
    for trial in trials:
        store.append(job, trial)
    record = make_record(job, threshold=0.5, params={"l2": 1.0}, environment={"host": "here"})
    store.finish(job, record)
    assert store.trials(job) == trials
    assert store.record(job) == record
    assert list(store.jobs()) == [job]


def test_a_torn_last_line_is_dropped_and_written_over(store):
    job = make_job()
    store.begin(job)
    store.append(job, make_trial(0))
    path = store.folder(job) / "trials.jsonl"
    path.write_text(path.read_text() + '{"number": 1, "rung')
    assert store.trials(job) == [make_trial(0)]
    store.begin(job)
    store.append(job, make_trial(1))
    assert store.trials(job) == [make_trial(0), make_trial(1)]


def test_a_torn_middle_line_is_an_error(store):
    job = make_job()
    store.begin(job)
    path = store.folder(job) / "trials.jsonl"
    path.write_text('{"number": 1, "rung\n')
    store.append(job, make_trial(1))
    with pytest.raises(InvalidFile, match=r"line 1 of .*trials\.jsonl is damaged"):
        store.trials(job)


def test_a_record_that_is_cut_short_is_none(store):
    job = make_job()
    store.begin(job)
    store.finish(job, make_record(job))
    path = store.folder(job) / "record.json"
    path.write_text(path.read_text()[:20])
    assert store.record(job) is None
    assert store.progress(job) is Progress.TO_DO


def test_what_is_done_again_stays_until_that_begins(store):
    job = make_job()
    store.redo(job)  # never done: nothing to remember
    assert store.progress(job) is Progress.TO_DO
    store.begin(job)
    store.append(job, make_trial(0))
    store.finish(job, make_record(job))
    assert store.done(job)
    store.redo(job)
    assert not store.done(job)
    assert store.progress(job) is Progress.STALE
    assert store.record(job) == make_record(job)
    store.begin(job)
    assert store.progress(job) is Progress.TO_DO
    assert store.trials(job) == []
    store.finish(job, make_record(job))
    assert store.done(job)


def test_an_earlier_failure_is_forgotten_when_a_job_begins_again(store):
    job = make_job()
    store.begin(job)
    store.append(job, make_trial(0))
    store.finish(job, make_record(job, state=State.FAILED))
    store.begin(job)
    assert store.progress(job) is Progress.TO_DO
    assert len(store.trials(job)) == 1


def test_only_what_a_later_life_builds_on_counts_as_getting_further(store):
    job = make_job()
    store.begin(job)
    before = store.progress_mark(job)
    (store.folder(job) / "model").mkdir()
    (store.folder(job) / "predictions.parquet").touch()
    assert store.progress_mark(job) == before
    store.append(job, make_trial(0))
    assert store.progress_mark(job) != before


def test_a_changed_configuration_makes_results_stale(store):
    job, changed = make_job(), make_job(seed=1)
    store.begin(job)
    store.append(job, make_trial(0))
    store.finish(job, make_record(job))
    assert store.progress(job) is Progress.DONE
    assert store.progress(changed) is Progress.STALE
    assert store.record(changed) is None
    assert store.trials(changed) == []
    store.begin(changed)
    assert store.trials(changed) == []
    assert not (store.folder(changed) / "record.json").exists()


def test_progress_tells_every_state(store):
    job = make_job()
    assert store.progress(job) is Progress.TO_DO
    store.begin(job)
    with locks.claim(store.folder(job)) as mine:
        assert mine
        assert store.progress(job) is Progress.RUNNING
    for state in (State.FAILED, State.SKIPPED, State.DONE):
        store.finish(job, make_record(job, state=state, reason="why"))
        assert store.progress(job) == str(state)


def test_a_folder_of_a_newer_version_is_refused(store):
    (store.root / "version.json").write_text('{"version": 99}')
    with pytest.raises(InvalidFile, match="install a newer cschoice"):
        store.open()


def test_a_job_that_was_taken_over_writes_nothing_more(store, monkeypatch):
    sizes = {"n_train": 20, "n_test": 5}
    job = make_job(budget=Budget(2), dataset_parameters=sizes, learner_parameters={})
    append = store.append

    def taken_over(job, trial):
        append(job, trial)
        for path in store.folder(job).glob("claim-*.json"):
            path.unlink()

    monkeypatch.setattr(store, "append", taken_over)
    assert work(Context(job, store)) is None
    assert len(store.trials(job)) == 1
    assert store.record(job) is None


def test_a_trial_that_two_machines_wrote_counts_once(store):
    job = make_job()
    store.begin(job)
    for number in (0, 1, 1, 2, 1):
        store.append(job, make_trial(number))
    assert [trial.number for trial in store.trials(job)] == [0, 1, 2]


def test_a_file_that_became_stale_while_it_was_read_is_read_again(tmp_path, monkeypatch):
    path = tmp_path / "record.json"
    path.write_text("new")
    read_text, answers = Path.read_text, iter([errno.ESTALE, None, errno.EIO])

    def network(self, **options):
        if code := next(answers):
            raise OSError(code, "of the network")
        return read_text(self, **options)

    monkeypatch.setattr(Path, "read_text", network)
    assert read_shared(path) == "new"
    with pytest.raises(OSError, match="of the network"):
        read_shared(path)


# --- tables -----------------------------------------------------------------------------------


def test_tables_hold_what_is_finished_and_are_the_same_every_time(store):
    jobs = [make_job(fold=k) for k in range(3)]
    for job in jobs[:2]:
        store.begin(job)
        store.append(job, make_trial(0))
        store.finish(job, make_record(job, threshold=None, metrics={"f1": 0.5, "auc-roc": None}))
    assert collect(store, jobs).n_rows == {"folds": 2, "metrics": 4, "trials": 2, "curves": 0}
    paths = [store.root / "tables" / f"{name}.parquet" for name in SCHEMAS]
    before = [path.read_bytes() for path in paths]
    collect(store, reversed(jobs))
    assert [path.read_bytes() for path in paths] == before
    metrics = read(store.root, "metrics")
    assert metrics["value"].isna().sum() == 2
    assert read(store.root, "folds")["state"].tolist() == ["done", "done"]


def test_a_damaged_journal_keeps_only_its_own_trials_from_the_tables(store):
    jobs = [make_job(fold=k) for k in range(2)]
    for job in jobs:
        store.begin(job)
        store.append(job, make_trial(0))
        store.finish(job, make_record(job))
    (store.folder(jobs[0]) / "trials.jsonl").write_text("nonsense\n")
    with pytest.raises(InvalidFile, match="the tables were written without these trials"):
        collect(store, jobs)
    assert len(read(store.root, "folds")) == 2
    assert read(store.root, "trials")["fold"].tolist() == [1]


def test_stale_records_are_in_no_table(store):
    job = make_job()
    store.begin(job)
    store.finish(job, make_record(job))
    assert collect(store, [dataclasses.replace(job, seed=5)]).n_rows["folds"] == 0


def test_trials_of_an_unreadable_job_are_not_taken_for_another(store):
    job = make_job()
    store.begin(job)
    store.append(job, make_trial(0))
    (store.folder(job) / "job.json").write_text("{")
    store.begin(make_job(seed=1))
    assert store.trials(make_job(seed=1)) == []


def test_trials_of_another_version_are_not_taken(store, monkeypatch):
    job = make_job()
    store.begin(job)
    store.append(job, make_trial(0))
    monkeypatch.setattr("cschoice.runs.records.PROTOCOL_VERSION", -1)
    job = make_job()  # the key of the other one is known by now
    assert store.trials(job) == []
    store.begin(job)
    assert store.trials(job) == []
    assert not (store.folder(job) / "trials.jsonl").exists()


@pytest.mark.parametrize("text", ["{", "[1]", "{}"])
def test_a_damaged_version_is_said(store, text):
    (store.root / "version.json").write_text(text)
    with pytest.raises(InvalidFile, match="is damaged"):
        store.check()
