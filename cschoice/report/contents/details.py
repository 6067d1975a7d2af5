"""The details behind each row of a table, as plain data: jobs with their trials, comparisons."""

from __future__ import annotations

import json
import math
from typing import Any

from cschoice.report.compute.inputs import Inputs
from cschoice.report.compute.labels import learner_label, metric_label
from cschoice.report.compute.summary import Summary
from cschoice.report.compute.winners import Contest

_PRIVATE = ("host",)  # of no interest to readers of a report


def details(summary: Summary) -> dict[str, Any]:
    """Return jobs by cell and comparisons by dataset, ready for JSON."""
    return {
        "jobs": _jobs(summary.inputs),
        "contests": {contest.dataset: _contest(contest) for contest in summary.contests},
        "environments": [_environment(text) for text in _environments(summary.inputs)],
        "metrics": {
            name: metric_label(name) for name in sorted(set(summary.inputs.metrics["metric"]))
        },
    }


def _environments(inputs: Inputs) -> list[str]:
    return sorted(set(inputs.folds["environment"].dropna()))


def _environment(text: str) -> dict[str, str]:
    return {name: value for name, value in json.loads(text).items() if name not in _PRIVATE}


def _jobs(inputs: Inputs) -> dict[str, list[dict[str, Any]]]:
    """Return the details of every job; missing values are left out."""
    numbers = {text: number for number, text in enumerate(_environments(inputs))}
    measured: dict[tuple[str, str, int], dict[str, float]] = {}
    metrics = inputs.metrics
    columns = ("dataset", "learner", "fold", "metric", "value")
    for *job, metric, value in zip(*(metrics[name] for name in columns), strict=True):
        measured.setdefault(tuple(job), {})[metric] = round(value, 5)
    losses = _losses(inputs)
    found: dict[str, list[dict[str, Any]]] = {}
    for row in inputs.folds.to_dict("records"):
        names = row["dataset"], row["learner"], row["fold"]
        about = {
            "fold": row["fold"],
            "state": row["state"],
            "reason": row["reason"] if isinstance(row["reason"], str) else None,
            "params": {name: _short(value) for name, value in json.loads(row["params"]).items()},
            "threshold": _short(row["threshold"]),
            "seconds": _short(row["seconds"]),
            "seed": row["seed"],
            "environment": numbers.get(row["environment"]),
            "metrics": measured.get(names),
            "losses": losses.get(names),
        }
        found.setdefault(f"{names[0]}/{names[1]}", []).append(_present(about))
    return found


def _losses(inputs: Inputs) -> dict[tuple[str, str, int], list[list[float | None]]]:
    """Return the losses of each job's trials in order, one list for each rung."""
    found: dict[tuple[str, str, int], dict[str, list[float | None]]] = {}
    trials = inputs.trials.sort_values(["dataset", "learner", "fold", "number"], kind="stable")
    columns = ("dataset", "learner", "fold", "rung", "loss")
    for *job, rung, loss in zip(*(trials[name] for name in columns), strict=True):
        found.setdefault(tuple(job), {}).setdefault(rung, []).append(_short(loss))
    return {job: [rungs[name] for name in sorted(rungs)] for job, rungs in found.items()}


def _contest(contest: Contest) -> list[list[Any]]:
    """Return the winner's comparisons: other, difference, low, high, effect, p, verdict."""
    return [
        [
            learner_label(pair.other, contest.kind),
            *(
                [
                    _short(getattr(pair.difference, name))
                    for name in ("mean", "low", "high", "effect")
                ]
                if pair.difference
                else [None] * 4
            ),
            _short(pair.difference.adjusted) if pair.difference else None,
            pair.verdict,
        ]
        for pair in contest.pairs
    ]


def _present(job: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in job.items() if value is not None and value != {}}


def _short(value: Any) -> Any:
    """Round to five significant digits; infinite and undefined numbers become None."""
    if isinstance(value, float):
        return float(f"{value:.5g}") if math.isfinite(value) else None
    return value


def as_json(content: Any) -> str:
    r"""Return JSON that may stand inside a script element.

    >>> as_json({"a": "</script>"})
    '{"a":"<\\/script>"}'
    """
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("</", "<\\/").replace("<!--", "<\\u0021--")
