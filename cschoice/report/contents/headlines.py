"""The headlines of a report: its main results in a few sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from cschoice.report.compute.summary import Summary
from cschoice.report.compute.winners import MORE_THAN_NOISE
from cschoice.report.contents.winner_tables import cost_sentence, sentence


def headlines(summary: Summary) -> Iterator[str]:
    """Yield the headlines: progress, agreement with the paper, winners, ranks and CPU time."""
    folds = summary.inputs.folds
    n_done = int((folds["state"] == "done").sum())
    yield (
        f"Experiment {summary.inputs.experiment}, profile {summary.inputs.profile}: "
        f"{n_done:,} of {len(folds):,} jobs done."
    )
    yield from _beside_the_paper(summary)
    judged = [one for one in summary.contests if any(pair.difference for pair in one.pairs)]
    if judged:
        n_clear = sum(contest.verdict == MORE_THAN_NOISE for contest in judged)
        datasets = "1 dataset" if len(judged) == 1 else f"{len(judged)} datasets"
        yield f"On {n_clear} of {datasets} the win of the best learner is more than noise."
    yield from (sentence(ranking) for ranking in summary.rankings)
    yield cost_sentence(summary.inputs, summary.against_paper)


def _beside_the_paper(summary: Summary) -> Iterator[str]:
    """Yield the number of target scores that are as in the paper, above and below."""
    verdicts = Counter(result.on_target.verdict for result in summary.results)
    counts = {name: verdicts[name] for name in ("as in the paper", "above", "below")}
    if total := sum(counts.values()):
        yield (
            f"Of {total} cells with a target measure to compare, {counts['as in the paper']} are "
            f"as in the paper, {counts['above']} above and {counts['below']} below."
        )
