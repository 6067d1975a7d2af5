"""The card of a model that was fitted on all tasks of a dataset, as Markdown."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from cschoice.evaluation.metrics import metric
from cschoice.learners.learner import Learner
from cschoice.report.compute.cross_validated import Estimated
from cschoice.report.compute.labels import dataset_label, learner_label
from cschoice.report.contents.table import Column, Row, RowGroup, Table, signed
from cschoice.report.formats.text import escaped, markdown_table
from cschoice.runs.protocols.whole import CONTENT
from cschoice.runs.records import Job, Record
from cschoice.tasks import Kind

_VERSIONS = ("cschoice", "commit", "python", "numpy", "torch", "scikit-learn", "machine", "cpu")
_OF_FOLDS = (
    "Mean ± standard deviation over the outer folds of the study, and the interval of the mean "
    "(95 %, corrected for folds that share training tasks). They are of models fitted as this one "
    "on the training tasks of each fold; this model, of all tasks, was tested on nothing."
)


def model_card(
    job: Job,
    record: Record,
    model: Learner,
    scores: Sequence[Estimated],
    *,
    source: str | None,
    from_study: bool,
    date: str,
) -> str:
    """Return the card as Markdown; ``source`` is the file that the dataset was imported from."""
    kind = Kind(str(record.kind))
    sections = {
        "Data": _lines(_data(job, record, model, source)),
        "Learner": _lines(_learner(job, record, model, from_study)),
        "Scores": _scores(job, scores),
        "Use": _use(job),
        "Made with": _lines({"date": date, **_made_with(record)}),
    }
    label = learner_label(job.registered, kind)
    title = f"{label} on {dataset_label(job.dataset)}"
    parts = [f"# {escaped(title)}", f"A model of {kind} choice, fitted on all tasks."]
    parts += [f"## {heading}\n\n{text}" for heading, text in sections.items()]
    return "\n\n".join(parts) + "\n"


def _data(job: Job, record: Record, model: Learner, source: str | None) -> dict[str, str]:
    sizes = dict.fromkeys([str(record.smallest), str(record.largest)])
    return {
        "dataset": escaped(job.dataset + (f", imported from {source}" if source else "")),
        "hash of the tasks": record.environment[CONTENT],
        "tasks": f"{record.n_train:,} of {' to '.join(sizes)} objects",
        "features": f"{record.n_features}: {escaped(', '.join(model.feature_names))}",
    }


def _learner(job: Job, record: Record, model: Learner, from_study: bool) -> dict[str, str]:
    if from_study:
        tuned = "those that most finished folds of the study found"
    elif record.n_trials:
        tuned = f"tuned in {record.n_trials} trials on {job.budget.n_splits} inner splits"
    else:
        tuned = "not tuned"
    found = {
        "name": escaped(
            job.learner + (f", a variant of {job.variant_of}" if job.variant_of else "")
        ),
        "parameters": tuned,
        "values": f"`{json.dumps(model.get_params(deep=False), ensure_ascii=False)}`",
        "profile and seed": f"{escaped(job.profile)}, {job.seed}",
    }
    if record.threshold is not None:
        found["threshold"] = f"{record.threshold:.6g}, tuned on held-out tasks"
    return found


def _scores(job: Job, scores: Sequence[Estimated]) -> str:
    if not scores:
        return (
            "None: the study has no results of this learner on these tasks. "
            f"`cschoice run --profile {job.profile} --dataset {job.dataset} --learner "
            f"{job.learner}` makes them."
        )
    columns = Column("Metric"), Column("Score", scores=True), Column("95 %"), Column("Folds")
    rows = tuple(
        Row((metric(one.metric).label, str(one.score), _interval(one), str(one.score.n_folds)))
        for one in scores
    )
    table = Table("scores", "Cross-validated.", columns, (RowGroup("", rows),), (_OF_FOLDS,))
    return markdown_table(table)


def _interval(one: Estimated) -> str:
    return "" if one.interval is None else signed("[{:.3f}, {:.3f}]".format(*one.interval))


def _use(job: Job) -> str:
    return (
        f"`cschoice predict new.csv --model models/{job.dataset}-{job.learner}`, or from Python "
        '`cschoice.Predictor.load("…").predict("new.csv")`: tables with the columns of the one '
        "that was learned from."
    )


def _made_with(record: Record) -> Mapping[str, str]:
    found = {name: record.environment.get(name, "") for name in _VERSIONS}
    return {name: escaped(text) for name, text in found.items() if text}


def _lines(content: Mapping[str, str]) -> str:
    return "\n".join(f"- {name}: {text}" for name, text in content.items())
