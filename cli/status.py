"""``cschoice status``, ``collect`` and ``restore``: what the files say."""

from __future__ import annotations

from collections import Counter

import typer

from cschoice.errors import FileNotUsable
from cschoice.runs.executors.slurm_standing import standing
from cschoice.runs.store import Progress, ResultStore
from cschoice.runs.tables import collect as collect_tables
from cschoice.study.config import load
from cschoice.study.plan import Selection, current_jobs, plan
from cschoice.study.restore import restore as restore_jobs

from .console import answer_json, answer_table, say, talk
from .keeping import keep_tables
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


def status(
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
    """Show what is done, running, queued, failed, stale or to do.

    The files tell, while others write them too; what was submitted to SLURM, its queue. Stale
    means: finished under another configuration.
    """
    selection = Selection(experiment, profile, learner or (), dataset or (), folds, trials)
    store = ResultStore(results)
    store.check()
    jobs = plan(load(config), selection, store)
    states = list(zip(jobs, standing(store, jobs, say), strict=True))
    if as_json:
        answer_json(
            [
                {
                    "dataset": job.dataset,
                    "learner": job.learner,
                    "fold": job.fold,
                    "state": str(state),
                    "trials": len(store.trials(job)),
                }
                for job, state in states
            ]
        )
        return
    cells: dict[tuple[str, str], Counter[Progress]] = {}
    for job, state in states:
        cells.setdefault((job.dataset, job.learner), Counter())[state] += 1
    answer_table(
        f"{experiment}, profile {profile}: {len(jobs)} jobs in {results}",
        ["dataset", "learner", *(f"#{state}" for state in Progress)],
        [
            [*names, *(str(counts[state] or "·") for state in Progress)]
            for names, counts in cells.items()
        ],
        folding="dataset",
    )


def collect(
    results: Results = DEFAULT_RESULTS,
    config: Config = None,
) -> None:
    """Write results/tables/{folds,metrics,trials,curves}.parquet from the finished jobs.

    'cschoice run' does this at its end; do it by hand after copying results together. What only
    the old tables have stays: remove them first to be rid of it.
    """
    if not results.is_dir():
        raise FileNotUsable(f"{results} is no folder: 'cschoice run' makes one, --results names it")
    study, store = load(config), ResultStore(results)
    store.open()
    keep_tables(study, store)
    jobs, n_stale = current_jobs(study, store)
    for name, n_rows in collect_tables(store, jobs).items():
        typer.echo(f"{results / 'tables' / name}.parquet: {n_rows:,} rows")
    if n_stale:
        talk.print(f"{n_stale} jobs are of another configuration and were left out")


def restore(
    results: Results = DEFAULT_RESULTS,
    config: Config = None,
) -> None:
    """Write run folders from results/tables, so that a study goes on from its tables alone.

    For results of which the folders were not kept, as in a checkout: what the study asks for
    exactly as it was run counts as done again, other jobs run anew. Models do not come back, and
    jobs that have a folder stay as they are.
    """
    restored, n_there, n_other = restore_jobs(load(config), ResultStore(results))
    typer.echo(
        f"{len(restored)} of {len(restored) + n_there + n_other} jobs in {results / 'tables'} "
        f"restored, {n_there} have a folder, {n_other} failed or are of another configuration"
    )
