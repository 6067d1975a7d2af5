"""The tables that a report is made of: those of one profile, never several mixed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cschoice.errors import DataUnavailable, InvalidFile, UnknownName
from cschoice.registry import unknown_name
from cschoice.report.compute.planned import Planned, planned
from cschoice.runs.records import JobName
from cschoice.runs.tables import SCHEMAS, read
from cschoice.tasks import Kind

if TYPE_CHECKING:
    import pandas as pd

    from cschoice.study.settings import Study

STUDY = "study"


@dataclass(frozen=True, eq=False)
class Inputs:
    """The tables of one profile and experiment."""

    profile: str
    experiment: str
    folds: pd.DataFrame
    metrics: pd.DataFrame
    trials: pd.DataFrame
    curves: pd.DataFrame  # beside the study those of every experiment, else of this one
    every_fold: pd.DataFrame  # of every experiment, for the CPU time of all
    plan: Planned | None = None  # what the study's file says now; None if it was not asked


def load(
    results: Path, profile: str, experiment: str = STUDY, study: Study | None = None
) -> Inputs:
    """Read the tables of a profile; the error names the other profiles where it has no rows.

    Rows whose job the study plans otherwise now are marked as stale, if a study is given.
    """
    everything = _read(results, "folds")
    every_fold = everything[everything["profile"] == profile].copy()
    _check(results, everything, profile, experiment)
    tables = {name: _read(results, name) for name in ("metrics", "trials", "curves")}
    ours = {name: table[table["profile"] == profile] for name, table in tables.items()}
    plan = None if study is None else planned(study, results, every_fold, ours["trials"])
    every_fold["stale"] = plan.stale(every_fold) if plan else False

    def of_experiment(table: pd.DataFrame) -> pd.DataFrame:
        return table[table["experiment"] == experiment]

    return Inputs(
        profile,
        experiment,
        of_experiment(every_fold),
        of_experiment(ours["metrics"]).dropna(subset="value"),
        of_experiment(ours["trials"]),
        (ours["curves"] if experiment == STUDY else of_experiment(ours["curves"])).dropna(
            subset="value"
        ),
        every_fold,
        plan,
    )


def kinds_of(folds: pd.DataFrame) -> dict[str, Kind]:
    """Return the kind of choice of each dataset in a table of folds."""
    return {name: Kind(kind) for name, kind in zip(folds["dataset"], folds["kind"], strict=True)}


def _check(results: Path, folds: pd.DataFrame, profile: str, experiment: str) -> None:
    """Refuse a profile or an experiment that has no rows."""
    profiles = sorted(set(folds["profile"]))
    if profile not in profiles:
        there = f"there are those of {', '.join(profiles)}" if profiles else "there are none"
        raise DataUnavailable(
            f"{results} has no results with profile '{profile}' ({there}): "
            f"name one with --profile, or run 'cschoice run --profile {profile}' first"
        )
    experiments = sorted(set(folds.loc[folds["profile"] == profile, "experiment"]))
    # Without the study itself, a report still shows the curves of other experiments.
    if experiment not in experiments and experiment != STUDY:
        raise UnknownName(unknown_name("experiment", experiment, experiments))


def _read(results: Path, name: str) -> pd.DataFrame:
    """Read a table in a fixed order of rows; results of earlier versions have no curves."""
    import pandas as pd

    columns = [column for column, _ in SCHEMAS[name]]
    if name == "curves" and not (results / "tables" / "curves.parquet").exists():
        return pd.DataFrame({column: [] for column in columns})
    table = read(results, name)
    missing = [column for column in columns if column not in table]
    if missing:
        raise InvalidFile(
            f"{results / 'tables' / name}.parquet has no column {', '.join(missing)}: "
            "run 'cschoice collect'"
        )
    return table.sort_values(list(JobName._fields), kind="stable", ignore_index=True)
