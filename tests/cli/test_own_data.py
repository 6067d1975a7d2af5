"""``import``, every command on the imported dataset, and ``predict``, as a user types them."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cschoice import ChoiceTasks, Predictor, make_dataset
from cschoice.datasets import DATASETS
from cschoice.errors import DataUnavailable, InvalidFile, InvalidParameter
from cschoice.evaluation.decisions import choose
from cschoice.learners.saving import load

SMOKE = "--profile smoke --executor inline"
IMPORT = "import trips.csv --name trips --task trip --chosen chosen --features kind,cost"


def trips(n_tasks=60, kind="singleton", seed=0):
    """Trips of three modes; the cheap one is chosen, or all that are cheap enough."""
    rng = np.random.default_rng(seed)
    cost = rng.normal(size=(n_tasks, 3)).round(3)
    chosen = cost == cost.min(axis=1, keepdims=True)
    if kind == "subset":
        chosen |= cost < -0.3
    return pd.DataFrame(
        {
            "trip": np.repeat(np.arange(n_tasks) + 100, 3),
            "mode": ["bus", "car", "train"] * n_tasks,
            "cost": cost.ravel(),
            "kind": rng.choice(["slow", "fast"], 3 * n_tasks),
            "person": np.repeat(np.arange(n_tasks) // 4, 3),
            "income": np.repeat(rng.integers(20, 80, n_tasks), 3),
            "chosen": chosen.ravel().astype(int),
        }
    )


@pytest.fixture
def own(run):
    """The command, in a folder with trips.csv."""
    trips().to_csv("trips.csv", index=False)
    return run


def test_what_is_imported_works_like_a_built_in_dataset(own):
    shown = own(f"{IMPORT} --object mode --group person").stdout
    assert shown.endswith("data/trips is ready. Next: cschoice run --dataset trips\n")
    assert "kind=fast, kind=slow, cost" in shown
    assert sorted(path.name for path in Path("data/trips").iterdir()) == [
        "cschoice.json",
        "tasks.parquet",
    ]
    rows = {row["name"]: row for row in json.loads(own("show datasets --json").stdout)}
    assert (rows["trips"]["n_features"], rows["trips"]["n_objects"]) == (3, 3)
    own(f"run --dataset trips --learner mnl --learner random {SMOKE}")
    shown = own("report --profile smoke").stdout
    assert "trips" in shown
    states = json.loads(own("status --dataset trips --profile smoke --json").stdout)
    done = {row["learner"]: row["state"] for row in states if row["state"] == "done"}
    assert done == {"mnl": "done", "random": "done"}
    metrics = pd.read_parquet("results/tables/metrics.parquet")
    accuracy = metrics[metrics["metric"] == "accuracy"].groupby("learner")["value"].mean()
    assert accuracy["mnl"] > 0.9 > accuracy["random"]
    own("generate trips")
    assert ChoiceTasks.from_parquet("data/trips/fold-4/test.parquet").groups is not None


def test_folds_are_a_cross_validation_that_keeps_groups_apart(own):
    own(f"{IMPORT} --group person --folds 3")
    source = make_dataset("trips")
    tested = []
    for fold in range(3):
        train, test = source.fold(fold, seed=0)
        assert not set(train.groups) & set(test.groups)
        assert len(train) + len(test) == 60
        tested += test.groups.tolist()
    assert sorted(tested) == sorted(np.repeat(np.arange(15), 4))
    assert (train, test) == make_dataset("trips").fold(2, seed=0)
    assert train != source.fold(2, seed=1)[0]
    few, fewer = make_dataset("trips", max_train=7, max_test=3).fold(0, seed=0)
    assert (len(few), len(fewer)) == (7, 3)
    assert not set(few.groups) & set(fewer.groups)
    with pytest.raises(InvalidParameter, match="has folds 0 to 2, got 3"):
        source.fold(3, seed=0)
    own("run --dataset trips --learner random --profile smoke --folds 9 --executor inline")
    assert len(list(Path("results/runs").glob("**/record.json"))) == 3


def test_other_content_makes_results_stale(own):
    own(IMPORT)
    command = "--dataset trips --learner random --profile smoke"
    own(f"run {command} --executor inline")
    before = make_dataset("trips")
    own(f"{IMPORT} --force")
    states = json.loads(own(f"status {command} --json").stdout)
    assert {row["state"] for row in states} == {"done"}  # the same content is the same dataset
    trips(seed=1).to_csv("trips.csv", index=False)
    own(f"{IMPORT} --force")
    states = json.loads(own(f"status {command} --json").stdout)
    assert {row["state"] for row in states} == {"stale"}
    with pytest.raises(DataUnavailable, match="was imported again after this job was planned"):
        before.fold(0, seed=0)


def test_files_that_do_not_belong_together_are_refused(own):
    own(IMPORT)
    tasks = ChoiceTasks.from_parquet("data/trips/tasks.parquet")
    tasks[:59].to_parquet("data/trips/tasks.parquet")
    with pytest.raises(InvalidFile, match="does not belong to cschoice.json beside it"):
        make_dataset("trips").fold(0, seed=0)
    Path("data/trips/cschoice.json").write_text("{}")
    assert "cschoice.json is damaged" in own("run --dataset trips", code=2).stderr


@pytest.mark.parametrize("kind", ["singleton", "subset"])
@pytest.mark.parametrize("learner", ["mnl", "feta-linear", "pairwise-svm"])
def test_a_model_predicts_tables_as_it_was_tested(own, kind, learner):
    table = trips(kind=kind)
    table.to_csv("trips.csv", index=False)
    own(f"{IMPORT} --object mode --constants --context income --kind {kind} --group trip")
    own(f"run --dataset trips --learner {learner} {SMOKE} --folds 1 --keep-predictions")
    folder = Path(f"results/runs/smoke/study/trips/{learner}/fold-0")
    (shuffled := table.sample(frac=1, random_state=1)).drop(columns="chosen").to_csv("new.csv")
    said = own(f"predict new.csv --model {folder}/model").stdout
    predicted = pd.read_csv("predictions.csv")
    assert said == f"predictions.csv: 180 objects, {predicted['chosen'].sum()} chosen\n"
    assert predicted[["trip", "mode"]].values.tolist() == shuffled[["trip", "mode"]].values.tolist()
    expected = pd.read_parquet(folder / "predictions.parquet")
    _, test = make_dataset("trips", max_train=60, max_test=60).fold(0, seed=0)
    tested = predicted.set_index("trip").loc[100 + test.groups].sort_values(["trip", "mode"])
    order = np.argsort(np.repeat(test.groups, 3), kind="stable")
    assert np.allclose(tested["utility"], expected["utility"].to_numpy()[order], atol=1e-6)
    threshold = json.loads((folder / "record.json").read_text())["threshold"]
    if kind == "subset":
        assert (predicted["chosen"] == (predicted["utility"] >= threshold)).all()
    else:
        assert (predicted.groupby("trip")["chosen"].sum() == 1).all()
    if learner == "pairwise-svm":
        assert "probability" not in predicted
    elif kind == "singleton":
        assert np.allclose(predicted.groupby("trip")["probability"].sum(), 1)


def test_a_model_of_a_built_in_dataset_predicts_its_own_format(run):
    run(f"run --dataset pareto2d --learner mnl {SMOKE} --folds 1")
    run("generate pareto2d --fold 0 --n-train 5 --n-test 7")
    model = "results/runs/smoke/study/pareto2d/mnl/fold-0/model"
    run(f"predict data/pareto2d/fold-0/test.parquet --model {model} --out out.parquet")
    predicted = pd.read_parquet("out.parquet")
    tasks = ChoiceTasks.from_parquet("data/pareto2d/fold-0/test.parquet")
    utilities = load(model).utilities(tasks)
    assert np.array_equal(predicted["utility"], utilities)
    chosen = choose(tasks, utilities, Predictor.load(model).preparation.threshold)
    assert np.array_equal(predicted["chosen"] == 1, chosen)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (
            IMPORT.replace("--task trip", "--task tripp"),
            "unknown column 'tripp' (task): did",
        ),
        (IMPORT.replace("trips.csv", "no.csv"), "cannot read no.csv: No such file"),
        (IMPORT.replace("--name trips", "--name medoid"), "'medoid' is the name of a built-in"),
        (IMPORT.replace("--name trips", "--name ../x"), "a name has letters, digits"),
        (f"{IMPORT} --wide", "--wide and --alternatives go together"),
        (f"{IMPORT} --kind both", "kind must be singleton or subset, got 'both'"),
        (f"{IMPORT} --folds 100", "the number of folds must be 2 to 60 (tasks), got 100"),
        (f"{IMPORT} --folds 1", "got '1'"),
        ("predict trips.csv --model nowhere", "cannot read nowhere/learner.json"),
        ("predict trips.csv --model nowhere --out x.txt", "--out must end in .csv or .parquet"),
    ],
)
def test_bad_input_gets_one_line_and_writes_nothing(own, line, says):
    result = own(line, code=2)
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert says in result.stderr
    assert [path.name for path in Path().iterdir()] == ["trips.csv"]


def test_nothing_is_overwritten_without_force(own):
    own(IMPORT)
    assert "data/trips is there already: give --force" in own(IMPORT, code=2).stderr
    Path("predictions.csv").write_text("mine")
    assert "is there already" in own("predict trips.csv --model x", code=2).stderr
    assert Path("predictions.csv").read_text() == "mine"


def test_what_cannot_be_predicted_is_named(own):
    own(f"{IMPORT} --impute median")
    own(f"run --dataset trips --learner mnl {SMOKE} --folds 1")
    model = Path("results/runs/smoke/study/trips/mnl/fold-0/model")
    table = trips()
    table.assign(cost=None).to_csv("new.csv")  # filled as at import
    own(f"predict new.csv --model {model}")
    table.replace("slow", "odd").to_csv("new.csv")
    assert (
        "a category not seen at import"
        in own(f"predict new.csv --model {model} --force", code=2).stderr
    )
    table.drop(columns=["cost", "trip"]).to_csv("new.csv")
    result = own(f"predict new.csv --model {model} --force", code=2)
    assert result.stderr.count("error: unknown column") == 2
    (model / "preparation.json").unlink()
    result = own(f"predict trips.csv --model {model} --force", code=2)
    assert "save the model again to make it" in result.stderr


def test_left_out_tasks_and_copies_are_mentioned(own):
    table = pd.concat([trips(), trips(2).assign(trip=[1, 1, 1, 2, 2, 2], chosen=0)])
    table.loc[len(table)] = table.iloc[0].to_dict() | {"chosen": 0}
    table.to_csv("trips.csv", index=False)
    result = own(f"{IMPORT} --drop-invalid")
    assert "left out: 2 tasks without a chosen object" in result.stderr
    assert "note: 1 objects equal another object of their task" in result.stderr


def test_names_of_imported_datasets_are_suggested_and_configured(own):
    own(IMPORT)
    assert "did you mean 'trips'" in own("run --dataset trip", code=2).stderr
    assert "trips" in DATASETS
    Path("experiments.yaml").write_text(
        "experiments: {study: {protocol: nested, datasets: [trips], learners: [random]}}\n"
        "datasets: {trips: {n_folds: 10, max_train: 20}}\n"
        "profiles: {laptop: {folds: 10, trials: 1}}\n"
    )
    own("run --executor inline")
    assert len(pd.read_parquet("results/tables/folds.parquet")) == 10
