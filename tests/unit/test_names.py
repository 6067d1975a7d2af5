"""Registries, seeds and errors."""

import inspect

import pytest

from cschoice import errors
from cschoice.registry import Registry, load
from cschoice.seeding import seed_for


def test_a_registry_suggests_what_was_meant():
    registry = Registry("learner", {"feta": 1, "fate": 2})
    assert registry["feta"] == 1
    assert list(registry) == ["feta", "fate"]
    with pytest.raises(errors.UnknownName) as caught:
        registry["feta-"]
    assert str(caught.value) == "unknown learner 'feta-': did you mean 'feta'? Known: feta, fate"
    with pytest.raises(KeyError):
        registry["nothing like it"]


def test_load_finds_what_a_row_names():
    assert load("cschoice.registry:Registry") is Registry


def test_seeds_follow_names_and_nothing_else():
    seed = seed_for(0, "inner", dataset="medoid", fold=1)
    assert seed == seed_for(0, "inner", fold=1, dataset="medoid")
    others = {
        seed_for(1, "inner", dataset="medoid", fold=1),
        seed_for(0, "outer", dataset="medoid", fold=1),
        seed_for(0, "inner", dataset="medoid", fold=2),
        seed_for(0, "inner", dataset="medoid", fold="1"),
        seed_for(0, "inner", dataset="medoid"),
    }
    assert seed not in others
    assert len(others) == 5
    assert all(0 <= other < 2**32 for other in others)


@pytest.mark.parametrize(
    "error",
    [
        error
        for _, error in inspect.getmembers(errors, inspect.isclass)
        if error.__module__ == errors.__name__ and error is not errors.CschoiceError
    ],
)
def test_every_error_is_ours_and_what_a_caller_expects(error):
    assert issubclass(error, errors.CschoiceError)
    assert len(error.__bases__) == 2
