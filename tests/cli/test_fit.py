"""``fit``: one model of all tasks, with its card."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from trips_example import trips

from cschoice import Predictor
from cschoice.runs.protocols import cross_validation, whole
from cschoice.runs.records import Budget, Record, Rung, State, Trial, TrialState
from cschoice.study.fit import parameters_of_folds

IMPORT = "import trips.csv --name trips --task trip --object mode --chosen chosen --group person"
SMOKE = "--profile smoke"
FIT = f"fit --dataset trips --learner mnl {SMOKE}"


@pytest.fixture
def own(run):
    """The command, in a folder where trips were imported."""
    trips().to_csv("trips.csv", index=False)
    run(f"{IMPORT} --features cost,time")
    return run


def card(name="trips-mnl"):
    return Path(f"models/{name}/card.md").read_text()


def test_one_model_of_all_tasks_predicts_new_tables(own):
    said = own(FIT).stdout
    assert said == (
        "models/trips-mnl holds the model of 200 tasks and its card.md. "
        "Next: cschoice predict new.csv --model models/trips-mnl\n"
    )  # all of them: the profile's largest number of training tasks is for folds
    assert [path.name for path in Path("models").iterdir()] == ["trips-mnl"]
    described = json.loads(Path("data/trips/cschoice.json").read_text())
    told = [
        described["content"], "imported from trips.csv", "200 of 3 objects", "2: cost, time",
        "tuned in 2 trials on 2 inner splits", "None: the study",
    ]  # fmt: skip
    assert [text for text in told if text not in card()] == []
    trips(5, seed=1).drop(columns="chosen").to_csv("new.csv", index=False)
    own("predict new.csv --model models/trips-mnl")
    predicted = pd.read_csv("predictions.csv")
    assert predicted.groupby("trip")["chosen"].sum().eq(1).all()
    assert np.allclose(predicted.groupby("trip")["probability"].sum(), 1)


def test_it_goes_on_after_an_interruption(own, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(cross_validation, "chosen_trial", interrupted)
        own(FIT, code=130)
    assert not Path("models/trips-mnl").exists()
    (journal,) = Path("models").rglob("trials.jsonl")
    assert len(journal.read_text().splitlines()) == 2
    monkeypatch.setattr(cross_validation._Fits, "trial", interrupted)  # both are done already
    own(FIT)
    assert "tuned in 2 trials" in card()


def test_a_model_is_not_replaced_without_force(own):
    own(FIT)
    before = card()
    assert "models/trips-mnl is there already: give --force" in own(FIT, code=2).stderr
    own(f"{FIT} --trials 0 --force")
    assert "not tuned" in card()
    assert before != card()


def test_parameters_and_scores_come_from_the_study(own):
    own(f"run --dataset trips --learner mnl {SMOKE} --folds 3 --executor inline")
    own(f"{FIT} --from-study")
    folds = pd.read_parquet("results/tables/folds.parquet")
    found = json.loads(folds["params"].mode()[0])
    counts = folds["params"].value_counts()
    model = Predictor.load("models/trips-mnl").learner.get_params()
    if counts.iloc[0] > 1:
        assert found.items() <= model.items()
    assert any(json.loads(text).items() <= model.items() for text in folds["params"])
    assert "those that most finished folds of the study found" in card()
    metrics = pd.read_parquet("results/tables/metrics.parquet").set_index("metric")["value"]
    accuracy = metrics.loc["accuracy"]
    assert f"| Accuracy | {accuracy.mean():.3f} ± {accuracy.std():.3f} | \\[" in card()
    own(f"{IMPORT} --features cost --force")  # other data: what the study has is stale
    assert "no finished folds of trips/mnl" in own(f"{FIT} --from-study --force", code=2).stderr
    own(f"{FIT} --force")
    assert "None: the study has no results" in card()


def test_most_folds_decide_and_then_the_loss_on_inner_splits():
    class Job:
        budget = Budget(1)

        def __init__(self, l2, loss):
            self.l2, self.loss = l2, loss

    class Store:
        def result(self, job):
            params = {"l2": job.l2}
            record = Record("key", State.DONE, params=params)
            return record, [Trial(0, Rung.FULL, params, [job.loss], TrialState.COMPLETE, 0.0)]

    assert parameters_of_folds([Job(1, 0.1), Job(2, 0.3), Job(2, 0.4)], Store()) == {"l2": 2}
    assert parameters_of_folds([Job(1, 0.3), Job(2, 0.1), Job(3, 0.2)], Store()) == {"l2": 2}


def test_subset_choice_keeps_a_threshold_of_held_out_tasks(run):
    trips(kind="subset").to_csv("trips.csv", index=False)
    run(f"{IMPORT} --features cost,time --kind subset")
    run(FIT)
    threshold = Predictor.load("models/trips-mnl").preparation.threshold
    assert f"threshold: {threshold:.6g}, tuned on held-out tasks" in card()


def test_generated_and_named_learners_have_models_too(run):
    place = "cschoice.learners.logit.multinomial:MultinomialLogit"
    run(f"fit --dataset pareto2d --learner {place} {SMOKE}")
    assert "60 of 30 objects" in card(f"pareto2d-{place.replace(':', '.')}")


def test_what_fails_is_said_and_leaves_no_model(own, monkeypatch):
    def failing(*_):
        raise ValueError("no luck")

    monkeypatch.setattr(whole, "learn", failing)
    said = own(FIT, code=2).stderr
    assert "trips/mnl could not be fitted" in said
    assert "no luck" in said
    assert not Path("models/trips-mnl").exists()


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("--learner mnl --dataset trip", "did you mean 'trips'"),
        ("--learner fetaa --dataset trips", "did you mean 'feta'"),
        (
            "--learner all-positive --dataset trips",
            "nothing to fit: the learner learns another choice",
        ),
        (
            "--learner feta* --dataset trips",
            "name one learner and one dataset, got feta* and trips",
        ),
        ("--learner mnl --dataset trips --from-study", "no finished folds of trips/mnl"),
        ("--learner mnl --dataset trips --from-study --trials 3", "give it or --trials, not both"),
    ],
)
def test_bad_input_gets_one_line_and_writes_nothing(own, line, says):
    result = own(f"fit {SMOKE} {line}", code=2)
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert says in result.stderr
    assert not Path("models").exists()
