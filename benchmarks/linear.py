"""What linear utilities can reach where the paper's linear models differ from ours.

On tasks with one choice, FETA and FATE with linear parts choose as a linear utility does: the
rest is the same for all objects of a task. So does MNL, and the pairwise SVM. This scans the
directions of a linear utility, evenly in two features and at random in more, and prints the least
and the largest accuracy on test tasks beside what the likelihood prefers.

    python benchmarks/linear.py [--directions 720]
"""

from __future__ import annotations

import argparse

import numpy as np

from cschoice.datasets import make_dataset
from cschoice.learners import make_learner
from cschoice.metrics import metric


def main() -> None:
    """Print a line per dataset."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--directions", type=int, default=720)
    options = parser.parse_args()
    accuracy = metric("accuracy")
    for dataset in ("hypervolume", "medoid"):
        train, test = make_dataset(dataset, n_train=10_000, n_test=20_000).fold(0, 0)
        if test.n_features == 2:
            angles = np.linspace(0, 2 * np.pi, options.directions, endpoint=False)
            directions = np.column_stack([np.cos(angles), np.sin(angles)])
        else:
            rng = np.random.default_rng(0)
            directions = rng.standard_normal((options.directions, test.n_features))
        values = [accuracy(test, test.features @ w.astype(np.float32)) for w in directions]
        likely = accuracy(test, make_learner("mnl").fit(train).utilities(test))
        print(
            f"{dataset}: {len(values)} linear utilities reach {min(values):.3f} to "
            f"{max(values):.3f}; the most likely one (mnl) {likely:.3f}; guessing 0.100"
        )


if __name__ == "__main__":
    main()
