"""All numbers of a report, computed from the tables of one profile."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cschoice.report.compute import paper
from cschoice.report.compute.conditions import Condition, conditions
from cschoice.report.compute.curves import Graph, curves, tuning
from cschoice.report.compute.inputs import STUDY, Inputs, load
from cschoice.report.compute.missing import missing
from cschoice.report.compute.rankings import Ranking, rankings
from cschoice.report.compute.scores import Result, all_results
from cschoice.report.compute.winners import LOG_LOSS, Contest, contests
from cschoice.tasks import Kind

if TYPE_CHECKING:
    from cschoice.study.settings import Study


@dataclass(frozen=True, eq=False)
class Summary:
    """The numbers behind every format."""

    inputs: Inputs
    against_paper: bool  # wanted, and there is something to compare
    results: tuple[Result, ...]
    contests: tuple[Contest, ...]  # under the target measure
    on_likelihood: tuple[Contest, ...]  # of the learners that have one
    rankings: tuple[Ranking, ...]
    curves: tuple[Graph, ...]
    tuning: tuple[Graph, ...]
    missing: tuple[str, ...]
    conditions: tuple[Condition, ...]  # beside the paper's; none without it

    def of_kind(self, kind: Kind) -> list[Result]:
        """Return the results of one kind of choice."""
        return [result for result in self.results if result.kind is kind]


def summarize(
    results: Path,
    profile: str,
    experiment: str = STUDY,
    against_paper: bool = True,
    study: Study | None = None,
) -> Summary:
    """Read the tables of a results folder and compute all numbers of a report.

    With the study as its file describes it now, results of another configuration are marked.
    """
    inputs = load(results, profile, experiment, study)
    found = all_results(inputs, against_paper)
    known = set(paper.DATASETS_IN_ORDER)
    against_paper &= not found or any(result.dataset in known for result in found)
    return Summary(
        inputs,
        against_paper,
        tuple(found),
        tuple(contests(found)),
        tuple(contests(found, LOG_LOSS)),
        tuple(rankings(found)),
        tuple(curves(inputs)),
        tuple(tuning(inputs, found)),
        tuple(missing(inputs, found)),
        tuple(conditions(inputs, found)) if against_paper and found else (),
    )
