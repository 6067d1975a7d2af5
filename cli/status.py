"""``cschoice status`` and ``cschoice collect``: the progress of jobs, and their tables."""

from __future__ import annotations

from collections import Counter

from cschoice.errors import FileNotUsable
from cschoice.runs.collect import collect as collect_tables
from cschoice.runs.executors.slurm_progress import progress_of
from cschoice.runs.store import Progress, ResultStore
from cschoice.study.config import load
from cschoice.study.plan import Selection, plan, planned_on_disk

from .console import answer_json, answer_table, say, tell, warn_of_damage
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
    """Show how many jobs are done, running, queued, failed, stale or to do.

    The results folder tells, and SLURM's queue where jobs were submitted. Stale means: finished
    under another configuration.
    """
    selection = Selection(experiment, profile, learner or (), dataset or (), folds, trials)
    store = ResultStore(results)
    store.check()
    jobs = plan(load(config), selection, store)
    states = list(zip(jobs, progress_of(store, jobs, say), strict=True))
    warn_of_damage(store)
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

    'cschoice run' does this at its end; do it by hand after copying results together. Rows of
    jobs that have no folder stay: remove the old tables first to be rid of them.
    """
    if not results.is_dir():
        raise FileNotUsable(f"{results} is no folder: 'cschoice run' makes one, --results names it")
    study, store = load(config), ResultStore(results)
    store.open()
    jobs, n_stale = planned_on_disk(study, store)
    collected = collect_tables(store, jobs)
    for name, n_rows in collected.n_rows.items():
        tell(f"{results / 'tables' / name}.parquet: {n_rows:,} rows")
    warn_of_damage(store)
    if collected.n_kept:
        say(f"{collected.n_kept} jobs have no result in a folder: their earlier rows were kept")
    if n_stale:
        say(f"{n_stale} jobs are of another configuration and were left out")
