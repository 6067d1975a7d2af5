"""Tables of winners on each dataset, of ranks over all datasets, and of CPU time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from cschoice.report.compute.agreement import MARGIN
from cschoice.report.compute.inputs import Inputs
from cschoice.report.compute.labels import (
    dataset_label,
    learner_label,
    learners_in_order,
    metric_label,
)
from cschoice.report.compute.rankings import Ranking
from cschoice.report.compute.scores import Result
from cschoice.report.compute.statistics import LEVEL
from cschoice.report.compute.winners import NO_DIFFERENCE, Contest
from cschoice.report.contents.table import (
    Cell,
    Column,
    NumberCell,
    Row,
    RowGroup,
    ScoreCell,
    Table,
    cpu_time,
    number,
    probability,
    signed,
)

if TYPE_CHECKING:
    import pandas as pd

SCOPES = {"singleton": "Singleton choice", "subset": "Subset choice", "all": "Both"}


_WINNERS = (
    Column("Problem"),
    Column("Dataset"),
    Column("Best mean"),
    Column("Score", scores=True),
    Column("Next"),
    Column("Ahead by [95 %]", numeric=True),
    Column("Effect", numeric=True),
    Column("p", numeric=True),
    Column("Verdict", wide=True),
)


def winners_table(
    contests: Sequence[Contest], results: Sequence[Result], name: str = "winners"
) -> Table | None:
    """Return the table of winners: by how much each wins, and whether that is noise."""
    if not contests:
        return None
    scores = {(result.dataset, result.learner): result.comparisons for result in results}
    measures = list(dict.fromkeys(contest.metric for contest in contests))
    has_details = name == "winners"  # the details behind a row are those of the target measure

    def row(contest: Contest) -> Row:
        comparison = scores[contest.dataset, contest.winner][contest.metric]
        assert comparison.ours is not None
        return Row(
            (
                dataset_label(contest.dataset),
                learner_label(contest.winner, contest.kind),
                ScoreCell(comparison.ours),
                *_nearest(contest),
                contest.verdict,
            ),
            key=contest.dataset if has_details else None,
            stale=contest.stale,
        )

    return Table(
        name,
        f"The learner with the best mean on each dataset under {_listed(measures)}, and whether "
        "it is better than every other by more than noise.",
        _WINNERS,
        tuple(
            RowGroup(SCOPES[str(kind)], tuple(row(contest) for contest in found))
            for kind, found in groupby(contests, key=lambda contest: contest.kind)
        ),
        notes=(_test_note(contests),),
    )


def _nearest(contest: Contest) -> list[Cell]:
    """Return the cells of the next learner: its name, the distance, its effect and p-value."""
    if not contest.pairs:
        return ["", "", "", ""]
    pair = contest.pairs[0]
    label = learner_label(pair.other, contest.kind)
    if (found := pair.difference) is None:
        return [label, "", "", ""]
    ahead = f"{found.mean:.3f} [{found.low:.3f}, {found.high:.3f}]"
    distance = NumberCell(signed(ahead), found.mean)
    return [label, distance, _effect(found.effect), probability(found.adjusted)]


def _test_note(contests: Sequence[Contest]) -> str:
    return (
        "Corrected resampled t-test over the folds that both learners have (Nadeau and "
        "Bengio); where every fold is a fresh draw there is nothing to correct. Who is first "
        "was found on the same folds: p-values and intervals are adjusted for all pairs of "
        f"learners on the dataset, {_extent(contests)} of them (Bonferroni). A tie: no "
        f"difference detectable, and means within {MARGIN:g}. No difference detectable does "
        "not mean equal. The effect is the mean difference in units of its standard deviation "
        "over folds."
    )


def _listed(measures: Sequence[str]) -> str:
    labels = [metric_label(measure) for measure in measures]
    return " or ".join(
        label[0].lower() + label[1:] if label[1].islower() else label for label in labels
    )


def _extent(contests: Sequence[Contest]) -> str:
    least, most = (f(contest.n_comparisons for contest in contests) for f in (min, max))
    return f"{least}" if least == most else f"{least} to {most}"


def _effect(effect: float) -> NumberCell:
    return NumberCell("∞" if math.isinf(effect) else f"{effect:.1f}", effect)


def ranks_table(rankings: Sequence[Ranking]) -> Table:
    """Return the table of mean ranks over datasets, with the equals of the best learner."""

    def rows(ranking: Ranking) -> tuple[Row, ...]:
        last = next((last for first, last in ranking.groups if first == 0), 0)
        return tuple(
            Row(
                (
                    label,
                    number(ranking.test.ranks[k], ".2f"),
                    number(ranking.n_best[k]),
                    number(ranking.median_gap[k], ".3f"),
                    "" if k == 0 else NO_DIFFERENCE if k <= last else "worse",
                )
            )
            for k, label in enumerate(ranking.labels)
        )

    return Table(
        "ranks",
        "Mean ranks over datasets under the target measure.",
        (
            Column("Problem"),
            Column("Learner"),
            Column("Mean rank", numeric=True),
            Column("Best on", numeric=True),
            Column("Median gap to the best", numeric=True),
            Column("To the first"),
        ),
        tuple(RowGroup(SCOPES[ranking.name], rows(ranking)) for ranking in rankings),
        notes=tuple(sentence(ranking) for ranking in rankings),
    )


def sentence(ranking: Ranking) -> str:
    """Return the outcome of the tests over datasets as a sentence."""
    test = ranking.test
    p = probability(test.p).text
    over = f"{SCOPES[ranking.name]}, {len(ranking.learners)} learners on {len(ranking.datasets)}"
    equals = f"p {p if p.startswith('<') else f'= {p}'}, Kendall's W = {test.agreement:.2f}"
    if test.p >= LEVEL:
        found = f"{NO_DIFFERENCE} between any of them (Friedman, {equals})"
    else:
        found = (
            f"the learners differ (Friedman, {equals}); mean ranks closer than "
            f"{test.critical_difference:.2f} cannot be told apart (Nemenyi, level {LEVEL})"
        )
    left = f" Left out, for lack of results on all of them: {', '.join(ranking.left_out)}."
    return f"{over} datasets: {found}.{left if ranking.left_out else ''}"


def cost_table(inputs: Inputs, results: Sequence[Result]) -> Table:
    """Return the table of CPU times of learners, of other experiments, and in total."""
    rows = []
    for learner in learners_in_order(result.learner for result in results):
        own = [result for result in results if result.learner == learner]
        n_jobs = sum(sum(result.states.values()) for result in own)
        n_trials = sum(result.n_trials for result in own)
        seconds = cpu_time(sum(result.seconds for result in own))
        label = "/".join(dict.fromkeys(learner_label(learner, result.kind) for result in own))
        rows.append(Row((label, number(n_jobs), number(n_trials), seconds)))
    groups = [RowGroup(inputs.experiment, tuple(rows))] if rows else []
    folds = inputs.every_fold
    for experiment in sorted(set(folds["experiment"]) - {inputs.experiment}):
        own_folds = folds[folds["experiment"] == experiment]
        groups.append(RowGroup(experiment, (_total("all learners", own_folds),)))
    groups.append(RowGroup("all", (_total("all learners", folds),)))
    return Table(
        "cost",
        "CPU time, by learner.",
        (
            Column("Experiment"),
            Column("Learner"),
            Column("Jobs", numeric=True),
            Column("Trials", numeric=True),
            Column("CPU time", numeric=True),
        ),
        tuple(groups),
        notes=(cost_sentence(inputs),),
    )


def _total(label: str, folds: pd.DataFrame) -> Row:
    trials, seconds = (float(folds[name].sum()) for name in ("n_trials", "seconds"))
    return Row((label, number(len(folds)), number(trials), cpu_time(seconds)))


def cost_sentence(inputs: Inputs) -> str:
    """Return the total CPU time as a sentence."""
    spent = cpu_time(float(inputs.every_fold["seconds"].sum())).text
    return f"All experiments with profile {inputs.profile}: {spent} of CPU time."
