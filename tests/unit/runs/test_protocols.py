"""The further experiments: their plans, their results, and going on after an interruption."""

import dataclasses
import os
from pathlib import Path

import numpy as np
import pytest

from cschoice.datasets import make_dataset
from cschoice.errors import ConfigError
from cschoice.evaluation.metrics import metric
from cschoice.learners.saving import load as load_learner
from cschoice.registry import load as load_named
from cschoice.runs.collect import collect
from cschoice.runs.job_files import CHECKPOINT
from cschoice.runs.protocols import PROTOCOLS, checkpoints, stream
from cschoice.runs.protocols.context import Context
from cschoice.runs.protocols.fitting import new_learner, search_space, seed_of
from cschoice.runs.protocols.protocol import protocol_of
from cschoice.runs.records import Record, State
from cschoice.runs.store import ResultStore
from cschoice.runs.tables import read
from cschoice.runs.worker import work
from cschoice.study.config import check, load
from cschoice.study.plan import Selection, plan, planned_on_disk, remarks

ROOT = Path(__file__).parents[3]
CONTENT = {
    "learners": {
        "narrow": {"learner": "fate", "parameters": {"n_units": 8, "n_embedding": 8}},
        "same": {"learner": "fate", "parameters": {"n_units": 8, "n_embedding": 8}},
    },
    "experiments": {
        "study": {"protocol": "nested", "datasets": ["medoid"], "learners": ["mnl", "random"]},
        "sizes": {
            "protocol": "generalization",
            "datasets": ["medoid"],
            "learners": ["mnl", "random"],
            "settings": {"sizes": [9, 12], "tuned_in": "study"},
        },
        "stream": {
            "protocol": "stream",
            "datasets": ["unique-onehot"],
            "learners": ["narrow", "same"],
            "parameters": {"epochs": 6, "batch_size": 32},
        },
        "time": {
            "protocol": "convergence",
            "datasets": ["medoid", "pareto2d"],
            "learners": ["narrow"],
            "parameters": {"epochs": 4, "batch_size": 32},
            "settings": {"seconds": 0.5},
        },
    },
    "profiles": {
        "quick": {
            "folds": 1,
            "trials": 2,
            "inner_splits": 2,
            "datasets": {"n_train": 100, "n_test": 50},
            "settings": {"n_test": 300},
        }
    },
}
STUDY = check(CONTENT, Path("my.yaml"))


@pytest.fixture
def store(tmp_path):
    store = ResultStore(tmp_path / "results")
    store.open()
    return store


def planned(experiment, store, study=STUDY):
    return {job.learner: job for job in plan(study, Selection(experiment, "quick"), store)}


@pytest.mark.parametrize("name", PROTOCOLS)
def test_settings_survive_the_way_through_a_job(name):
    protocol = load_named(PROTOCOLS[name])()
    job = next(iter(planned("study", ResultStore(Path("nothing"))).values()))
    job = dataclasses.replace(job, protocol=name, settings=protocol.model_dump(mode="json"))
    assert protocol_of(job) == protocol


def test_the_papers_experiments_are_planned():
    study, nothing = load(ROOT / "experiments.yaml"), ResultStore(Path("nothing"))
    jobs = plan(study, Selection("generalization", "paper"), nothing)
    assert {job.dataset for job in jobs} == {"medoid", "hypervolume"}
    assert {job.fold for job in jobs} == set(range(5))
    assert jobs[0].settings == {"sizes": [3, 30], "n_test": 100_000, "tuned_in": None}
    assert jobs[0].dataset_parameters == {"n_train": 10_000}
    jobs = plan(study, Selection("unique-stream", "laptop"), nothing)
    counts = {}
    for job in jobs:
        learner = new_learner(job)
        counts[job.learner] = sum(p.numel() for p in learner._build(10).parameters())
        recipe = (learner.recipe, learner.batch_size, learner.learning_rate, learner.l2)
        assert recipe == ("modern", 1024, 0.01, 0.0)
        assert learner.epochs == (400 if job.learner == "fate-5985" else 100)
        assert job.budget.n_trials == 0
    assert counts == {
        "feta-2849": 2849,
        "sda-2850": 2850,
        "fate-2870": 2870,
        "fate-5985": 5985,
    }


