"""The headlines of a report: its main results in a few sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from cschoice.report.compute.agreement import Agreement
from cschoice.report.compute.labels import metric_label
from cschoice.report.compute.summary import Summary
from cschoice.report.compute.winners import LOG_LOSS, MORE_THAN_NOISE, Contest
from cschoice.report.contents.winner_tables import cost_sentence, sentence

_JUDGED = (Agreement.SAME, Agreement.ABOVE, Agreement.BELOW, Agreement.UNCLEAR)


def headlines(summary: Summary) -> Iterator[str]:
    """Yield the headlines: progress, agreement with the paper, winners, ranks and CPU time."""
    folds = summary.inputs.folds
    n_done = int((folds["state"] == "done").sum())
    yield (
        f"Experiment {summary.inputs.experiment}, profile {summary.inputs.profile}: "
        f"{n_done:,} of {len(folds):,} jobs done."
    )
    yield from _stale(summary)
    yield from _beside_the_paper(summary)
    yield from _wins(summary.contests, "")
    yield from _wins(summary.on_likelihood, f" under {metric_label(LOG_LOSS).lower()}")
    yield from (sentence(ranking) for ranking in summary.rankings)
    yield cost_sentence(summary.inputs)


def _stale(summary: Summary) -> Iterator[str]:
    """Yield how many results are of another configuration than the study's file has now."""
    folds = summary.inputs.every_fold
    if n_stale := int(folds["stale"].sum()):
        yield (
            f"{n_stale:,} of {len(folds):,} jobs of all experiments are stale: the study's file "
            "or this version would do them in another way, or not at all."
        )


def _beside_the_paper(summary: Summary) -> Iterator[str]:
    """Yield the numbers of target scores by how they agree with the paper's."""
    counts = Counter(result.on_target.verdict for result in summary.results)
    judged = {one: counts[one] for one in (*_JUDGED, Agreement.TRIVIAL)}
    if total := sum(judged.values()):
        same, above, below, unclear = (judged[one] for one in _JUDGED)
        trivial = judged[Agreement.TRIVIAL]
        apart = f" {trivial} more repeat AllPositive, here as in the paper." if trivial else ""
        yield (
            f"Of {total - trivial} cells with the paper's target measure, {same} are as in the "
            f"paper, {above} above and {below} below it; of {unclear} it cannot be told.{apart}"
        )


def _wins(contests: Sequence[Contest], measure: str) -> Iterator[str]:
    """Yield on how many datasets the first learner is clearly better than every other."""
    judged = [one for one in contests if any(pair.difference for pair in one.pairs)]
    if judged:
        n_clear = sum(contest.verdict == MORE_THAN_NOISE for contest in judged)
        datasets = "1 dataset" if len(judged) == 1 else f"{len(judged)} datasets"
        yield (
            f"On {n_clear} of {datasets} one learner is better than every other by more than "
            f"noise{measure}, adjusted for all pairs; elsewhere others share the first place."
        )
