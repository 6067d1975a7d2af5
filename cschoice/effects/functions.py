"""Effects from Python: predictions, comparisons, elasticities and more, each a data frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cschoice.effects.assortments import Assortment
from cschoice.effects.assortments import best_assortment as _best_assortment
from cschoice.effects.calibration import Calibration
from cschoice.effects.calibration import calibration as _calibration
from cschoice.effects.decoding import situations_of
from cschoice.effects.elasticities import ARC, MARGINAL, SAMPLE, effects_of
from cschoice.effects.elasticities import diversion as _diversion
from cschoice.effects.formulas import where as _where
from cschoice.effects.models import Model, models_of
from cschoice.effects.rows import rows_of_comparison, rows_of_matrix
from cschoice.effects.scenarios import Scenario
from cschoice.effects.shares import compare
from cschoice.effects.situations import Situations
from cschoice.effects.uncertainty import Way
from cschoice.effects.ways import way_of
from cschoice.errors import InvalidParameter

if TYPE_CHECKING:
    import pandas as pd


def predictions(
    model: Any, data: Any = None, *, scenario: Any = None, where: str | None = None
) -> pd.DataFrame:
    """Return the chance of every object, one row each, as things are or in a scenario.

    ``model`` is a fitted learner, estimates, the folder of a saved model, or several of these: of
    folds the mean. ``data`` is a table like the one learned from, the name of an imported dataset,
    or tasks; estimates know theirs. A scenario is a text such as ``"train.time * 0.8"``, or a
    mapping with ``change``, ``remove`` and ``add``.
    """
    import pandas as pd

    models, situations = asked(model, data, where)
    if scenario is not None:
        situations = Scenario.of("scenario", scenario).applied(situations)
    chances = way_of(models, situations).point(lambda asked: asked.chances(situations))
    columns: dict[str, Any] = {"task": situations.spread(situations.task_numbers)}
    if situations.alternatives is not None:
        columns[situations.alternatives.name] = situations.named
    known = [*situations.features, *situations.of_chooser]
    columns |= {name: situations.column(name) for name in known}
    columns["probability" if models[0].probabilistic else "share"] = chances
    if situations.chosen is not None:
        columns["chosen"] = situations.chosen.astype(np.int8)
    return pd.DataFrame(columns)


def comparisons(
    model: Any,
    data: Any = None,
    scenarios: Mapping[str, Any] | None = None,
    *,
    by: str | Sequence[str] = (),
    of: str | None = None,
    where: str | None = None,
    money: str | None = None,
    intervals: str | None = None,
    **settings: Any,
) -> pd.DataFrame:
    """Return shares before and after each scenario, by segment, with intervals.

    ``by`` are conditions or columns of the chooser that make segments; ``of`` the column by which
    objects without names are told apart; ``money`` the column in whose units the change of consumer
    surplus is. ``intervals`` and ``settings`` (level, errors, draws, seed): see ``way_of``.
    """
    way, situations = _prepared(model, data, where, intervals, settings)
    named = [Scenario.of(name, given) for name, given in (scenarios or {}).items()]
    parts = [by] if isinstance(by, str) else by
    found = compare(way, situations, named, by=parts, of=of, money=money)
    return _frame(rows_of_comparison(found))


def elasticities(
    model: Any,
    data: Any = None,
    column: str = "",
    *,
    at: str = SAMPLE,
    arc: float | None = None,
    of: str | None = None,
    where: str | None = None,
    intervals: str | None = None,
    **settings: Any,
) -> pd.DataFrame:
    """Return own and cross elasticities of all chances with respect to a column.

    Point elasticities, or with ``arc`` those of so many per cent more. ``at`` is ``sample``, of the
    shares over all tasks, or ``means``, of one task with mean columns.
    """
    way, situations = _prepared(model, data, where, intervals, settings)
    if arc is None:
        found = effects_of(way, situations, column, at=at, of=of)
    else:
        found = effects_of(way, situations, column, measure=ARC, at=at, of=of, percent=arc)
    return _frame(rows_of_matrix(found, "elasticity"))


def marginal_effects(
    model: Any,
    data: Any = None,
    column: str = "",
    *,
    at: str = SAMPLE,
    of: str | None = None,
    where: str | None = None,
    intervals: str | None = None,
    **settings: Any,
) -> pd.DataFrame:
    """Return the change of all chances per unit of a column of each alternative."""
    way, situations = _prepared(model, data, where, intervals, settings)
    found = effects_of(way, situations, column, measure=MARGINAL, at=at, of=of)
    return _frame(rows_of_matrix(found, "effect"))


def diversion_ratios(
    model: Any,
    data: Any = None,
    column: str | None = None,
    *,
    of: str | None = None,
    where: str | None = None,
    intervals: str | None = None,
    **settings: Any,
) -> pd.DataFrame:
    """Return where the choosers of each alternative go when it is gone, or a ``column`` worsens."""
    way, situations = _prepared(model, data, where, intervals, settings)
    return _frame(rows_of_matrix(_diversion(way, situations, column, of=of), "ratio"))


def calibration(
    model: Any, data: Any = None, *, of: str | None = None, where: str | None = None
) -> Calibration:
    """Return predicted against observed shares, by alternative and by chance."""
    models, situations = asked(model, data, where)
    return _calibration(way_of(models, situations), situations, of=of)


def best_assortment(
    model: Any,
    data: Any,
    revenues: Mapping[str, float] | str,
    most: int,
    *,
    always: Sequence[str] = (),
    where: str | None = None,
    intervals: str | None = None,
    **settings: Any,
) -> Assortment:
    """Return the offer of at most so many alternatives with the largest expected revenue."""
    way, situations = _prepared(model, data, where, intervals, settings)
    return _best_assortment(way, situations, revenues, most, always=always)


def asked(model: Any, data: Any, where: str | None = None) -> tuple[list[Model], Situations]:
    """Return the models and the situations that they are asked about."""
    models = models_of(model)
    estimates = models[0].estimates
    if data is None:
        if estimates is None or estimates.sample.origin is None:
            raise InvalidParameter(
                "say of which data: a table, the name of a dataset, or tasks (only estimates know "
                "theirs)"
            )
        data = estimates.sample.origin
    encoding = models[0].encoding
    if estimates is not None and estimates.sample.origin is not None:
        encoding = estimates.sample.origin.encoding
    situations = situations_of(data, encoding)
    return models, situations if where is None else _where(situations, where)


def _prepared(
    model: Any, data: Any, where: str | None, intervals: str | None, settings: Mapping[str, Any]
) -> tuple[Way, Situations]:
    models, situations = asked(model, data, where)
    return way_of(models, situations, intervals, **settings), situations


def _frame(rows: Any) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(list(rows)).drop(columns=["section"], errors="ignore")
