"""The scores that utilities of single objects reach, where the paper's linear models differ.

On tasks with one choice, FETA and FATE with linear parts choose as a linear utility does: the
rest is the same for all objects of a task. So does MNL, and the pairwise SVM. This scans the
directions of a linear utility, evenly in two features and at random in more, and prints the least
and the largest accuracy on test tasks beside that of the most likely one. Which image of the mode
is chosen depends on a random vector: the likelihood is asked again with others. Tasks of unique
digits are drawn in two ways: for each it prints what context-free learners reach and the accuracy
of any fixed order of the digits, without a look at an image; and for their subsets the score of
AllPositive, by the least number of unique digits. On hypervolume it gives RankNet, a network that
scores single objects, more epochs, more tasks and smaller rates. Nested logits are fitted with few
and with many nests and with a utility of nests, and FETA with the one hidden unit that the released
code calls linear. All on draws that no study uses.

    python benchmarks/contextfree.py [--directions 720] [--look scan networks]
"""

from __future__ import annotations

import argparse
from functools import partial

import numpy as np

from cschoice.datasets import make_dataset
from cschoice.datasets.raw.mnist import occurrences
from cschoice.errors import DataUnavailable
from cschoice.evaluation.metrics import metric
from cschoice.learners import make_learner
from cschoice.study.config import load

SEED = 99  # of the study's seeds it is none
DATASETS = ("hypervolume", "medoid", "mnist-unique-singleton", "mnist-mode-singleton")


def scan(dataset: str, n_directions: int) -> str:
    """Return a line about linear utilities on a dataset."""
    train, test = make_dataset(dataset, n_train=10_000, n_test=20_000).fold(0, SEED)
    if test.n_features == 2:
        angles = np.linspace(0, 2 * np.pi, n_directions, endpoint=False)
        directions = np.column_stack([np.cos(angles), np.sin(angles)])
    else:
        rng = np.random.default_rng(0)
        directions = rng.standard_normal((n_directions, test.n_features))
    accuracy = metric("accuracy")
    by_item = test.table @ directions.T.astype(np.float32)  # (items, directions)
    values = [accuracy(test, utilities[test.items]) for utilities in by_item.T]
    likely = accuracy(test, make_learner("mnl").fit(train).utilities(test))
    return (
        f"{dataset}: {len(values)} linear utilities reach {min(values):.3f} to "
        f"{max(values):.3f}; the most likely one (mnl) {likely:.3f}; guessing 0.100"
    )


def vectors(n_vectors: int) -> str:
    """Return a line about the linear utility that is most likely, by the random vector."""
    source = make_dataset("mnist-mode-singleton", n_train=10_000, n_test=20_000)
    accuracy = metric("accuracy")
    values = []
    for fold in range(n_vectors):
        train, test = source.fold(fold, SEED)
        values.append(accuracy(test, make_learner("mnl").fit(train).utilities(test)))
    return (
        f"mnist-mode-singleton: mnl with {n_vectors} random vectors {min(values):.3f} to "
        f"{max(values):.3f}, {np.mean(values):.3f} ± {np.std(values, ddof=1):.3f}"
    )


def networks(n_tasks: int, epochs: int, rate: float) -> str:
    """Return a line about a network that scores single objects, by how it learns."""
    accuracy = metric("accuracy")
    values = []
    for fold in range(3):
        train, test = make_dataset("hypervolume", n_train=n_tasks, n_test=20_000).fold(fold, SEED)
        ranknet = make_learner("ranknet", epochs=epochs, learning_rate=rate).fit(train, seed=fold)
        values.append(accuracy(test, ranknet.utilities(test)))
    settings = f"{n_tasks:,} tasks, {epochs} epochs, rate {rate:g}"
    return f"hypervolume: ranknet, {settings}: {np.mean(values):.3f}"


def unique_draws(counts: str, learner: str) -> str:
    """Return a line about a learner without context, by how tasks of unique digits are drawn."""
    source = make_dataset("mnist-unique-singleton", n_train=10_000, n_test=20_000, counts=counts)
    measures = [metric(name) for name in ("accuracy", "top-3", "top-5")]
    values = []
    for fold in range(3):
        train, test = source.fold(fold, SEED)
        utilities = make_learner(learner).fit(train, seed=fold).utilities(test)
        values.append([measure(test, utilities) for measure in measures])
    found = zip(measures, np.mean(values, axis=0), strict=True)
    means = ", ".join(f"{measure.name} {value:.3f}" for measure, value in found)
    return f"mnist-unique-singleton, counts {counts}: {learner} {means}"