# --- variants ---------------------------------------------------------------------------------


def test_a_variant_is_its_learner_under_another_name(store):
    jobs = planned("stream", store)
    assert jobs["narrow"].label == "unique-onehot/narrow/fold-0"
    assert jobs["narrow"].registered == "fate"
    assert jobs["narrow"].key == jobs["same"].key  # a name changes no number
    assert store.folder(jobs["narrow"]) != store.folder(jobs["same"])
    jobs = plan(STUDY, Selection("study", "quick", ["narrow"]), store)
    space = search_space(jobs[0])
    assert "n_set_units" in space
    assert "n_units" not in space  # what is given is not tuned


def test_jobs_of_variants_are_found_again(store):
    jobs = planned("stream", store)
    for job in jobs.values():
        store.begin(job)
        store.finish(job, Record(job.key, State.DONE))
    assert planned_on_disk(STUDY, store) == (list(jobs.values()), 0)
    without = check({**CONTENT, "learners": {}} | _only("study"), Path("my.yaml"))
    assert planned_on_disk(without, store) == ([], 2)


def _only(name):
    return {"experiments": {name: CONTENT["experiments"][name]}}


# --- generalization ---------------------------------------------------------------------------


def test_the_best_parameters_of_the_study_are_written_into_the_job(store):
    before = planned("sizes", store)
    assert remarks(before.values()) == {
        "no results of a study to take the best parameters from, so defaults are used": [
            before["mnl"]  # random has nothing to tune
        ]
    }
    assert before["mnl"].learner_parameters == {}
    for learner, job in planned("study", store).items():
        store.begin(job)
        params = {"l2": 0.5} if learner == "mnl" else {}
        store.finish(job, Record(job.key, State.DONE, params=params))
    after = planned("sizes", store)
    assert after["mnl"].learner_parameters == {"l2": 0.5}
    assert after["mnl"].key != before["mnl"].key
    assert after["random"] == before["random"]
    assert remarks(after.values()) == {}


def test_what_was_tuned_under_another_configuration_is_not_taken(store):
    stale = dataclasses.replace(planned("study", store)["mnl"], seed=5)
    store.begin(stale)
    store.finish(stale, Record(stale.key, State.DONE, params={"l2": 0.5}))
    assert planned("sizes", store)["mnl"].learner_parameters == {}


def test_a_fit_is_tested_on_every_size(store):
    job = planned("sizes", store)["mnl"]
    record = work(Context(job, store))
    assert record.state is State.DONE, record.reason
    (curve,) = record.curves
    assert (curve.axis, curve.metric, curve.x) == (
        "n_objects",
        "normalized-accuracy",
        [9, 10, 11, 12],
    )
    learner = load_learner(store.folder(job) / "model")
    source = make_dataset("medoid", n_objects=11)
    tasks = source.sample(300, seed_of(job, "test", n_objects=11))
    assert (tasks.sizes == 11).all()
    assert curve.values[2] == metric("normalized-accuracy")(tasks, learner.utilities(tasks))
    assert record.metrics == {"normalized-accuracy": pytest.approx(sum(curve.values) / 4)}
    study = planned("study", store)["mnl"]
    work(Context(dataclasses.replace(study, budget=job.budget), store))  # the same defaults
    same = load_learner(store.folder(study) / "model")
    assert (same.utilities(tasks) == learner.utilities(tasks)).all()
    assert collect(store, [job]).n_rows["curves"] == 4
    assert read(store.root, "curves")["x"].tolist() == [9, 10, 11, 12]


# --- stream -----------------------------------------------------------------------------------


