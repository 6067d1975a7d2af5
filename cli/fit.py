"""``cschoice fit``: one model of all tasks of a dataset."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from cschoice.datasets import DATASETS
from cschoice.datasets.imported import describe_dataset
from cschoice.errors import InvalidParameter
from cschoice.runs.executors.local import local_slots
from cschoice.runs.records import Job, Record
from cschoice.runs.store import ResultStore
from cschoice.study.config import load
from cschoice.study.fit import fitted, plan_fit
from cschoice.study.plan import Selection
from cschoice.study.settings import Study

from .console import tell
from .display import Display
from .options import (
    DEFAULT_EXPERIMENT,
    DEFAULT_RESULTS,
    PROFILE,
    Config,
    DataFolder,
    ProfileName,
    Results,
    Trials,
)

CARD = "card.md"


def fit(
    dataset: Annotated[
        str,
        typer.Option("--dataset", "-d", help="The dataset: imported, built in or module:Class."),
    ],
    learner: Annotated[str, typer.Option("--learner", "-l", help="The learner, or a variant.")],
    from_study: Annotated[
        bool,
        typer.Option(
            "--from-study",
            help="Take the parameters that most finished folds of the study found; none are tuned.",
        ),
    ] = False,
    trials: Trials = None,
    profile: ProfileName = PROFILE,
    out: Annotated[Path, typer.Option(help="Folder of the models.")] = Path("models"),
    device: Annotated[str, typer.Option(help="cpu, cuda, cuda:1, mps or auto.")] = "auto",
    results: Results = DEFAULT_RESULTS,
    config: Config = None,
    data: DataFolder = None,  # noqa: ARG001 - its callback tells everyone
    force: Annotated[bool, typer.Option("--force", help="Replace the model.")] = False,
) -> None:
    """Fit one model on all tasks of a dataset, for 'cschoice predict' and for Python.

    Hyperparameters are tuned as in each fold of the study, with the profile's number of trials
    or --trials, or they are taken from its finished folds. For subset choice, the threshold is
    tuned on tasks held out from further fits. The model goes to models/DATASET-LEARNER with
    card.md: the data and their hash, the parameters, and the scores that the study has.
    """
    if from_study and trials is not None:
        raise InvalidParameter("--from-study tunes nothing: give it or --trials, not both")
    study, store = load(config), ResultStore(results)
    selection = Selection(DEFAULT_EXPERIMENT, profile, [learner], [dataset], None, trials)
    job = plan_fit(study, selection, store, from_study=from_study)
    folder = out / f"{job.dataset}-{job.learner}".replace(":", ".")
    where = local_slots(device, 1)[0].device
    with (
        Display(1) as display,
        fitted(job, folder, where, display.on_event, force=force) as (record, model),
    ):
        card = _card(job, record, model, study, store, from_study=from_study)
        (model / CARD).write_text(card, encoding="utf-8")
    tell(
        f"{folder} holds the model of {record.n_train:,} tasks and its card.md. "
        f"Next: cschoice predict new.csv --model {folder}"
    )


def _card(
    job: Job, record: Record, model: Path, study: Study, store: ResultStore, *, from_study: bool
) -> str:
    from cschoice.models.predictor import Predictor
    from cschoice.report.compute.cross_validated import cross_validated
    from cschoice.report.formats.model_card import model_card

    imported = job.dataset not in DATASETS.written and DATASETS.foreign(job.dataset) is None
    return model_card(
        job,
        record,
        Predictor.load(model).learner,
        cross_validated(store.root, job, study),
        source=describe_dataset(job.dataset).source if imported else None,
        from_study=from_study,
        date=datetime.now(UTC).date().isoformat(),
    )
