"""How much is context: the same architecture with and without it, on tasks held out."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from cschoice.evaluation.metrics import METRICS
from cschoice.explanations.explanation import Explanation
from cschoice.explanations.gain import Gain
from cschoice.report.compute.labels import metric_label
from cschoice.report.compute.statistics import Difference, corrected_t_test
from cschoice.report.contents.outline import Section
from cschoice.report.contents.table import (
    Column,
    Gap,
    Row,
    RowGroup,
    Table,
    number,
    probability,
    signed,
)


def gain_section(explanation: Explanation) -> Section:
    """Return the comparison, or why there is none."""
    gain = explanation.gain
    if gain is None:
        return Section("gain", _TITLE, (_why_not(explanation),))
    text = (verdict(gain), _method(explanation.about.folds))
    return Section("gain", _TITLE, text, (_table(gain),))


_TITLE = "How much is context?"


def difference(gain: Gain, metric: str) -> Difference | None:
    """Return how much better predictions with context are, with its interval."""
    return corrected_t_test(gain.differences(metric), gain.test_to_train)


def verdict(gain: Gain) -> str:
    """Return one sentence: whether seeing the other objects makes predictions better."""
    name = "log-loss" if "log-loss" in gain.metrics else gain.metrics[0]
    found = difference(gain, name)
    label = metric_label(name)
    label = label[0].lower() + label[1:]
    if found is None:
        return f"There are too few folds to compare {gain.with_} with {gain.without}."
    with_, without = (statistics.mean(row) for row in _both(gain, name))
    numbers = f"{label} {with_:.3f} instead of {without:.3f}"
    between = f"95 % interval {signed(f'{found.low:.3f}')} to {signed(f'{found.high:.3f}')}"
    if found.low > 0:
        return (
            f"Context matters: {gain.with_}, which sees the other objects, predicts held-out "
            f"choices better than {gain.without}, which does not ({numbers}, a gain of "
            f"{found.mean:.3f}, {between})."
        )
    if found.high < 0:
        return (
            f"Context does not help here: {gain.with_} predicts held-out choices worse than "
            f"{gain.without}, which sees each object alone ({numbers}, {between})."
        )
    return (
        f"These data do not show that context matters: {gain.with_} and {gain.without} predict "
        f"held-out choices about equally well ({numbers}; the gain is "
        f"{signed(f'{found.mean:.3f}')}, {between}). A gain of up to {found.high:.3f} remains "
        "possible."
    )


def _method(folds: int) -> str:
    return (
        f"Both were fitted on the same {folds} folds and tested on the tasks left out"
        " of each; intervals are of the corrected resampled t-test, which knows that folds share "
        "training tasks."
    )


def _why_not(explanation: Explanation) -> str:
    if explanation.about.folds == 0:
        return "Nothing was fitted again: give --folds to compare with the same model without it."
    return f"There is no partner without context known for {explanation.about.model}."


def _both(gain: Gain, metric: str) -> Iterator[list[float]]:
    pairs = [
        (a, b)
        for a, b in zip(gain.scores_with[metric], gain.scores_without[metric], strict=True)
        if a is not None and b is not None
    ]
    yield [a for a, _ in pairs]
    yield [b for _, b in pairs]


def _table(gain: Gain) -> Table:
    rows = []
    for name in gain.metrics:
        found = difference(gain, name)
        label = metric_label(name) + (
            "" if METRICS[name].higher_is_better else " (lower is better)"
        )
        with_, without = _both(gain, name)
        if found is None:
            rows.append(Row((label, *[Gap("not defined on two folds")] * 6)))
            continue
        numbers = (statistics.mean(without), statistics.mean(with_))
        rows.append(
            Row(
                (
                    label,
                    *(number(value, ".3f") for value in numbers),
                    *(number(value, "+.3f") for value in (found.mean, found.low, found.high)),
                    probability(found.p),
                )
            )
        )
    columns = (
        Column("Measure"),
        Column(f"{gain.without}, without", numeric=True),
        Column(f"{gain.with_}, with", numeric=True),
        Column("Gain", numeric=True),
        Column("95 % from", numeric=True),
        Column("to", numeric=True),
        Column("p", numeric=True),
    )
    caption = "Predictions of tasks held out, without and with the other objects in sight."
    return Table("gain", caption, columns, (RowGroup("", tuple(rows)),))
