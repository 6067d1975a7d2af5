"""The promises of every learner; a new row of LEARNERS is tested by itself."""

import pytest

from cschoice.learners import LEARNERS
from cschoice.testing import Check, learner_checks, parametrize_with_checks


@parametrize_with_checks(check for name in LEARNERS for check in learner_checks(name))
def test_a_learner_keeps_its_promises(check: Check) -> None:
    check()


@pytest.mark.parametrize("name", LEARNERS)
def test_the_class_has_the_name_of_its_row(name: str) -> None:
    assert LEARNERS[name].learner.name == name
