"""The promises of every learner; a new row of LEARNERS is tested by itself."""

import numpy as np
import pytest

from cschoice.evaluation.metrics import metric
from cschoice.learners import LEARNERS
from cschoice.tasks import ChoiceTasks, Kind
from cschoice.testing import Check, learner_checks, parametrize_with_checks
from cschoice.testing.learners import easy_tasks, quick


@parametrize_with_checks(check for name in LEARNERS for check in learner_checks(name))
def test_a_learner_keeps_its_promises(check: Check) -> None:
    check()


@pytest.mark.parametrize("name", LEARNERS)
def test_the_class_has_the_name_of_its_row(name: str) -> None:
    assert LEARNERS[name].learner.name == name


@pytest.mark.parametrize(
    "name", [name for name, row in LEARNERS.items() if not row.learner.guesses]
)
def test_tasks_count_by_their_weights(name: str) -> None:
    """Of choices by x and as many by −x, those with the larger weight are learned."""
    kind = min(LEARNERS[name].kinds)
    tasks = easy_tasks(kind)
    opposite = tasks.with_arrays(table=-tasks.table)
    both = ChoiceTasks.concatenate([tasks, opposite])
    scores = []
    for weights in ([1.0, 1e-3], [1e-3, 1.0]):
        weighted = both.with_arrays(weights=np.repeat(weights, len(tasks)))
        utilities = quick(name).fit(weighted, seed=3).utilities(tasks)
        measure = metric("accuracy" if kind is Kind.SINGLETON else "auc-roc")
        scores.append(measure(tasks, utilities))
    assert scores[0] > scores[1] + 0.3
