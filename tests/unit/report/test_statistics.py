"""The tests of a report against published numbers and scipy's own."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from cschoice.report.compute.paper import Score
from cschoice.report.compute.scores import Comparison, Result
from cschoice.report.compute.statistics import (
    corrected_t_test,
    critical_difference,
    friedman,
    groups,
)
from cschoice.report.compute.winners import contests, ratio_tested
from cschoice.tasks import Kind

scores = st.floats(0, 1, allow_subnormal=False).map(lambda x: round(x, 6))


@given(st.lists(st.tuples(scores, scores), min_size=2, max_size=10))
def test_without_overlap_it_is_the_paired_t_test(pairs):
    first, second = np.array(pairs).T
    found = corrected_t_test((first - second).tolist(), test_to_train=0.0)
    if np.ptp(first - second) < 1e-9:
        return
    expected = stats.ttest_rel(first, second)
    assert found.p == pytest.approx(expected.pvalue, abs=1e-9)
    interval = expected.confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx(tuple(interval), abs=1e-9)


def test_the_correction_widens_by_what_nadeau_and_bengio_say():
    differences = [0.02, 0.05, 0.03, 0.01, 0.04]
    plain = corrected_t_test(differences, 0.0)
    corrected = corrected_t_test(differences, 0.25)
    ratio = (corrected.high - corrected.low) / (plain.high - plain.low)
    assert ratio == pytest.approx(math.sqrt((1 / 5 + 1 / 4) / (1 / 5)))
    assert corrected.p > plain.p
    # By hand: mean 0.03, variance 0.00025; t = 0.03 / sqrt(0.45 * 0.00025), 4 degrees of freedom.
    t = 0.03 / math.sqrt(0.45 * 0.00025)
    assert corrected.p == pytest.approx(2 * stats.t.sf(t, 4))
    assert corrected.effect == pytest.approx(0.03 / math.sqrt(0.00025))


def test_equal_and_constant_differences_have_a_verdict():
    assert corrected_t_test([0.0] * 5, 0.25).p == 1.0
    constant = corrected_t_test([0.1] * 5, 0.25)
    assert (constant.p, constant.effect) == (0.0, math.inf)
    assert corrected_t_test([0.1], 0.25) is None


def test_what_folds_share_depends_on_how_they_are_made():
    assert ratio_tested("pareto5d", 5) == 0  # drawn anew
    assert ratio_tested("letor-mq2007", 2) == 0.25  # five parts, however many are tested on
    assert ratio_tested("expedia-subset", 5) == 4  # a fifth to learn from, the rest tested
    assert ratio_tested("imported by someone", 10) == pytest.approx(1 / 9)


@pytest.mark.parametrize(
    ("dataset", "ratio"), [("pareto5d", 0), ("letor-mq2008", 0.25), ("imported", 1 / 4)]
)
def test_a_contest_corrects_for_the_tasks_that_its_folds_share(dataset, ratio):
    differences = [0.02, 0.05, 0.03, 0.01, 0.04]

    def result(learner, values):
        folds = {fold: {"f1": value} for fold, value in enumerate(values)}
        scores = {"f1": Comparison(Score(sum(values) / 5, 0.01, 5))}
        return Result(dataset, learner, Kind.SUBSET, scores, folds, {"done": 5}, "", 1.0, 0)

    better = result("fate", [0.5 + difference for difference in differences])
    ((pair,),) = (contest.pairs for contest in contests([result("mnl", [0.5] * 5), better]))
    assert pair.difference.p == pytest.approx(corrected_t_test(differences, ratio).p)


@given(st.lists(st.tuples(scores, scores), min_size=2, max_size=10), st.integers(1, 90))
def test_intervals_are_adjusted_as_p_values_are(pairs, n_comparisons):
    first, second = np.array(pairs).T
    if np.ptp(first - second) < 1e-9:
        return
    found = corrected_t_test((first - second).tolist(), 0.0, n_comparisons)
    expected = stats.ttest_rel(first, second)
    assert found.adjusted == pytest.approx(min(1.0, n_comparisons * expected.pvalue), abs=1e-9)
    interval = expected.confidence_interval(1 - 0.05 / n_comparisons)
    assert (found.low, found.high) == pytest.approx(tuple(interval), abs=1e-9)
    if abs(found.adjusted - 0.05) > 1e-9:
        assert (found.adjusted < 0.05) == (not found.low <= 0 <= found.high)


def largest_t(samples):
    """Return the largest |t| over all pairs of learners; (draws, folds, learners)."""
    n_folds, n_learners = samples.shape[1:]
    largest = np.zeros(len(samples))
    for k in range(n_learners - 1):
        differences = samples[:, :, k + 1 :] - samples[:, :, k : k + 1]
        error = differences.std(axis=1, ddof=1) / np.sqrt(n_folds)
        largest = np.maximum(largest, np.abs(differences.mean(axis=1) / error).max(axis=1))
    return largest


@pytest.mark.parametrize("scales", [[1] * 5, [1, 2, 4, 8, 16]])
def test_equal_learners_are_told_apart_in_at_most_one_of_twenty_studies(scales):
    """The winner is chosen on the same folds, so any of the ten pairs may be the one looked at."""
    samples = np.random.default_rng(0).standard_normal((40_000, 5, 5)) * scales
    largest = largest_t(samples)
    for_all_pairs, for_the_winners = (stats.t.isf(0.05 / 2 / m, 4) for m in (10, 1))
    assert 0.025 < (largest > for_all_pairs).mean() < 0.052
    assert (largest > for_the_winners).mean() > 0.2
    one = samples[0, :, 0] - samples[0, :, 1]
    found = corrected_t_test(one.tolist(), 0.0, n_comparisons=10)
    reach = (found.high - found.mean) / (one.std(ddof=1) / np.sqrt(5))
    assert reach == pytest.approx(for_all_pairs)


# The accuracies of table 6 of Demšar (2006): four versions of C4.5 on 14 datasets. In the last but
# one his ranks tell 0.975 from 0.975: the fourth digit here is what makes them so.
C45 = np.array([
    [.763, .599, .954, .628, .882, .936, .661, .583, .775, 1.0, .940, .619, .972, .957],
    [.768, .591, .971, .661, .888, .931, .668, .583, .838, 1.0, .962, .666, .981, .978],
    [.771, .590, .968, .654, .886, .916, .609, .563, .866, 1.0, .965, .614, .9751, .946],
    [.798, .569, .967, .657, .898, .931, .685, .625, .875, 1.0, .962, .669, .975, .970],
]).T  # fmt: skip


def test_the_worked_example_of_demsar():
    found = friedman(C45)
    assert found.ranks == pytest.approx((3.143, 2.000, 2.893, 1.964), abs=5e-4)
    assert found.critical_difference == pytest.approx(1.25, abs=0.005)
    chi_square = found.agreement * 14 * 3
    # He prints 9.28, without scipy's correction for ties: one of four and three of two.
    assert chi_square * (1 - (60 + 3 * 6) / (14 * 60)) == pytest.approx(9.28, abs=0.005)
    f = 13 * chi_square / (14 * 3 - chi_square)
    assert found.p == pytest.approx(stats.f.sf(f, 3, 39))
    assert found.differs


@pytest.mark.parametrize(("k", "q"), [(2, 1.960), (5, 2.728), (10, 3.164)])
def test_critical_values_are_the_published_ones(k, q):
    found = critical_difference(n_datasets=100, n_learners=k)
    assert found / math.sqrt(k * (k + 1) / 600) == pytest.approx(q, abs=5e-4)


@given(arrays(float, (6, 4), elements=scores))
def test_friedman_agrees_with_scipy_and_survives_ties(table):
    found = friedman(table)
    assert sum(found.ranks) == pytest.approx(10)
    assert 0 <= found.p <= 1
    if (np.ptp(table, axis=1) > 0).all():
        chi_square = stats.friedmanchisquare(*table.T).statistic
        assert found.agreement == pytest.approx(chi_square / 18)


@given(st.lists(st.floats(1, 9), min_size=1, max_size=9).map(sorted), st.floats(0, 3))
def test_groups_hold_all_pairs_within_the_distance_and_no_others(ranks, distance):
    found = groups(ranks, distance)
    together = {(a, b) for first, last in found for a in range(first, last + 1)
                for b in range(a + 1, last + 1)}  # fmt: skip
    close = {(a, b) for a in range(len(ranks)) for b in range(a + 1, len(ranks))
             if ranks[b] - ranks[a] <= distance}  # fmt: skip
    assert together == close
