import pytest

from cschoice.io.spreadsheets import harmless


@pytest.mark.parametrize("cell", ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", " =1"])
def test_formulas_are_shown(cell):
    assert harmless(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", ["", "a=1", "-1.5", "+3e-4", "-inf", -1, 2.5, None])
def test_the_rest_is_left_alone(cell):
    assert harmless(cell) == cell
