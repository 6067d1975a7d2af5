"""``cschoice evaluate``: metrics of kept predictions, without new training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean, stdev
from typing import Annotated

import typer

from cschoice.datasets import DATASETS
from cschoice.errors import DataUnavailable
from cschoice.evaluation.metrics import METRICS, metric
from cschoice.runs.records import Job
from cschoice.runs.store import ResultStore
from cschoice.study.config import load
from cschoice.study.plan import Selection, plan
from cschoice.tasks import Kind

from .console import answer_json, answer_table, say, talk
from .options import (
    DEFAULT_EXPERIMENT,
    DEFAULT_RESULTS,
    PROFILE,
    Config,
    Dataset,
    ExperimentName,
    Folds,
    Json,
    Learner,
    ProfileName,
    Results,
    Trials,
)

Scores = Mapping[str, float | None]


def evaluate(
    metric_: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            "-m",
            help="A metric of 'cschoice show metrics', top-k for any k, or module:name; "
            "repeatable. By default all that apply.",
        ),
    ] = None,
    learner: Learner = None,
    dataset: Dataset = None,
    profile: ProfileName = PROFILE,
    experiment: ExperimentName = DEFAULT_EXPERIMENT,
    folds: Folds = None,
    trials: Trials = None,
    results: Results = DEFAULT_RESULTS,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Compute metrics on the predictions that 'cschoice run --keep-predictions' kept.

    Nothing is trained: a metric that was added since, or top-7, is there at once. Shown are means
    and standard deviations over folds; --json has the numbers of each fold.
    """
    names = [metric(name).name if name not in METRICS else name for name in metric_ or METRICS]
    selection = Selection(experiment, profile, learner or (), dataset or (), folds, trials)
    store = ResultStore(results)
    store.check()
    found = _scores(plan(load(config), selection, store), store, names)
    if as_json:
        answer_json(
            [
                {"dataset": job.dataset, "learner": job.learner, "fold": job.fold, **scores}
                for job, scores in found.items()
            ]
        )
        return
    for kind in Kind:
        of_kind = {job: one for job, one in found.items() if DATASETS[job.dataset].kind is kind}
        if of_kind:
            _show(kind, of_kind, [name for name in names if kind in metric(name).kinds])


def _scores(jobs: Sequence[Job], store: ResultStore, names: Sequence[str]) -> dict[Job, Scores]:
    """Return the metrics of every finished job whose predictions were kept."""
    from cschoice.runs.kept_predictions import evaluate_kept, has_predictions

    done = [job for job in jobs if store.done(job)]
    kept = [job for job in done if has_predictions(store.folder(job))]
    if not kept:
        raise DataUnavailable(
            f"no predictions of these jobs in {store.root} ({len(done)} are done): "
            "'cschoice run --keep-predictions' keeps them, with --force of finished jobs, too"
        )
    if len(kept) < len(done):
        say(f"{len(done) - len(kept)} of {len(done)} finished jobs kept no predictions")
    with talk.status("evaluating"):
        return {job: evaluate_kept(store.folder(job), names) for job in kept}


def _show(kind: Kind, found: Mapping[Job, Scores], names: Sequence[str]) -> None:
    cells: dict[tuple[str, str], list[Scores]] = {}
    for job, scores in found.items():
        cells.setdefault((job.dataset, job.learner), []).append(scores)
    answer_table(
        f"{str(kind).capitalize()} choice, from kept predictions",
        ["dataset", "learner", "#folds", *(f"#{name}" for name in names)],
        [
            [*cell, str(len(rows)), *(_mean([row.get(name) for row in rows]) for name in names)]
            for cell, rows in cells.items()
        ],
        folding="dataset",
    )


def _mean(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return "–"
    return f"{fmean(known):.3f}" + (f" ± {stdev(known):.3f}" if len(known) > 1 else "")
