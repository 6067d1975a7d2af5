"""Results as files: identity, journals and tables."""

import dataclasses
import errno
import json
import os
import random
import shutil
from dataclasses import asdict, replace

import pandas as pd
import pyarrow.parquet as pq
import pytest
from job_examples import make_job, make_record, make_trial

from cschoice.errors import InvalidFile
from cschoice.io import files, locks
from cschoice.io.documents import to_json
from cschoice.runs import job_files
from cschoice.runs.collect import check_tables, collect
from cschoice.runs.protocols.context import Context
from cschoice.runs.records import Budget, Curve, Ensemble, Frugal, State, TrialState
from cschoice.runs.store import Progress, ResultStore
from cschoice.runs.tables import SCHEMAS, read, rows_of
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


def test_what_comes_behind_a_damaged_line_is_tried_again(store):
    job = make_job()
    store.begin(job)
    for number in range(3):
        store.append(job, make_trial(number))
    path = store.folder(job) / "trials.jsonl"
    first, second, third = path.read_text().splitlines(keepends=True)
    path.write_text(first + second.replace("0.25", "0.35") + third)
    assert store.trials(job) == [make_trial(0)]
    store.begin(job)
    assert path.read_text() == first


def test_a_journal_of_an_earlier_version_has_no_checksums_and_must_be_whole(store):
    job, path = make_job(), store.folder(make_job()) / "trials.jsonl"
    store.begin(job)
    path.write_text("".join(f"{to_json(asdict(make_trial(k)))}\n" for k in range(2)))
    record = to_json(asdict(make_record(job, n_trials=2)))
    (store.folder(job) / "record.json").write_text(record)
    assert store.trials(job) == [make_trial(0), make_trial(1)]
    assert store.done(job)
    path.write_text(path.read_text().splitlines(keepends=True)[0])
    assert not store.done(job)
    assert list(store.damage.values()) == [f"{path} is damaged (1 of 2 trials)"]


def test_a_record_that_is_cut_short_is_none(store):
    job = make_job()
    store.begin(job)
    store.finish(job, make_record(job))
    path = store.folder(job) / "record.json"
    path.write_text(path.read_text()[:20])
    assert store.record(job) is None
    assert store.progress(job) is Progress.TO_DO


def finished(store, job, **changes):
    store.begin(job)
    store.append(job, make_trial(0))
    (store.place(job) / "model").mkdir(exist_ok=True)
    (store.place(job) / "model" / "weights").write_text(str(changes))
    store.finish(job, make_record(job, n_trials=1, **changes))
    return make_record(job, n_trials=1, **changes)


def test_what_is_done_again_stays_until_there_is_another_result(store):
    job = make_job()
    store.redo(job)  # never done: nothing to remember
    assert store.progress(job) is Progress.TO_DO
    first = finished(store, job)
    assert store.done(job)
    store.redo(job)
    assert not store.done(job)
    store.begin(job)
    store.append(job, make_trial(0))
    store.append(job, make_trial(1))
    assert store.progress(job) is Progress.STALE
    assert len(store.trials(job)) == 2
    assert store.result(job) == (first, [make_trial(0)])
    store.begin(job)  # killed, and begun again
    assert len(store.trials(job)) == 2
    second = make_record(job, n_trials=2, threshold=0.5)
    store.finish(job, second)
    assert store.done(job)
    assert store.result(job) == (second, [make_trial(0), make_trial(1)])
    assert not (store.folder(job) / "model").exists()
    assert not (store.folder(job) / "again").exists()


@pytest.mark.parametrize("state", [State.FAILED, State.SKIPPED])
def test_doing_a_job_again_in_vain_costs_nothing(store, state):
    job = make_job()
    first = finished(store, job)
    store.redo(job)
    store.begin(job)
    store.finish(job, make_record(job, state=state, reason="its data are damaged"))
    assert store.done(job)
    assert store.record(job) == first
    assert store.latest(job).reason == "its data are damaged"
    assert (store.folder(job) / "model" / "weights").exists()
    store.redo(job)
    store.begin(job)
    assert store.latest(job) == first


def test_a_result_of_another_configuration_stays_until_there_is_another_result(store):
    before, job = make_job(seed=1), make_job()
    first = finished(store, before)
    store.begin(job)
    assert store.record(before) == first
    assert store.trials(job) == []
    second = finished(store, job, threshold=0.5)
    assert store.record(before) is None
    assert store.record(job) == second


def test_a_kill_while_a_new_result_takes_its_place_loses_none(store):
    job = make_job()
    finished(store, job)
    store.redo(job)
    store.begin(job)
    store.append(job, make_trial(0))
    store.append(job, make_trial(1))
    second = make_record(job, n_trials=2)
    job_files.write_record(store.place(job), second)
    store.place(job).rename(store.folder(job) / ".commit")
    (store.folder(job) / ".commit" / "trials.jsonl").replace(store.folder(job) / "trials.jsonl")
    assert store.record(job) == second


@pytest.mark.parametrize("name", ["record.json", "trials.jsonl"])
def test_one_changed_byte_in_a_finished_job_is_named_and_the_job_is_to_be_done(store, name):
    job = make_job()
    record = finished(store, job)
    path = store.folder(job) / name
    content = path.read_bytes()
    for place in range(0, len(content), 7):
        changed = bytearray(content)
        changed[place] ^= 4
        path.write_bytes(changed)
        fresh = ResultStore(store.root)
        if fresh.record(job) != record:  # the rest changed what means nothing
            assert fresh.record(job) is None
            assert fresh.progress(job) is Progress.TO_DO
            (damage,) = fresh.damage.values()
            assert str(path) in damage
    path.write_bytes(content)
    assert store.done(job)


