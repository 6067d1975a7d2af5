"""The verdicts beside the paper's numbers against scipy's tests."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from cschoice.report.compute.agreement import MARGIN, Agreement, agreement, welch
from cschoice.report.compute.paper import Score

scores = st.floats(0, 1, allow_subnormal=False).map(lambda x: round(x, 4))
samples = st.lists(scores, min_size=2, max_size=8).filter(lambda one: np.ptp(one) > 1e-9)


def score(values):
    return Score(float(np.mean(values)), float(np.std(values, ddof=1)), len(values))


@given(samples, samples)
def test_the_difference_is_tested_as_welch_did(ours, theirs):
    found = welch(score(ours), score(theirs), rounding=0.0)
    expected = stats.ttest_ind(ours, theirs, equal_var=False)
    assert found.p == pytest.approx(expected.pvalue, abs=1e-9)
    assert found.degrees == pytest.approx(expected.df)


@given(samples, samples, st.sampled_from([0.01, 0.1, 0.5]))
def test_agreement_is_two_one_sided_tests(ours, theirs, margin):
    not_lower = stats.ttest_ind(
        np.add(ours, margin), theirs, equal_var=False, alternative="greater"
    ).pvalue
    not_higher = stats.ttest_ind(
        np.subtract(ours, margin), theirs, equal_var=False, alternative="less"
    ).pvalue
    p = max(not_lower, not_higher)
    if abs(p - 0.05) > 1e-9:
        assert welch(score(ours), score(theirs), rounding=0.0).within(margin) == (p < 0.05)


def test_rounding_in_print_is_no_difference():
    constant = Score(0.2316, 0.0, 5)
    assert welch(constant, Score(0.232, 0.0, 5)).p > 0.05
    assert welch(constant, Score(0.230, 0.0, 5)).differs
    assert welch(constant, Score(0.2316, 0.0, 5), rounding=0.0).p == 1.0
    assert welch(constant, Score(0.2317, 0.0, 5), rounding=0.0).p == 0.0


@pytest.mark.parametrize(
    ("ours", "theirs", "verdict"),
    [
        ((0.896, 0.005, 5), (0.738, 0.351, 5), Agreement.UNCLEAR),
        ((0.540, 0.015, 5), (0.540, 0.005, 5), Agreement.UNCLEAR),
        ((0.540, 0.004, 5), (0.541, 0.005, 5), Agreement.SAME),
        ((0.978, 0.001, 5), (0.976, 0.001, 5), Agreement.SAME),  # different, but it is the same
        ((0.960, 0.005, 5), (0.881, 0.007, 5), Agreement.ABOVE),
        ((0.019, 0.002, 5), (0.356, 0.026, 5), Agreement.BELOW),
        ((0.5, 0.0, 1), (0.5, 0.0, 5), Agreement.ONE_FOLD),
    ],
)
def test_verdicts(ours, theirs, verdict):
    assert agreement(Score(*ours), Score(*theirs)) is verdict


def test_learners_at_the_margin_are_seldom_said_to_agree():
    rng = np.random.default_rng(0)
    ours = 0.5 + MARGIN + 0.004 * rng.standard_normal((1_000, 5))
    theirs = 0.5 + 0.004 * rng.standard_normal((1_000, 5))
    found = [agreement(score(a), score(b)) for a, b in zip(ours, theirs, strict=True)]
    assert 0.01 < np.mean([one is Agreement.SAME for one in found]) < 0.06


def test_equal_learners_are_seldom_said_to_differ():
    rng = np.random.default_rng(1)
    draws = 0.5 + 0.02 * rng.standard_normal((1_000, 2, 5))
    found = [agreement(score(a), score(b)) for a, b in draws]
    differs = [one in (Agreement.ABOVE, Agreement.BELOW) for one in found]
    assert 0.02 < np.mean(differs) < 0.06