def nests(learner: str, dataset: str) -> str:
    """Return a line about a nested logit by its number of nests; a dissimilarity of 1 is none."""
    accuracy = metric("accuracy")
    found = []
    for n_nests in (5, 10):
        values, dissimilarities = [], []
        for fold in (0, 1):
            train, test = make_dataset(dataset, n_train=10_000, n_test=20_000).fold(fold, SEED)
            model = make_learner(learner, n_nests=n_nests).fit(train)
            values.append(accuracy(test, model.utilities(test)))
            dissimilarities.append(model.dissimilarities_.min())
        found.append(
            f"{n_nests} nests {np.mean(values):.3f} "
            f"(smallest dissimilarity {min(dissimilarities):.3f})"
        )
    return f"{dataset}: {learner}, {', '.join(found)}"


def nest_utility(utility: str) -> str:
    """Return a line about nested logits on medoid by what nests add to the utility."""
    accuracy = metric("accuracy")
    values = []
    for fold in range(3):
        train, test = make_dataset("medoid", n_train=10_000, n_test=20_000).fold(fold, SEED)
        model = make_learner("nl", n_nests=5, nest_utility=utility).fit(train)
        values.append(accuracy(test, model.utilities(test)))
    shown = ", ".join(f"{value:.3f}" for value in values)
    return f"medoid: nl with 5 nests, nest utility {utility}: {shown}"


def one_unit(dataset: str) -> str:
    """Return a line about FETA of one hidden SELU unit with sigmoid outputs, by its seed."""
    accuracy = metric("accuracy")
    parameters = load().learners["feta-one-unit"].parameters
    values = []
    for seed in range(5):
        train, test = make_dataset(dataset, n_train=10_000, n_test=20_000).fold(seed, SEED)
        model = make_learner("feta", epochs=20, **parameters).fit(train, seed=seed)
        values.append(accuracy(test, model.utilities(test)))
    shown = ", ".join(f"{value:.3f}" for value in values)
    return f"{dataset}: feta of one unit, as released, five draws: {shown}"


def unique_digits() -> str:
    """Return lines about ten digits of which some occur once, drawn without images."""
    digits = np.random.default_rng(0).integers(10, size=(400_000, 10))
    is_unique = occurrences(digits) == 1
    n_unique = is_unique.sum(axis=1)
    first = digits.argmin(axis=1)  # an object of the digit that is first in a fixed order
    hits = is_unique[np.arange(len(digits)), first][n_unique == 1]
    text = "exactly one unique digit, counts {}: a fixed order of the digits reaches {:.3f}"
    lines = [text.format("uniform", hits.mean())]
    apart = np.random.default_rng(1).integers(1, 10, size=(400_000, 4))  # from the unique digit
    unique = np.random.default_rng(2).integers(10, size=400_000)
    others = (unique[:, None] + apart) % 10
    lines.append(text.format("fixed", (unique < others.min(axis=1)).mean()))
    for least in (1, 2, 3):
        n_chosen = n_unique[n_unique >= least]
        f1 = (2 * n_chosen / (n_chosen + 10)).mean()
        lines.append(f"{least} or more unique digits: AllPositive scores F1 {f1:.3f}")
    return "\n".join(lines)


def main() -> None:
    """Print a line per finding."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--directions", type=int, default=720)
    parser.add_argument("--look", nargs="+", metavar="NAME", help="scan, networks, …: only these")
    options = parser.parse_args()
    for look in looks(options.directions):
        if options.look and look.func.__name__ not in options.look:
            continue
        try:
            print(look(), flush=True)
        except DataUnavailable as error:
            print(error)


def looks(n_directions: int) -> list[partial[str]]:
    """Return everything there is to print, in its order."""
    sizes = ((10_000, 20, 3e-3), (10_000, 60, 3e-3), (40_000, 20, 3e-3))
    rates = [(10_000, 20, rate) for rate in (1e-3, 3e-4, 1e-4, 3e-5, 1e-5)]
    short = [(2_000, 5, rate) for rate in (3e-3, 1e-3, 3e-4, 1e-4, 3e-5)]
    return [
        *(partial(scan, dataset, n_directions) for dataset in DATASETS),
        partial(vectors, 10),
        *(partial(networks, *one) for one in (*sizes, *rates, *short)),
        *(
            partial(unique_draws, counts, learner)
            for counts in ("fixed", "uniform")
            for learner in ("mnl", "ranknet", "pairwise-svm")
        ),
        partial(nest_utility, "none"),
        partial(nest_utility, "centre"),
        *(partial(one_unit, dataset) for dataset in ("medoid", "hypervolume")),
        *(partial(nests, learner, dataset) for dataset in DATASETS for learner in ("nl", "gnl")),
        partial(unique_digits),
    ]


if __name__ == "__main__":
    main()