class Interrupted(Exception):
    """As if killed."""


def test_a_stream_goes_on_where_it_was_interrupted(store, tmp_path, monkeypatch):
    monkeypatch.setattr(stream, "_BETWEEN_CHECKPOINTS", 0)
    job = planned("stream", store)["narrow"]
    whole = work(Context(job, ResultStore(tmp_path / "whole")))
    (curve,) = whole.curves
    assert (curve.axis, curve.metric, curve.x) == ("epoch", "accuracy", [1, 2, 3, 4, 5, 6])
    assert whole.metrics == {"accuracy": curve.values[-1]}
    assert len(set(curve.values)) > 2
    told = []

    def interrupt_at(epoch):
        def tell(event):
            told.append(event["epoch"])
            if event["epoch"] == epoch:
                raise Interrupted

        return tell

    store.begin(job)
    for epoch in (3, 5):
        with pytest.raises(Interrupted):
            protocol_of(job).run(Context(job, store, tell=interrupt_at(epoch)))
    record = work(Context(job, store, tell=interrupt_at(None)))
    assert told == [1, 2, 3, 3, 4, 5, 5, 6]  # what was on disk is not repeated
    assert record.curves == whole.curves
    weights = [
        (where.folder(job) / "model" / "weights.safetensors").read_bytes()
        for where in (store, ResultStore(tmp_path / "whole"))
    ]
    assert weights[0] == weights[1]
    assert not (store.folder(job) / CHECKPOINT).exists()


@pytest.mark.parametrize("damage", ["cut", "foreign"])
def test_a_checkpoint_that_is_no_use_is_as_good_as_none(store, tmp_path, damage):
    job = planned("stream", store)["narrow"]
    store.begin(job)
    path = store.folder(job) / CHECKPOINT
    arrays = {"network.what": np.zeros(3)} if damage == "foreign" else {}
    checkpoints.Checkpoint(arrays, checkpoints.CurveSoFar([0.5], 1.0)).write(path)
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:-10])
    record = work(Context(job, store))
    assert record.curves == work(Context(job, ResultStore(tmp_path / "whole"))).curves


@pytest.mark.parametrize("place", ["array", "value", "pipe", "folder"])
def test_a_checkpoint_with_another_value_is_not_believed(tmp_path, place):
    path = tmp_path / "checkpoint.safetensors"
    checkpoint = checkpoints.Checkpoint({"a": np.ones(3)}, checkpoints.CurveSoFar([0.515625], 1.0))
    checkpoint.write(path)
    assert checkpoints.read(path).progress == checkpoint.progress
    content = path.read_bytes()
    if place == "array":
        path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    elif place == "value":
        path.write_bytes(content.replace(b"0.515625", b"0.915625"))
    else:
        path.unlink()
        os.mkfifo(path) if place == "pipe" else path.mkdir()
    assert checkpoints.read(path) is None


def test_a_checkpoint_of_another_configuration_goes(store):
    job = planned("stream", store)["narrow"]
    store.begin(job)
    (store.folder(job) / CHECKPOINT).touch()
    store.begin(job)
    assert (store.folder(job) / CHECKPOINT).exists()
    store.finish(job, Record(job.key, State.FAILED))
    assert (store.folder(job) / CHECKPOINT).exists()  # a second attempt may go on
    store.begin(dataclasses.replace(job, seed=1))
    assert not (store.folder(job) / CHECKPOINT).exists()


def test_all_learners_see_the_same_stream_and_no_task_twice(store, monkeypatch):
    from cschoice.datasets.generated.unique_onehot import UniqueOneHot

    seeds, sample = [], UniqueOneHot.sample

    def watched(self, n_tasks, seed):
        seeds[-1].append((n_tasks, seed))
        return sample(self, n_tasks, seed)

    monkeypatch.setattr(UniqueOneHot, "sample", watched)
    for learner in ("narrow", "sda"):
        seeds.append([])
        (job,) = plan(STUDY, Selection("stream", "quick", [learner]), store)
        work(Context(job, store))
    assert seeds[0] == seeds[1]
    first, *rest = seeds[0]  # drawn a first time for the scale of the features
    assert len(set(rest)) == len(rest) == 12
    assert rest[0] == first


