"""Proposals are a function of history, and the budget is spent as described."""

import json
import math
from dataclasses import replace

import pytest
from job_examples import make_job

from cschoice.errors import InvalidParameter
from cschoice.runs import records, tuning
from cschoice.runs.records import Budget, Frugal, Rung, Trial, TrialState
from cschoice.runs.tuning import best_trial, chosen_trial, narrowed, next_trial, propose
from cschoice.space import Categorical, Integer, Real

SPACE = {
    "rate": Real(1e-5, 1e-1),
    "units": Integer(4, 1024, log=True),
    "layers": Integer(1, 5),
    "act": Categorical(("relu", "selu")),
}


def loss_of(params):
    return (math.log10(params["rate"]) + 3) ** 2 / 10 + abs(params["layers"] - 3) / 10


def history(n, seed=0, **options):
    trials = []
    for _ in range(n):
        params = propose(SPACE, trials, seed=seed, **options)
        trials.append((params, loss_of(params)))
    return trials


@pytest.mark.parametrize("n_spread", [10, 4, None])
def test_resuming_equals_not_having_stopped(n_spread):
    whole = history(14, n_spread=n_spread)
    through_disk = json.loads(json.dumps(whole[:11]))
    resumed = [(params, loss) for params, loss in through_disk]
    for expected in whole[11:]:
        params = propose(SPACE, resumed, seed=0, n_spread=n_spread)
        assert params == expected[0]
        resumed.append((params, loss_of(params)))


def test_proposals_are_plain_values_inside_the_space():
    for params, _ in history(14):
        assert all(params[name] in dimension for name, dimension in SPACE.items())
        assert {type(value) for value in params.values()} <= {int, float, str}


def test_another_seed_gives_other_points():
    assert history(3) != history(3, seed=1)


def test_every_integer_is_equally_probable():
    space = {"n": Integer(1, 5)}
    drawn = [propose(space, [({}, 0.0)] * k, seed=0, n_spread=None)["n"] for k in range(500)]
    assert all(80 <= drawn.count(n) <= 120 for n in range(1, 6))


def test_the_gaussian_process_finds_the_minimum():
    spread = min(loss for _, loss in history(10))
    assert min(loss for _, loss in history(25)) <= spread
    assert min(loss for _, loss in history(25)) < 0.02


def test_failed_trials_do_not_stop_the_search():
    trials = [
        (params, None if k % 3 == 0 else loss) for k, (params, loss) in enumerate(history(12))
    ]
    assert propose(SPACE, trials, seed=0) not in [params for params, _ in trials]
    all_failed = [(params, None) for params, _ in trials]
    assert propose(SPACE, all_failed, seed=0) not in [params for params, _ in all_failed]


def test_a_space_that_is_used_up_repeats_itself():
    space = {"act": Categorical(("relu", "selu"))}
    trials = [({"act": "relu"}, 0.1), ({"act": "selu"}, 0.2)]
    assert propose(space, trials, seed=0)["act"] in ("relu", "selu")


def trial(number, rung, losses, state=TrialState.COMPLETE, **params):
    return Trial(number, rung, params, losses, state, 0.0)


DEFAULTS = {"rate": 1e-3, "units": 64, "layers": 3, "act": "relu", "other": 1}
FRUGAL = Budget(3, frugal=Frugal(0.2, 0.5, hopeless=0.1))


def step(trials, budget, **options):
    return next_trial(SPACE, DEFAULTS, trials, budget, seed=0, costly=True, **options)


def test_a_plain_budget_is_spent_on_full_trials():
    trials = []
    for number in range(3):
        params, rung = step(trials, Budget(3))
        assert rung is Rung.FULL
        trials.append(trial(number, rung, [0.5], **params))
    assert step(trials, Budget(3)) is None
    assert trials[0].params != {name: DEFAULTS[name] for name in SPACE}


def screened(losses):
    trials = []
    for number, loss in enumerate(losses):
        params, rung = step(trials, FRUGAL)
        assert rung is Rung.SCREEN
        trials.append(trial(number, rung, [loss, loss + 0.1, loss + 0.2], **params))
    assert trials[0].params == {name: DEFAULTS[name] for name in SPACE}
    return trials


@pytest.mark.parametrize(
    ("of_defaults", "of_leader", "chosen"),
    [([0.3], [0.2], 4), ([0.2], [0.3], 3), ([0.2], [0.2], 3)],
)
def test_a_screen_that_is_clearly_better_is_confirmed_by_full_fits(of_defaults, of_leader, chosen):
    trials = screened([0.3, 0.1, 0.2])
    for losses, expected in ((of_defaults, trials[0]), (of_leader, trials[1])):
        params, rung = step(trials, FRUGAL)
        assert (params, rung) == (expected.params, Rung.FULL)
        trials.append(trial(len(trials), rung, losses, **params))
    assert step(trials, FRUGAL) is None
    assert chosen_trial(trials, FRUGAL) is trials[chosen]


def test_what_fails_when_fitted_in_full_is_not_taken():
    trials = screened([0.3, 0.1, 0.2])
    full = [trial(3, Rung.FULL, [0.5]), trial(4, Rung.FULL, [], TrialState.FAILED)]
    assert chosen_trial([*trials, *full], FRUGAL) is full[0]
    assert chosen_trial([*trials, full[1], full[1]], FRUGAL) is trials[0]


def test_there_is_nothing_to_confirm_where_nothing_is_better_or_screens_are_full_fits():
    assert step(screened([0.3, 0.295, 0.4]), FRUGAL) is None
    assert step(screened([0.3, 0.1, 0.2]), FRUGAL, confirm=False) is None
    failed = [trial(0, Rung.SCREEN, [], TrialState.FAILED), *screened([0.3, 0.1, 0.2])[1:]]
    assert step(failed, FRUGAL) is None
    assert step([], Budget(0, frugal=FRUGAL.frugal)) is None


