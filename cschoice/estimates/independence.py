"""Does context matter? Tests of the independence of irrelevant alternatives, and one verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cschoice.errors import CschoiceError, InvalidParameter
from cschoice.estimates.estimates import FIXED, UNIDENTIFIED, Estimates
from cschoice.estimates.estimation import estimate
from cschoice.estimates.exchanges import Offers, exchange_test
from cschoice.estimates.hypotheses import hausman_mcfadden
from cschoice.estimates.kinds import ROBUST
from cschoice.estimates.samples import CONSTANT, sample_of
from cschoice.estimates.specification import Specification
from cschoice.tasks import Kind

Progress = Callable[[str], None]

_MOST_TERMS = 30  # of a utility; with more, effects of pairs of terms are too many to test
_MOST_LEFT_OUT = 30  # alternatives
_TASKS_PER_EFFECT = 10  # with fewer, likelihood ratios are larger than their distribution says
EXCHANGES = "exchanges of choices"
_WHOLE = {"lcl": "all pairs of features", "cdm": "each alternative on each other"}


@dataclass(frozen=True)
class ContextTest:
    """One test; the hypothesis is that context does not matter."""

    name: str
    of: str  # what it looks for
    statistic: float
    degrees: int | None  # of χ²; None where the p-value comes from samples
    p: float


@dataclass(frozen=True)
class ContextTests:
    """All tests that the data allow, with one verdict."""

    sample: str
    n_tasks: int
    n_sets: int  # different ones
    level: float
    tests: tuple[ContextTest, ...]
    warnings: tuple[str, ...]

    @property
    def adjusted(self) -> list[float]:
        """Return the p-values adjusted for their number by Holm's method."""
        found = [0.0] * len(self.tests)
        largest = 0.0
        order = sorted(range(len(self.tests)), key=lambda k: self.tests[k].p)
        for rank, k in enumerate(order):
            largest = max(largest, min(1.0, (len(order) - rank) * self.tests[k].p))
            found[k] = largest
        return found

    @property
    def matters(self) -> bool | None:
        """Return whether context matters; None where the data cannot tell."""
        return min(self.adjusted) <= self.level if self.tests else None

    @property
    def verdict(self) -> str:
        """Return the answer in one sentence."""
        percent = f"{100 * self.level:g} %"
        if not self.tests:
            return "These data cannot tell whether context matters: no test applies."
        if not self.matters:
            return (
                f"No sign of context at the level of {percent}: the odds of two objects may well "
                "be the same whatever else is on offer."
            )
        found = [
            test.name for test, p in zip(self.tests, self.adjusted, strict=True) if p <= self.level
        ]
        return (
            "Context matters: the odds of two objects depend on what else is on offer "
            f"({len(found)} of {len(self.tests)} tests at the level of {percent} together: "
            f"{', '.join(found)})."
        )


def context_tests(
    source: Any,
    specification: Specification | None = None,
    *,
    features: Sequence[str] | None = None,
    level: float = 0.05,
    n_samples: int = 499,
    seed: int = 0,
    progress: Progress | None = None,
    **sections: Any,
) -> ContextTests:
    """Test whether the odds of two objects depend on the rest of the offer.

    ``source``, ``features`` and the sections of a specification are those of ``estimate``. Four
    tests, as far as the data allow: likelihood ratios of the multinomial logit in the linear
    context logit and, where alternatives are known, in the context-dependent utility model;
    Hausman–McFadden, leaving out each alternative; and exchanges of choices between sets that
    offer the same two objects, which needs no model.

    >>> import numpy as np
    >>> from cschoice import ChoiceTasks
    >>> x = np.random.default_rng(0).normal(size=(300, 3, 1))
    >>> tasks = ChoiceTasks.from_dense(x, np.zeros(300, dtype=int), "singleton")
    >>> context_tests(tasks).matters
    False
    """
    _check_numbers(level, n_samples)
    sample = sample_of(source, tuple(features) if features else None)
    if sample.tasks.kind is not Kind.SINGLETON:
        raise InvalidParameter("tests of context are for choices of one object, not of subsets")
    written = Specification.of(**sections) if specification is None else specification
    say = progress or (lambda _: None)
    say("estimating mnl")
    mnl = estimate(sample, "mnl", written, seed=seed)
    tests: list[ContextTest] = []
    warnings = list(_of_people(mnl))
    for model in _models(mnl, warnings):
        say(f"estimating {model}")
        full = estimate(sample, model, written, seed=seed)
        tests += _likelihood_ratio(mnl, full, warnings)
    say("leaving out alternatives")
    tests += _hausman_mcfadden(mnl)
    offers = Offers.of(mnl.tasks)
    tests += _exchanges(offers, n_samples, seed, say, warnings)
    n_tasks = _n_tasks(mnl)
    n_sets = n_tasks if offers is None else offers.n_sets
    warnings += _of_sets(n_sets, n_tasks)
    result = ContextTests(sample.name, n_tasks, n_sets, level, tuple(tests), tuple(warnings))
    return replace(result, warnings=(*warnings, *_of_disagreement(result)))


def _check_numbers(level: float, n_samples: int) -> None:
    if not 0 < level < 1:
        raise InvalidParameter(f"the level must lie between 0 and 1, got {level:g}")
    if n_samples < 1:
        raise InvalidParameter(f"the number of samples must be at least 1, got {n_samples}")


