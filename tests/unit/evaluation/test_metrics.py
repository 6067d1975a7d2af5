"""Every metric against a loop over tasks, against scikit-learn, and in its corner cases."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn import metrics as sk
from strategies import choice_tasks, utilities_for

from cschoice.errors import InvalidUtilities, UnknownName
from cschoice.evaluation.decisions import probabilities, tune_rule
from cschoice.evaluation.metrics import METRICS, metric
from cschoice.evaluation.scores import evaluate
from cschoice.tasks import ChoiceTasks, Kind


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else math.nan


def slices(tasks):
    return [slice(a, b) for a, b in zip(tasks.offsets[:-1], tasks.offsets[1:], strict=True)]


def hit(u, c, k=1):
    """The share of the places that the chosen one may take, ties by lot, that are the first k."""
    own = u[c.argmax()]
    first = sum(value > own for value in u)
    places = range(first, first + sum(value == own for value in u))
    return mean(place < k for place in places)


def auc(u, c):
    pairs = [(a, b) for a in u[c] for b in u[~c]]
    return mean(1.0 if a > b else 0.5 if a == b else 0.0 for a, b in pairs)


def f1(p, c):
    return 2 * (p & c).sum() / (p.sum() + c.sum())


NAIVE_UTILITIES = {
    "accuracy": hit,
    "top-3": lambda u, c: hit(u, c, 3),
    "top-5": lambda u, c: hit(u, c, 5),
    "normalized-accuracy": lambda u, c: (
        None if len(u) == 1 else (hit(u, c) - 1 / len(u)) / (1 - 1 / len(u))
    ),
    "auc-roc": lambda u, c: None if c.all() else auc(u, c),
    "auc-roc-released": lambda u, c: auc(u, c) if min(c.sum(), (~c).sum()) > 1 else None,
}
NAIVE_CHOICES = {
    "f1": f1,
    "subset-accuracy": lambda p, c: float((p == c).all()),
    "precision": lambda p, c: (p & c).sum() / p.sum() if p.any() else 0.0,
    "recall": lambda p, c: (p & c).sum() / c.sum(),
    "informedness": lambda p, c: (
        None if c.all() else (p & c).sum() / c.sum() + (~p & ~c).sum() / (~c).sum() - 1
    ),
    "hamming": lambda p, c: (p != c).mean(),
}


def test_every_metric_has_a_naive_twin():
    assert set(NAIVE_UTILITIES) | set(NAIVE_CHOICES) | {"micro-f1", "log-loss"} == set(METRICS)


@pytest.mark.parametrize("name", NAIVE_UTILITIES)
@given(data=st.data())
def test_utilities_metrics_are_the_mean_of_a_loop(name, data):
    tasks = data.draw(choice_tasks(kind=next(iter(METRICS[name].kinds))))
    u = utilities_for(tasks, np.random.default_rng(1))
    expected = mean(
        value
        for s in slices(tasks)
        if (value := NAIVE_UTILITIES[name](u[s], tasks.chosen[s])) is not None
    )
    assert metric(name)(tasks, u) == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("name", NAIVE_CHOICES)
@given(data=st.data())
def test_choice_metrics_are_the_mean_of_a_loop(name, data):
    tasks = data.draw(choice_tasks(kind=Kind.SUBSET))
    p = np.random.default_rng(1).random(tasks.n_entries) < 0.4
    expected = mean(
        value
        for s in slices(tasks)
        if (value := NAIVE_CHOICES[name](p[s], tasks.chosen[s])) is not None
    )
    assert metric(name)(tasks, p) == pytest.approx(expected, nan_ok=True)


@given(choice_tasks(kind=Kind.SUBSET))
def test_micro_f1_is_of_all_objects_together(tasks):
    p = np.random.default_rng(1).random(tasks.n_entries) < 0.4
    assert metric("micro-f1")(tasks, p) == pytest.approx(f1(p, tasks.chosen))


@given(choice_tasks(kind=Kind.SINGLETON))
def test_log_loss_of_singleton_choice_is_a_loop(tasks):
    p = probabilities(tasks, utilities_for(tasks, np.random.default_rng(1)))
    expected = mean(-math.log(p[s][tasks.chosen[s]].item()) for s in slices(tasks))
    assert metric("log-loss")(tasks, p) == pytest.approx(expected)


@given(choice_tasks(kind=Kind.SUBSET))
def test_log_loss_of_subset_choice_is_a_loop_over_objects(tasks):
    p = probabilities(tasks, utilities_for(tasks, np.random.default_rng(1)))
    expected = mean(
        mean(-math.log(a if c else 1 - a) for a, c in zip(p[s], tasks.chosen[s], strict=True))
        for s in slices(tasks)
    )
    assert metric("log-loss")(tasks, p) == pytest.approx(expected)


def test_log_loss_by_hand(singleton):
    assert metric("log-loss")(singleton, np.full(4, 0.25)) == pytest.approx(math.log(4))
    certain = np.array([1.0, 0, 0, 0])
    assert metric("log-loss")(singleton, certain) == pytest.approx(52 * math.log(2))
    assert metric("log-loss")(singleton, certain[[1, 2, 0, 3]]) == 0


@pytest.fixture
def subsets():
    rng = np.random.default_rng(0)
    chosen = rng.random((200, 6)) < 0.4
    chosen[np.arange(200), rng.integers(6, size=200)] = True
    chosen[np.arange(200), (chosen.argmax(axis=1) + 1) % 6] = False
    return ChoiceTasks.from_dense(rng.standard_normal((200, 6, 2)), chosen, Kind.SUBSET)


@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("f1", lambda c, p: sk.f1_score(c, p, average="samples", zero_division=0)),
        ("micro-f1", lambda c, p: sk.f1_score(c, p, average="micro")),
        ("precision", lambda c, p: sk.precision_score(c, p, average="samples", zero_division=0)),
        ("recall", lambda c, p: sk.recall_score(c, p, average="samples")),
        ("subset-accuracy", sk.accuracy_score),
        ("hamming", sk.hamming_loss),
        (
            "informedness",
            lambda c, p: np.mean(
                [sk.balanced_accuracy_score(a, b, adjusted=True) for a, b in zip(c, p, strict=True)]
            ),
        ),
    ],
)
def test_choice_metrics_equal_scikit_learn(name, reference, subsets):
    p = np.random.default_rng(1).random(subsets.n_entries) < 0.3
    expected = reference(subsets.chosen.reshape(-1, 6), p.reshape(-1, 6))
    assert metric(name)(subsets, p) == pytest.approx(expected)


def test_auc_equals_scikit_learn(subsets):
    u = np.random.default_rng(1).integers(0, 4, subsets.n_entries).astype(float)
    expected = sk.roc_auc_score(subsets.chosen.reshape(-1, 6), u.reshape(-1, 6), average="samples")
    assert metric("auc-roc")(subsets, u) == pytest.approx(expected)


@pytest.mark.parametrize(("name", "k"), [("accuracy", 1), ("top-3", 3), ("top-5", 5), ("top-4", 4)])
def test_top_k_equals_scikit_learn_without_ties(name, k):
    rng = np.random.default_rng(0)
    answers = rng.integers(6, size=300)
    tasks = ChoiceTasks.from_dense(np.zeros((300, 6, 1)), answers, Kind.SINGLETON)
    u = rng.standard_normal(tasks.n_entries)
    expected = sk.top_k_accuracy_score(answers, u.reshape(-1, 6), k=k)
    assert metric(name)(tasks, u) == pytest.approx(expected)


@pytest.fixture
def singleton():
    return ChoiceTasks.from_dense(np.zeros((1, 4, 1)), [2], Kind.SINGLETON)


@pytest.mark.parametrize(
    ("utilities", "accuracy", "top_3"),
    [
        ([0, 0, 1, 0], 1, 1),
        ([1, 0, 1, 0], 1 / 2, 1),
        ([2, 0, 1, 0], 0, 1),
        ([2, 2, 1, 1], 0, 1 / 2),  # the third or the fourth
        ([2, 2, 1, 2], 0, 0),
        ([0, 0, 0, 0], 1 / 4, 3 / 4),  # worth a guess
    ],
)
def test_ties_count_as_their_expected_share(utilities, accuracy, top_3, singleton):
    u = np.array(utilities, dtype=float)
    assert metric("accuracy")(singleton, u) == accuracy
    assert metric("top-3")(singleton, u) == top_3


@given(choice_tasks(kind=Kind.SINGLETON))
def test_top_1_is_accuracy_and_top_all_is_1(tasks):
    u = utilities_for(tasks, np.random.default_rng(1))
    assert metric("top-1")(tasks, u) == metric("accuracy")(tasks, u)
    assert metric(f"top-{tasks.sizes.max()}")(tasks, u) == 1


def test_an_empty_prediction_scores_zero(subsets):
    nothing = np.zeros(subsets.n_entries, dtype=bool)
    for name in ("f1", "micro-f1", "precision", "recall", "subset-accuracy", "informedness"):
        assert metric(name)(subsets, nothing) == 0


def test_tasks_that_cannot_tell_are_left_out():
    x = np.zeros((2, 2, 1))
    tasks = ChoiceTasks.from_dense(x, [[True, True], [True, False]], Kind.SUBSET)
    assert metric("informedness")(tasks, np.array([True, False, True, False])) == 1
    assert metric("auc-roc")(tasks, np.array([0.0, 1.0, 0.0, 1.0])) == 0
    everything = tasks[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert math.isnan(metric("informedness")(everything, np.array([True, True])))
        assert math.isnan(metric("auc-roc")(everything, np.array([0.0, 1.0])))
    alone = ChoiceTasks.from_dense(np.zeros((1, 1, 1)), [0], Kind.SINGLETON)
    assert math.isnan(metric("normalized-accuracy")(alone, np.array([0.0])))


@given(choice_tasks(kind=Kind.SUBSET))
def test_perfection_scores_perfectly(tasks):
    n_chosen = tasks.reduce(np.add, tasks.chosen, dtype=np.int64)
    n_others = tasks.sizes - n_chosen
    assume(n_others.any())
    told = (np.minimum(n_chosen, n_others) > 1).any()  # by the released code's AUC-ROC
    for name, row in METRICS.items():
        if Kind.SUBSET in row.kinds and (told or name != "auc-roc-released"):
            values = tasks.chosen if row.needs == "choices" else tasks.chosen.astype(float)
            assert row(tasks, values) == (1 if row.higher_is_better else 0), name


def test_values_that_do_not_fit_are_refused(singleton, subsets):
    with pytest.raises(InvalidUtilities, match="one value per entry"):
        metric("accuracy")(singleton, np.zeros(3))
    with pytest.raises(InvalidUtilities, match="1 of 4 utilities are NaN"):
        metric("accuracy")(singleton, np.array([0, np.nan, 0, 0]))
    with pytest.raises(InvalidUtilities, match="f1 is for subset choice"):
        metric("f1")(singleton, np.zeros(4, dtype=bool))
    with pytest.raises(InvalidUtilities, match="choices must be boolean"):
        metric("f1")(subsets, np.zeros(subsets.n_entries))
    with pytest.raises(InvalidUtilities, match="probabilities must lie between 0 and 1, got 0 to"):
        metric("log-loss")(singleton, np.array([0, 2, 0, 0]))
    with pytest.raises(InvalidUtilities, match="1 of 4 probabilities are NaN"):
        metric("log-loss")(singleton, np.array([0, np.nan, 0, 0]))


@pytest.mark.parametrize("values", [[3, 0, 1], np.array([3, 0, 1], np.uint8)])
def test_integers_are_utilities_too(values):
    tasks = ChoiceTasks.from_dense(np.zeros((1, 3, 1)), [[True, False, False]], Kind.SUBSET)
    assert metric("auc-roc")(tasks, values) == 1
    assert metric("auc-roc")(tasks, np.array([-128, 0, 1], np.int8)) == 0
    with pytest.raises(InvalidUtilities, match="utilities must be real numbers"):
        metric("auc-roc")(tasks, np.array(["a", "b", "c"]))


def test_a_misspelt_metric_is_suggested():
    with pytest.raises(UnknownName, match="did you mean 'accuracy'"):
        metric("acuracy")
    with pytest.raises(UnknownName, match="top-k for any k"):
        metric("top-0")


@pytest.mark.parametrize("kind", Kind)
def test_a_weight_of_two_is_a_task_twice(kind):
    rng = np.random.default_rng(4)
    chosen = rng.random((40, 6)) < 0.4 if kind is Kind.SUBSET else np.eye(6)[rng.integers(0, 6, 40)]
    chosen = chosen.astype(bool)
    chosen[:, 0] |= ~chosen.any(axis=1)
    tasks = ChoiceTasks.from_dense(np.zeros((40, 6, 1)), chosen, kind)
    utilities = rng.normal(size=tasks.n_entries) + tasks.chosen
    weighted = tasks.with_arrays(weights=1.0 + (np.arange(40) < 10))
    twice = np.append(np.arange(40), np.arange(10))
    repeated, of_repeated = tasks[twice], utilities.reshape(40, 6)[twice].ravel()

    decisions = ("threshold", "expected-f1") if kind is Kind.SUBSET else (None,)
    for decision in decisions:
        rule = tune_rule(decision, weighted, utilities) if decision else None
        other = tune_rule(decision, repeated, of_repeated) if decision else None
        found = evaluate(weighted, utilities, rule, True)
        expected = evaluate(repeated, of_repeated, other, True)
        assert found == pytest.approx(expected, rel=1e-9)
        alike = evaluate(tasks, utilities, rule, True)
        assert all(found[name] != alike[name] for name in found if name != "top-5")


@given(choice_tasks(kind=Kind.SINGLETON))
def test_equal_utilities_are_worth_a_guess(tasks):
    constant = np.zeros(tasks.n_entries)
    assert metric("accuracy")(tasks, constant) == pytest.approx(np.mean(1 / tasks.sizes))
    guess = metric("normalized-accuracy")(tasks, constant)
    assert guess == pytest.approx(0 if (tasks.sizes > 1).any() else math.nan, nan_ok=True)
