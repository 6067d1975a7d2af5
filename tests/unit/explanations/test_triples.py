"""Attraction, compromise and similarity: which triples are found, and what they measure."""

import numpy as np
import pytest
from closed_form import written
from numpy.testing import assert_allclose

from cschoice.errors import InvalidParameter
from cschoice.explanations.triples import added, directions_of, moved, triples
from cschoice.tasks import ChoiceTasks, Kind

HIGH = {"x0": "high", "x1": "high"}


def tasks_of(*sets):
    x = np.array(sets, dtype=float)
    return ChoiceTasks.from_dense(x, np.zeros(len(x), dtype=int), Kind.SINGLETON)


def found(tasks, better=HIGH):
    return {
        one.effect: sorted(map(tuple, one.entries.tolist()))
        for one in triples(tasks, directions_of(better, tasks.feature_names))
    }


def test_a_worse_copy_of_the_target_is_a_decoy():
    """t = (4, 6), c = (6, 4), d = (3.5, 5.5): d is worse than t in everything, not than c."""
    decoy = tasks_of([[4, 6], [6, 4], [3.5, 5.5]])
    assert found(decoy)["attraction"] == [(0, 1, 2)]
    worse_than_both = tasks_of([[4, 6], [6, 4], [3, 3]])
    assert found(worse_than_both)["attraction"] == []
    low = {"x0": "low", "x1": "high"}  # now (4, 6) is better than (6, 4) in everything
    assert found(decoy, low)["attraction"] == []


def test_an_extreme_object_makes_the_target_the_middle_one():
    """(2, 8), (4, 6), (6, 4): the second is the compromise, whichever of the others is added."""
    line = tasks_of([[2, 8], [4, 6], [6, 4]])
    assert found(line)["compromise"] == [(1, 0, 2), (1, 2, 0)]


def test_a_copy_of_the_competitor_is_similar():
    near = tasks_of([[4, 6], [6, 4], [6.2, 3.8]])
    assert found(near)["similarity"] == [(0, 1, 2), (0, 2, 1)]
    assert found(near)["attraction"] == []


def test_without_context_all_effects_are_nothing():
    rng = np.random.default_rng(0)
    tasks = tasks_of(*rng.uniform(1, 9, size=(200, 4, 2)))
    model = written(lambda x: x @ [1.0, 2.0], tasks)
    directions = directions_of(HIGH, tasks.feature_names)
    for some in triples(tasks, directions):
        assert some.n_found == len(some.entries) > 0
        assert_allclose(added(model, tasks, some), 0, atol=1e-5)
        assert_allclose(moved(model, tasks, some, directions), 0, atol=1e-5)


def test_effects_are_those_of_a_model_that_likes_what_dominates():
    """Each object gains one for every object that it dominates: a decoy adds one to its target."""

    def utility(x):
        beats = (x[:, None] >= x).all(-1) & (x[:, None] > x).any(-1)
        return beats.sum(1).astype(float)

    tasks = tasks_of([[4, 6], [6, 4], [3.5, 5.5]], [[4, 6], [6, 4], [5.5, 3.5]])
    directions = directions_of(HIGH, tasks.feature_names)
    attraction, *_ = triples(tasks, directions)
    assert sorted(map(tuple, attraction.entries.tolist())) == [(0, 1, 2), (4, 3, 5)]
    model = written(utility, tasks)
    assert_allclose(added(model, tasks, attraction), 1, atol=1e-6)
    # Moved to the other side, the decoy gives as much to the competitor.
    assert_allclose(moved(model, tasks, attraction, directions), 1, atol=1e-6)


def test_directions_name_what_is_wrong():
    with pytest.raises(InvalidParameter, match=r"prize.*'quality' must be better high or low"):
        directions_of({"prize": "low", "quality": "good"}, ["price", "quality"])
