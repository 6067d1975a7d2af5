"""Nests by alternative, by a column and crossed, and dissimilarities above one."""

from __future__ import annotations

import numpy as np
import pytest

from cschoice import ChoiceTasks, Kind, estimate
from cschoice.errors import InvalidParameter

NAMES = ["cost", "brand", "constant=a", "constant=b", "constant=c", "constant=d"]
NESTS = {"left": ["a", "b"], "right": ["c", "d"]}


def choices(n=800, seed=0, shared=0.8):
    """Return choices of four alternatives; a and b share their noise, as do c and d."""
    rng = np.random.default_rng(seed)
    cost = rng.normal(size=(n, 4, 1))
    common = rng.gumbel(size=(n, 2)).repeat(2, axis=1)
    noise = shared * common + (1 - shared) * rng.gumbel(size=(n, 4))
    chosen = (noise - cost[:, :, 0] + [0, 0.1, 0.2, 0.3]).argmax(axis=1)
    brand = np.broadcast_to(np.array([[7.0], [7.0], [9.0], [9.0]]), (n, 4, 1))
    wide = np.concatenate([cost, brand, np.broadcast_to(np.eye(4), (n, 4, 4))], axis=2)
    return ChoiceTasks.from_dense(wide, chosen, Kind.SINGLETON)


def test_nests_of_a_column_are_those_of_the_alternatives():
    tasks = choices()
    named = estimate(tasks, "nl", features=NAMES, utility="constants, cost", nests=NESTS)
    column = estimate(tasks, "nl", features=NAMES, utility="constants, cost", nests="brand")
    np.testing.assert_allclose(column.values, named.values, atol=1e-7)
    assert column.names[-2:] == ("dissimilarity of brand = 7", "dissimilarity of brand = 9")
    assert "brand" not in estimate(tasks, "nl", features=NAMES, nests="brand").names
    with pytest.raises(InvalidParameter, match="unknown column 'brnd'"):
        estimate(tasks, "nl", features=NAMES, nests="brnd")


def test_crossed_nests_that_do_not_cross_are_nests():
    tasks = choices()
    nested = estimate(tasks, "nl", features=NAMES, utility="constants, cost", nests=NESTS)
    crossed = estimate(tasks, "cnl", features=NAMES, utility="constants, cost", nests=NESTS)
    assert crossed.names == nested.names
    np.testing.assert_allclose(crossed.values, nested.values, atol=1e-6)


def test_the_crossed_likelihood_is_that_of_a_plain_loop():
    tasks = choices(60)
    nests = {"left": ["a", "b", "c"], "right": ["b", "c", "d"]}
    found = estimate(tasks, "cnl", features=NAMES, utility="constants, cost", nests=nests)
    value = dict(zip(found.names, found.values, strict=True))
    shares = {("left", "a"): 1.0, ("right", "d"): 1.0}
    for one in "bc":
        shares["left", one] = value[f"share of {one} in left"]
        shares["right", one] = 1 - shares["left", one]
    constants = np.array([value.get(f"constant={one}", 0.0) for one in "abcd"])
    total = 0.0
    for task in range(60):
        x = tasks.features[tasks.entries(task), 0].astype(float)
        weights = np.exp(value["cost"] * x + constants)
        within, sums = {}, {}
        for nest, members in nests.items():
            power = value[f"dissimilarity of {nest}"]
            terms = {
                j: (shares[nest, j] * weights["abcd".index(j)]) ** (1 / power) for j in members
            }
            within[nest] = {j: term / sum(terms.values()) for j, term in terms.items()}
            sums[nest] = sum(terms.values()) ** power
        one = "abcd"[int(tasks.chosen[tasks.entries(task)].argmax())]
        chance = sum(sums[nest] * within[nest].get(one, 0.0) for nest in nests)
        total += np.log(chance / sum(sums.values()))
    assert found.fit.log_likelihood == pytest.approx(total, abs=1e-9)


def test_a_dissimilarity_above_one_is_allowed_on_request():
    rng = np.random.default_rng(1)
    tasks = choices(2000, shared=0.0)
    x = tasks.features.reshape(-1, 4, 6)[:, :, 0]
    # Those who leave a take c or d, never b: objects of a nest are the worse substitutes.
    first = rng.gumbel(size=(2000, 1)) * [0.6, -0.6, 0.6, -0.6]
    chosen = (first - x + rng.gumbel(size=(2000, 4))).argmax(axis=1)
    odd = ChoiceTasks.from_dense(tasks.features.reshape(-1, 4, 6), chosen, Kind.SINGLETON)
    given = {"features": NAMES, "utility": "constants, cost", "nests": NESTS}
    usual = estimate(odd, "nl", **given)
    assert usual.remarks[-2:] == ["at its bound", "at its bound"]
    free = estimate(odd, "nl", max_dissimilarity=5, **given)
    assert (free.values[-2:] > 1).all()
    assert free.fit.log_likelihood > usual.fit.log_likelihood


def test_mistakes_in_nests():
    tasks = choices(50)
    with pytest.raises(InvalidParameter, match="in two nests: estimate cnl"):
        estimate(tasks, "nl", features=NAMES, nests={"left": ["a", "b"], "right": ["b"]})
    with pytest.raises(InvalidParameter, match="cnl needs nests"):
        estimate(tasks, "cnl", features=NAMES)
    with pytest.raises(InvalidParameter, match="unknown alternative 'e'"):
        estimate(tasks, "cnl", features=NAMES, nests={"left": ["a", "e"]})