def _n_tasks(mnl: Estimates) -> int:
    """Return the number of tasks; one of weight two counts twice."""
    weights = mnl.tasks.weights
    return len(mnl.tasks) if weights is None else round(float(weights.sum()))


def _models(mnl: Estimates, warnings: list[str]) -> Iterator[str]:
    """Yield the models with context that fit the data: by features, by alternatives."""
    if len(mnl.names) > _MOST_TERMS:
        warnings.append(
            f"{len(mnl.names)} terms have too many effects on each other to be tested (up to "
            f"{_MOST_TERMS} can): give a utility with the most important ones"
        )
        return
    if not all(name.startswith(CONSTANT) for name in mnl.names):
        yield "lcl"
    if mnl.sample.alternatives:
        yield "cdm"


def _likelihood_ratio(
    mnl: Estimates, full: Estimates, warnings: list[str]
) -> Iterator[ContextTest]:
    """Yield the test of the model without context in one with it, if there is one.

    Its degrees of freedom are the effects that these data identify, and those among them whose
    estimates run to infinity.
    """
    name = full.model.upper()
    n_free = sum(1 for remark in full.remarks if remark != FIXED)
    degrees, n_effects = n_free - mnl.fit.n_parameters, len(full.names) - len(mnl.names)
    if degrees <= 0:
        warnings.append(f"{name}: none of its effects is identified by these sets")
        return
    if degrees < n_effects and full.model == "lcl":
        warnings.append(
            f"{name}: {n_effects - degrees} of {n_effects} effects follow from the others in "
            f"these data, {degrees} are tested"
        )
    if lost := sum(1 for remark in full.remarks if remark == UNIDENTIFIED):
        warnings.append(
            f"{name}: {lost} estimates run to infinity, because some objects are never chosen "
            "where certain others are on offer; its p-value is rough"
        )
    n_tasks = _n_tasks(mnl)
    if n_tasks < _TASKS_PER_EFFECT * degrees:
        warnings.append(
            f"{name}: {n_tasks:,} tasks are few for {degrees} effects: its p-value is too small"
        )
    from scipy.stats import chi2

    statistic = max(0.0, 2 * (full.fit.log_likelihood - mnl.fit.log_likelihood))
    p = float(chi2.sf(statistic, degrees))
    yield ContextTest(f"likelihood ratio, {name}", _WHOLE[full.model], statistic, degrees, p)


def _hausman_mcfadden(mnl: Estimates) -> Iterator[ContextTest]:
    """Yield the test with the smallest p-value over alternatives left out, times their number."""
    found = []
    for name in list(mnl.sample.alternatives)[:_MOST_LEFT_OUT]:
        try:
            test = hausman_mcfadden(mnl, name, ROBUST)
        except CschoiceError:  # nothing can be estimated without it
            continue
        if test.degrees:
            found.append((test.p, name, test))
    if found:
        p, name, test = min(found, key=lambda one: one[:2])
        of = f"estimates without {name}"
        if len(found) > 1:
            of += f"; p is the smallest of {len(found)}, times {len(found)}"
        yield ContextTest(
            "Hausman–McFadden", of, test.statistic, test.degrees, min(1.0, len(found) * p)
        )


def _exchanges(
    offers: Offers | None, n_samples: int, seed: int, say: Progress, warnings: list[str]
) -> Iterator[ContextTest]:
    """Yield the test that needs no model, or warn that the data have nothing for it."""
    if offers is None or not offers.n_movable_pairs:
        warnings.append(
            "no two objects come together in two different sets: only models can tell context "
            "from the objects themselves"
        )
        return
    found = exchange_test(
        offers, n_samples, seed, lambda done, of: say(f"{EXCHANGES}: {done} of {of}")
    )
    of = f"{offers.n_movable_pairs:,} pairs of objects that come together in different sets"
    yield ContextTest(EXCHANGES, of, found.statistic, None, found.p)


def _of_people(mnl: Estimates) -> Iterator[str]:
    """Warn of people who choose several times."""
    n_people = mnl.fit.n_people
    if n_people is not None and n_people < len(mnl.tasks):
        yield (
            f"{n_people:,} people made {len(mnl.tasks):,} choices: different tastes of people can "
            "look like context; compare with a panel-mixed-logit or latent-class"
        )


def _of_sets(n_sets: int, n_tasks: int) -> Iterator[str]:
    """Warn of few different sets."""
    if n_sets == 1:
        yield "every task offers the same objects: nothing can be told about context"
    elif n_sets < min(20, n_tasks):
        yield f"there are only {n_sets} different sets: many effects cannot be told apart"


def _of_disagreement(result: ContextTests) -> Iterator[str]:
    """Warn where models find context and exchanges do not."""
    by_name = {test.name: test.p for test in result.tests}
    ratio = min([p for name, p in by_name.items() if name.startswith("likelihood")], default=1.0)
    if result.matters and ratio < result.level < by_name.get(EXCHANGES, 0.0):
        yield (
            "models find context, exchanges do not: they see less where objects are many; or a "
            "utility that is not linear in the features looks like context to the models"
        )
