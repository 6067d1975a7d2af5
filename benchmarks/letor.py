"""Ways to choose documents of LETOR-MQ2008: rules, features and learners, with default parameters.

Each learner predicts as in the study, by the mean of twenty models that leave out a quarter of the
training tasks each; the rule of subset choice is tuned on the means over models that have not seen
a task. Prints F1 by a threshold and by expected F1, with deviations over the five folds, the
difference of both and its p-value (corrected resampled t-test), and AUC-ROC in our definition and
in that of the code released with the paper. Nothing is tuned and no default follows from it: all
queries are test queries of some fold of the study.

    python benchmarks/letor.py [--learner mnl boosted-trees] [--members 20] [--relative]
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from cschoice.datasets import make_dataset
from cschoice.evaluation.decisions import RULES, choose, tune_rule
from cschoice.evaluation.metrics import metric
from cschoice.learners import make_learner
from cschoice.learners.ensemble import MeanEnsemble
from cschoice.report.compute.statistics import corrected_t_test
from cschoice.tasks import ChoiceTasks
from cschoice.tasks.scaling import Scaling
from cschoice.tasks.splits import stratified_shuffle_splits

LEARNERS: Mapping[str, Mapping[str, Any]] = {
    "all-positive": {},
    "mnl": {},
    "pairwise-svm": {},
    "ranknet": {"epochs": 20},
    "feta": {"epochs": 20},
    "fate": {"epochs": 20},
    "sda": {"epochs": 40},
    "boosted-trees": {},
    "boosted-trees lambdarank": {"loss": "lambdarank"},
}
AREAS = ("auc-roc", "auc-roc-released")
HELD_OUT, SHARED = 0.25, 0.25  # of a model's training tasks; test tasks per training task


def scores(name: str, train: ChoiceTasks, test: ChoiceTasks, n_members: int) -> dict[str, float]:
    """Return the F1 of each rule and both areas on one fold."""
    splits = stratified_shuffle_splits(train, n_members, HELD_OUT, seed=0)
    members, total, seen = [], np.zeros(train.n_entries), np.zeros(train.n_entries)
    for number, (inner, held_out) in enumerate(splits):
        member = make_learner(name.split()[0], **LEARNERS[name])
        members.append(member.learn(train[inner], seed=number))
        entries = train.entries(held_out)
        total[entries] += member.utilities(train[held_out])
        seen[entries] += 1
    numbers = np.flatnonzero(seen[train.offsets[:-1]])
    entries = train.entries(numbers)
    known, unseen = train[numbers], total[entries] / seen[entries]
    utilities = MeanEnsemble.of(members).utilities(test)
    found = {area: metric(area)(test, utilities) for area in AREAS}
    for rule in RULES:
        chosen = choose(test, utilities, tune_rule(rule, known, unseen))
        found[rule] = metric("f1")(test, chosen)
    return found


def folds_of(relative: bool) -> list[tuple[ChoiceTasks, ChoiceTasks]]:
    """Return train and test tasks of each fold, on the scale of the former."""
    source, folds = make_dataset("letor-mq2008", relative=relative), []
    for index in range(5):
        train, test = source.fold(index, 0)
        scaling = Scaling.learn(train.table, train.items)
        folds.append((train.scaled(scaling), test.scaled(scaling)))
    return folds


def main() -> None:
    """Print a row per learner."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--learner", nargs="+", choices=list(LEARNERS), default=list(LEARNERS))
    parser.add_argument("--members", type=int, default=20)
    parser.add_argument("--relative", action="store_true", help="features relative to the task")
    options = parser.parse_args()
    torch.set_num_threads(1)
    folds = folds_of(options.relative)
    print(f"{folds[0][0].n_features} features, means of {options.members} models")
    print("| learner | F1, threshold | F1, expected | difference | p | AUC | AUC, released |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name in options.learner:
        found = [scores(name, *fold, options.members) for fold in folds]
        cells = []
        for rule in RULES:
            values = [one[rule] for one in found]
            cells.append(f"{np.mean(values):.3f} ± {np.std(values, ddof=1):.3f}")
        gains = [one["expected-f1"] - one["threshold"] for one in found]
        test = corrected_t_test(gains, SHARED)
        cells += [f"{np.mean(gains):+.3f}", f"{test.p:.2f}" if test else ""]
        cells += [f"{np.mean([one[area] for one in found]):.3f}" for area in AREAS]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
