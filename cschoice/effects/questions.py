"""Everything that is asked of a model at once, and the answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from cschoice.effects.assortments import Assortment, best_assortment
from cschoice.effects.calibration import Calibration, calibration
from cschoice.effects.elasticities import (
    ARC,
    DIVERSION,
    MARGINAL,
    POINT,
    SAMPLE,
    Matrix,
    diversion,
    effects_of,
)
from cschoice.effects.scenarios import Scenario
from cschoice.effects.shares import Comparison, compare
from cschoice.effects.situations import Situations
from cschoice.effects.uncertainty import Progress, Way

Telling = Callable[[str], Progress]  # of a step, by its name


@dataclass(frozen=True)
class Questions:
    """The questions; shares are always answered."""

    scenarios: Sequence[Scenario] = ()
    by: Sequence[str] = ()  # segments
    of: str | None = None  # the column that tells objects apart
    money: str | None = None  # for consumer surplus
    elasticities: Sequence[str] = ()  # by these columns
    arc: float | None = None  # per cent
    marginal: Sequence[str] = ()
    at: str = SAMPLE
    diversion: bool = False
    calibration: bool = False
    assortment: int | None = None  # of at most so many
    revenues: Mapping[str, float] | str = field(default_factory=dict)
    always: Sequence[str] = ()


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers of one model about some data."""

    model: str
    data: str
    comparison: Comparison
    matrices: tuple[Matrix, ...] = ()
    calibration: Calibration | None = None
    assortment: Assortment | None = None

    @property
    def title(self) -> str:
        """Return the heading of a document."""
        return f"What if: {self.model} on {self.data}"


def answers(
    questions: Questions,
    way: Way,
    situations: Situations,
    data: str,
    telling: Telling = lambda _: lambda _done, _of: None,
) -> Answers:
    """Answer the questions; ``telling`` follows the long ones."""
    of = questions.of
    compared = calibration(way, situations, of=of) if questions.calibration else None
    comparison = compare(
        way,
        situations,
        questions.scenarios,
        by=questions.by,
        of=of,
        money=questions.money,
        progress=telling("shares"),
    )
    matrices = _matrices(questions, way, situations, telling)
    best = None
    if questions.assortment is not None:
        best = best_assortment(
            way,
            situations,
            questions.revenues,
            questions.assortment,
            always=questions.always,
            progress=telling("assortment"),
        )
    return Answers(way.model.name, data, comparison, matrices, compared, best)


def _matrices(
    questions: Questions, way: Way, situations: Situations, telling: Telling
) -> tuple[Matrix, ...]:
    """Return elasticities, marginal effects and diversion, as asked."""
    point_or_arc = POINT if questions.arc is None else ARC
    asked = [(column, point_or_arc) for column in questions.elasticities]
    asked += [(column, MARGINAL) for column in questions.marginal]
    found = [
        effects_of(
            way,
            situations,
            column,
            measure=measure,
            at=questions.at,
            of=questions.of,
            percent=questions.arc or 0.0,
            progress=telling(f"{measure} of {column}"),
        )
        for column, measure in asked
    ]
    if questions.diversion:
        found.append(diversion(way, situations, of=questions.of, progress=telling(DIVERSION)))
    return tuple(found)