def test_a_trial_given_up_after_an_easy_split_does_not_look_good(monkeypatch):
    told = []
    monkeypatch.setattr(tuning, "propose", lambda _, history, **__: told.extend(history) or {})
    trials = [
        trial(0, Rung.SCREEN, [0.1, 0.5, 0.6]),
        trial(1, Rung.SCREEN, [0.3], TrialState.HOPELESS),
        trial(2, Rung.SCREEN, [], TrialState.FAILED),
    ]
    step(trials, Budget(4, frugal=Frugal(0.2, 0.5, hopeless=0.1)))
    assert [loss for _, loss in told] == [pytest.approx(0.4), pytest.approx(0.6), None]


def test_hopeless_and_failed_trials_are_never_best():
    trials = [
        trial(0, Rung.SCREEN, [0.01], TrialState.HOPELESS),
        trial(1, Rung.SCREEN, [], TrialState.FAILED),
        trial(2, Rung.SCREEN, [0.5, 0.6]),
    ]
    assert best_trial(trials) is trials[2]
    assert best_trial(trials[:2]) is None


@pytest.mark.parametrize(
    ("losses", "chosen"),
    [
        ([0.50, 0.55, 0.60], 1),  # better on every split by much the same
        ([0.595, 0.654, 0.685], 0),  # too, but by so little that it would not carry over
        ([0.585, 0.645, 0.675], 1),  # by a little more than a hundredth
        ([0.51, 0.64, 0.67], 0),  # by more than one standard error over splits, less than two
        ([0.40, 0.80, 0.66], 0),  # better on the whole, by chance
        ([0.70, 0.72, 0.74], 0),
    ],
)
def test_a_screen_must_clearly_beat_the_defaults(losses, chosen):
    trials = [
        trial(0, Rung.SCREEN, [0.60, 0.66, 0.69]),
        trial(1, Rung.SCREEN, losses),
        trial(2, Rung.SCREEN, [0.1], TrialState.HOPELESS),
    ]
    assert chosen_trial(trials, FRUGAL) is trials[chosen]


def test_full_trials_are_taken_by_their_word():
    trials = [trial(0, Rung.FULL, [0.60, 0.66]), trial(1, Rung.FULL, [0.70, 0.5])]
    assert chosen_trial(trials, FRUGAL) is trials[1]
    assert chosen_trial([], FRUGAL) is None


def test_a_small_budget_leaves_half_to_the_gaussian_process(monkeypatch):
    asked = []
    monkeypatch.setattr(
        "cschoice.runs.tuning._by_gaussian_process",
        lambda _space, points, *_: asked.append(len(points)) or (dict(DEFAULTS), 1.0),
    )
    for n in range(1, 8):
        trials = [trial(k, Rung.FULL, [k / 10], rate=1e-3) for k in range(n)]
        step(trials, Budget(8))
    assert asked == [4, 5, 6, 7]


def test_without_a_space_there_is_nothing_to_try():
    assert next_trial({}, {}, [], Budget(5), seed=0, costly=False) is None


def test_limits_cut_a_space_down():
    limits = {"rate": [1e-3, 1], "layers": [2, 2], "act": ["selu"], "unknown": [1, 2]}
    left, fixed = narrowed(SPACE, limits)
    assert left == {"rate": Real(1e-3, 1e-1), "units": SPACE["units"]}
    assert fixed == {"layers": 2, "act": "selu"}
    assert narrowed(SPACE, {"units": [1, 2]}) == (
        {name: SPACE[name] for name in ("rate", "layers", "act")},
        {"units": 4},  # the nearest that the space allows
    )


def test_limits_that_leave_nothing_are_a_mistake():
    with pytest.raises(InvalidParameter, match=r"act must be among relu, selu, got \['gelu'\]"):
        narrowed(SPACE, {"act": ["gelu"]})


def test_values_outside_a_space_have_a_nearest_one_inside():
    assert SPACE["rate"].nearest(1.0) == 1e-1
    assert SPACE["layers"].nearest(0) == 1
    assert [SPACE["act"].nearest(name) for name in ("selu", "gelu")] == ["selu", "relu"]


def searched(budget):
    """Try what is proposed until the budget is spent; every split adds its own noise."""
    trials = []
    while proposal := next_trial(SPACE, {}, trials, budget, seed=0, costly=True):
        params, rung = proposal
        number = len(trials)
        noise = [0.003 * math.sin(7 * number + 3 * split) for split in range(3)]
        losses = [0.2 * split + loss_of(params) + one for split, one in enumerate(noise)]
        trials.append(Trial(number, rung, params, losses, TrialState.COMPLETE, 1.0))
    return trials


def test_a_search_ends_when_it_expects_less_than_the_noise():
    budget = Budget(n_trials=20, n_spread=10, least_gain=1.0)
    trials = searched(budget)
    assert 10 < len(trials) < 20
    assert next_trial(SPACE, {}, trials, budget, seed=0, costly=True) is None  # and stays ended
    whole = searched(replace(budget, least_gain=0.0))
    assert len(whole) == 20
    assert [trial.params for trial in whole[: len(trials)]] == [trial.params for trial in trials]
    assert best_trial(trials).loss < sorted(trial.loss for trial in trials[:10])[0]


def test_a_search_that_never_ends_early_has_the_key_it_had():
    job = make_job()
    assert replace(job, budget=replace(job.budget, least_gain=1.0)).key != job.key
    assert "least_gain" not in records._without_added_fields(job.budget)
