"""Everything that is asked of a model at once, and the answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cschoice.effects.assortments import Assortment, best_assortment
from cschoice.effects.calibration import Calibration, calibration
from cschoice.effects.elasticities import (
    ARC,
    MARGINAL,
    POINT,
    SAMPLE,
    Matrix,
    diversion,
    effects_of,
)
from cschoice.effects.models import Model
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
    model: Model,
    situations: Situations,
    data: str,
    telling: Telling = lambda _: lambda _done, _of: None,
) -> Answers:
    """Answer the questions, those that may be refused at once first."""
    common: dict[str, Any] = {"of": questions.of}
    compared = calibration(model, situations, level=way.level, **common) if (
        questions.calibration
    ) else None  # fmt: skip
    comparison = compare(
        way,
        model,
        situations,
        questions.scenarios,
        by=questions.by,
        money=questions.money,
        progress=telling("shares"),
        **common,
    )
    asked = [(column, *_elasticity(questions)) for column in questions.elasticities]
    asked += [(column, MARGINAL, 0.0) for column in questions.marginal]
    matrices = [
        effects_of(
            way,
            situations,
            column,
            measure=measure,
            at=questions.at,
            percent=percent,
            progress=telling(f"{measure} of {column}"),
            **common,
        )
        for column, measure, percent in asked
    ]
    if questions.diversion:
        matrices.append(diversion(way, situations, progress=telling("diversion"), **common))
    return Answers(
        model.name,
        data,
        comparison,
        tuple(matrices),
        compared,
        None if questions.assortment is None else best_assortment(
            way, model, situations, questions.revenues, questions.assortment,
            always=questions.always, progress=telling("assortment"),
        ),
    )  # fmt: skip


def _elasticity(questions: Questions) -> tuple[str, float]:
    return (POINT, 0.0) if questions.arc is None else (ARC, questions.arc)
