"""The gaps of a report: partial results are normal, and a report lists the missing parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cschoice.report.compute import paper
from cschoice.report.compute.inputs import STUDY, Inputs
from cschoice.report.compute.labels import dataset_label, learner_label, learners_in_order
from cschoice.report.compute.scores import Result

# The paper's further experiments, each with a description of its curves.
_CURVES = {
    "generalization": "generalization over task sizes",
    "unique-stream": "convergence on the unique problem",
}


def missing(inputs: Inputs, results: Sequence[Result]) -> list[str]:
    """Return one sentence for each part that a reader may miss."""
    return [
        *_experiments(inputs, results),
        *_datasets(inputs, results),
        *_unfinished(results),
        *_mixed(inputs),
    ]


def _experiments(inputs: Inputs, results: Sequence[Result]) -> Iterator[str]:
    if inputs.folds.empty:
        yield f"No results of experiment '{inputs.experiment}': only curves are shown."
    there = set(inputs.curves["experiment"])
    for name, description in _CURVES.items():
        if name not in there and _is_the_papers(inputs, results):
            yield f"No curves of experiment '{name}' ({description})."


def _datasets(inputs: Inputs, results: Sequence[Result]) -> Iterator[str]:
    """Name the datasets of the paper that have no job at all."""
    there = {result.dataset for result in results}
    absent = [name for name in paper.DATASETS_IN_ORDER if name not in there]
    if absent and _is_the_papers(inputs, results):
        n = len(paper.DATASETS_IN_ORDER)
        yield f"{len(absent)} of the paper's {n} datasets were not run: {', '.join(absent)}."


def _is_the_papers(inputs: Inputs, results: Sequence[Result]) -> bool:
    """Tell whether this is the paper's study: a study of other data alone misses nothing of it."""
    known = set(paper.DATASETS_IN_ORDER)
    return inputs.experiment == STUDY and any(result.dataset in known for result in results)


def _unfinished(results: Sequence[Result]) -> Iterator[str]:
    """Name the results that are not complete, together where the reason is the same."""
    by_reason: dict[str, list[str]] = {}
    for result in results:
        if set(result.states) != {"done"}:
            by_reason.setdefault(result.reason, []).append(
                f"{learner_label(result.learner, result.kind)} on {dataset_label(result.dataset)}"
            )
    for reason, names in by_reason.items():
        yield f"{reason[0].upper()}{reason[1:].rstrip('.')}: {', '.join(names)}."


def _mixed(inputs: Inputs) -> Iterator[str]:
    """Name the settings in which jobs of one table differ: numbers of trials and seeds."""
    done = inputs.folds[inputs.folds["state"] == "done"]
    by_number: dict[int, list[str]] = {}
    job = ["dataset", "learner", "fold"]
    for (_, learner, _), trials in inputs.trials.merge(done[job]).groupby(job):
        # Full fits that confirm a screen are no trials of the budget.
        of_budget = trials["rung"] == trials["rung"].iloc[0]
        by_number.setdefault(int(of_budget.sum()), []).append(str(learner))
    if len(by_number) > 1:
        numbers = "; ".join(
            f"{n} ({', '.join(learner_label(name) for name in learners_in_order(by_number[n]))})"
            for n in sorted(by_number)
        )
        yield f"Jobs had different numbers of trials: {numbers}."
    seeds = sorted(set(done["seed"]))
    if len(seeds) > 1:
        yield f"Jobs ran with different seeds: {', '.join(map(str, seeds))}."
