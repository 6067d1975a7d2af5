"""Checks that every learner, dataset and executor passes, ours and those of other packages.

With pytest, one test per check::

    from cschoice.testing import learner_checks, parametrize_with_checks

    @parametrize_with_checks(learner_checks("example-deep-sets"))
    def test_it_is_a_learner(check):
        check()

``check_learner``, ``check_dataset`` and ``check_executor`` run all of them one after the other.
Names are those of the registries, or places: ``mypackage.learners:MyLearner``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cschoice.testing.checks import Check
from cschoice.testing.datasets import dataset_checks
from cschoice.testing.executors import executor_checks
from cschoice.testing.learners import learner_checks

__all__ = [
    "Check",
    "check_dataset",
    "check_executor",
    "check_learner",
    "dataset_checks",
    "executor_checks",
    "learner_checks",
    "parametrize_with_checks",
]


def parametrize_with_checks(checks: Iterable[Check]) -> Any:
    """Return pytest's decorator that runs a test of one argument, ``check``, with each of them."""
    import pytest

    return pytest.mark.parametrize("check", [pytest.param(one, id=one.name) for one in checks])


def check_learner(name: str) -> None:
    """Run all checks of a learner."""
    _run(learner_checks(name))


def check_dataset(name: str, **parameters: Any) -> None:
    """Run all checks of a dataset; the parameters make it small."""
    _run(dataset_checks(name, **parameters))


def check_executor(name: str) -> None:
    """Run all checks of an executor."""
    _run(executor_checks(name))


def _run(checks: Iterable[Check]) -> None:
    for check in checks:
        try:
            check()
        except Exception as error:
            error.add_note(f"in the check '{check.name}'")
            raise
