"""The limits of parameters."""

import math

import numpy as np
import pytest

from cschoice.space import (
    Flag,
    Number,
    OneOf,
    Optional,
    Several,
    Text,
    Whole,
    problems_of_parameters,
)


@pytest.mark.parametrize(
    ("limit", "allowed", "inside", "outside"),
    [
        (Whole(), "a whole number", [-5, 0, np.int64(7)], [1.0, "1", True, None, math.nan]),
        (Whole(1), "a whole number of at least 1", [1, 10**400], [0, -3]),
        (Whole(high=3), "a whole number at most 3", [3, -7], [4]),
        (Whole(2, 4), "a whole number from 2 to 4", [2, np.uint8(4)], [1, 5, np.float32(3)]),
        (
            Number(),
            "a number",
            [0, -1.5, np.float32(2)],
            [math.nan, -math.inf, 10**400, "1", False],
        ),
        (Number(0, 1), "a number from 0 to 1", [0, 1, 0.5], [-1e-9, 1.1]),
        (Number(0, above=True), "a number larger than 0", [1e-300, 5], [0, 0.0, -1]),
        (
            Number(0, 1, above=True, below=True),
            "a number larger than 0 and smaller than 1",
            [0.5],
            [0, 1],
        ),
        (OneOf(("a", "b")), "one of a, b", ["a", np.str_("b")], ["c", "", 1, None, ["a"]]),
        (OneOf((1, 2007)), "one of 1, 2007", [1, 2007], [2008, "2007", True, 1.0]),
        (Flag(), "true or false", [True, False], [0, 1, "true", None]),
        (Text(), "a text", ["x"], ["", 1, None]),
        (Optional(Whole(1)), "a whole number of at least 1, or None", [None, 1], [0, "None"]),
        (
            Several(Whole(0)),
            "a list of distinct values, each a whole number of at least 0",
            [[0], (3, 1)],
            [[], [1, 1], [-1], 3, "12", None, [[0]]],
        ),
    ],
)
def test_limits(limit, allowed, inside, outside):
    assert limit.allowed == allowed
    assert all(limit.problem("it", value) is None for value in inside)
    for value in outside:
        assert limit.problem("it", value).startswith(f"it must be {allowed}, got "), value


def test_all_problems_are_listed_and_long_values_shortened():
    limits = {"epochs": Whole(1), "recipe": OneOf(("modern", "paper")), "l2": Number(0)}
    problems = problems_of_parameters(limits, {"epochs": -3, "recipe": "x" * 500, "l2": 0.1})
    assert len(problems) == 2
    assert problems[0] == "epochs must be a whole number of at least 1, got -3"
    assert len(problems[1]) < 100