# --- what cannot be done ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("experiment", "learners", "datasets", "says"),
    [
        ("sizes", ["mnl"], ["pareto2d"], "pareto2d is no singleton choice that is generated"),
        ("sizes", ["mnl"], ["sushi"], "sushi is no singleton choice that is generated"),
        ("stream", ["mnl"], [], "mnl is no network"),
    ],
)
def test_jobs_that_make_no_sense_are_refused(store, experiment, learners, datasets, says):
    with pytest.raises(ConfigError, match=f"experiment '{experiment}': {says}"):
        plan(STUDY, Selection(experiment, "quick", learners, datasets), store)


def test_a_parameter_none_of_the_learners_has_is_refused(store):
    content = {**CONTENT["experiments"]["stream"], "parameters": {"epoch": 3}}
    study = check({**CONTENT, "experiments": {"stream": content}}, Path("my.yaml"))
    with pytest.raises(ConfigError, match="unknown parameter 'epoch': did you mean 'epochs'"):
        planned("stream", store, study)


# --- convergence ------------------------------------------------------------------------------


@pytest.mark.parametrize(("dataset", "name"), [("medoid", "accuracy"), ("pareto2d", "f1")])
def test_what_is_reached_in_cpu_time(store, dataset, name):
    (job,) = plan(STUDY, Selection("time", "quick", datasets=[dataset]), store)
    record = work(Context(job, store))
    assert record.state is State.DONE, record.reason
    (curve,) = record.curves
    assert (curve.axis, curve.metric) == ("cpu-seconds", name)
    assert curve.x == sorted(curve.x)
    assert 0 < len(curve.x) == len(curve.values) <= 4
    assert record.metrics == {name: curve.values[-1]}
    assert (record.threshold is None) == (name == "accuracy")
    assert load_learner(store.folder(job) / "model").n_features_in_ > 0


def test_time_ends_learning(store):
    (job,) = plan(STUDY, Selection("time", "quick", datasets=["medoid"]), store)
    record = work(Context(dataclasses.replace(job, settings={"seconds": 1e-9}), store))
    assert len(record.curves[0].x) == 1


def test_only_networks_converge(store):
    with pytest.raises(ConfigError, match="mnl is no network"):
        plan(STUDY, Selection("time", "quick", ["mnl"]), store)


# --- a network that has learned nothing -------------------------------------------------------


@pytest.mark.parametrize(
    ("experiment", "learner", "dataset"),
    [
        ("study", "mnl", "medoid"),
        ("study", "mnl", "pareto2d"),
        ("sizes", "mnl", "medoid"),
        ("stream", "narrow", "unique-onehot"),
        ("time", "narrow", "medoid"),
        ("time", "narrow", "pareto2d"),
    ],
)
def test_a_learner_of_equal_utilities_has_failed(store, monkeypatch, experiment, learner, dataset):
    monkeypatch.setattr(
        "cschoice.learners.learner.Learner.utilities", lambda _, tasks: np.zeros(tasks.n_entries)
    )
    job, *_ = plan(STUDY, Selection(experiment, "quick", [learner], [dataset]), store)
    record = work(Context(job, store))
    assert record.state is State.FAILED
    assert "all objects of the test tasks the same utility" in record.reason
    assert not record.metrics


def test_a_learner_that_is_meant_to_be_constant_has_not_failed(store):
    job, *_ = plan(STUDY, Selection("study", "quick", ["all-positive"], ["pareto2d"]), store)
    record = work(Context(job, store))
    assert record.state is State.DONE, record.reason
    assert record.metrics["recall"] == 1
    assert record.metrics["auc-roc"] == 0.5