@pytest.mark.parametrize("change", [{"n_train": 10**30}, {"n_test": -1}, {"reason": "\ud800"}])
def test_a_record_with_values_that_no_table_can_hold_is_damaged(store, change):
    job = make_job()
    finished(store, job)
    path = store.folder(job) / "record.json"
    content = json.loads(path.read_text())
    del content["digest"]
    path.write_text(json.dumps(content | change))
    fresh = ResultStore(store.root)
    assert fresh.record(job) is None
    assert "record.json is damaged" in fresh.damage[store.folder(job)]
    assert collect(fresh, [job]).n_rows["folds"] == 0


def test_a_record_beside_a_damaged_job_is_still_found(store):
    job = make_job()
    finished(store, job)
    (store.folder(job) / "job.json").write_text("{")
    assert store.done(job)
    assert list(store.names()) == [job.name]


def test_a_record_that_cannot_be_read_is_named_and_replaced_when_there_is_another(store):
    job = make_job()
    finished(store, job)
    path = store.folder(job) / "record.json"
    path.unlink()
    os.mkfifo(path)
    assert store.progress(job) is Progress.TO_DO
    assert "cannot read" in store.damage[store.folder(job)]
    record = finished(store, job)
    assert store.record(job) == record
    assert store.damage == {}


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
    assert store.record(job) == make_record(job)


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
    read, answers = files.read_regular, iter([errno.ESTALE, None, errno.EIO])

    def network(path):
        if code := next(answers):
            raise OSError(code, "of the network")
        return read(path)

    monkeypatch.setattr(files, "read_regular", network)
    assert files.read_shared(path) == b"new"
    with pytest.raises(OSError, match="of the network"):
        files.read_shared(path)


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


def test_rows_of_a_job_that_was_damaged_since_stay(store):
    jobs = [make_job(fold=k) for k in range(2)]
    for job in jobs:
        finished(store, job)
    collect(store, jobs)
    (store.folder(jobs[0]) / "trials.jsonl").write_text("nonsense\n")
    assert collect(store, jobs).n_kept == 1
    assert store.damage
    assert read(store.root, "trials")["fold"].tolist() == [0, 1]


def test_rows_that_did_not_change_are_not_made_again(store, monkeypatch):
    jobs = [make_job(fold=k) for k in range(12)]
    for job in jobs:
        finished(store, job)
    collect(store, jobs)
    before = [path.read_bytes() for path in sorted((store.root / "tables").iterdir())]
    store.redo(jobs[3])
    changed = finished(store, jobs[3], metrics={"accuracy": 0.75})
    made = []
    monkeypatch.setattr(
        "cschoice.runs.collect.rows_of", lambda *job: made.append(job[0]) or rows_of(*job)
    )
    collect(store, jobs)
    assert made == [jobs[3]]
    after = [path.read_bytes() for path in sorted((store.root / "tables").iterdir())]
    assert before != after
    for path in (store.root / "tables").iterdir():
        path.unlink()
    collect(store, jobs)
    assert [path.read_bytes() for path in sorted((store.root / "tables").iterdir())] == after
    assert ResultStore(store.root).record(jobs[3]) == changed


def damage(path, how):
    content = path.read_bytes()
    if how == "missing":
        path.unlink()
    elif how == "cut short":
        path.write_bytes(content[: len(content) // 2])
    elif how == "of another time":
        table = pq.read_table(path)
        pq.write_table(table.replace_schema_metadata({"cschoice": "1"}), path)
    else:
        # The first page: elsewhere there may be copies that nobody reads.
        path.write_bytes(content[:8] + bytes(byte ^ 16 for byte in content[8:40]) + content[40:])


@pytest.mark.parametrize("how", ["missing", "cut short", "flipped", "of another time"])
@pytest.mark.parametrize("name", SCHEMAS)
def test_rows_that_only_the_tables_have_are_never_lost(store, name, how):
    jobs = [make_job(fold=k) for k in range(3)]
    curves = [Curve("epoch", "accuracy", [1.0, 2.0], [0.25, None])]
    for job in jobs:
        finished(store, job, curves=curves)
    collect(store, jobs)
    folder = store.root / "tables"
    shutil.rmtree(store.folder(jobs[0]))
    damage(folder / f"{name}.parquet", how)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for attempt in (lambda: collect(store, jobs), lambda: check_tables(store)):
        with pytest.raises(InvalidFile, match=rf"{name}\.parquet.*bring the file back"):
            attempt()
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    finished(store, jobs[0], curves=curves)  # now there is nothing to lose
    assert collect(store, jobs).n_rows["folds"] == 3
    assert len(read(store.root, name)) > 0


def test_a_pipe_among_the_tables_or_as_the_index_is_not_waited_for(store):
    finished(store, make_job())
    collect(store, [make_job()])
    path = store.root / "tables" / "metrics.parquet"
    path.unlink()
    os.mkfifo(path)
    assert len(read(store.root, "folds")) == 1
    (store.root / "index.json").unlink()
    os.mkfifo(store.root / "index.json")
    collect(store, [make_job()])
    assert len(read(store.root, "metrics")) == 1


def test_every_flipped_bit_in_a_table_is_noticed(store):
    jobs = [make_job(fold=k) for k in range(3)]
    for job in jobs:
        finished(store, job)
    collect(store, jobs)
    path = store.root / "tables" / "trials.parquet"
    content, right = path.read_bytes(), read(store.root, "trials")
    moments = random.Random(0)
    for _ in range(150):
        changed = bytearray(content)
        changed[moments.randrange(len(content))] ^= 1 << moments.randrange(8)
        path.write_bytes(changed)
        try:
            found = read(store.root, "trials")
        except InvalidFile:
            continue
        pd.testing.assert_frame_equal(found, right)


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
