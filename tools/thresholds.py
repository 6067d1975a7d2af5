"""Print the F1 that thresholds cost a study's models of subsets, and how far chance reaches.

For each learner: its mean F1 over folds, the same with the threshold that is best for the test
tasks themselves, the standard error over all test tasks, and the deviation over folds.

    python tools/thresholds.py [letor-mq2008] [results]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from cschoice.datasets import make_dataset
from cschoice.evaluation.decisions import choose, tune_threshold
from cschoice.evaluation.metrics import metric
from cschoice.models.predictor import Predictor
from cschoice.runs.records import Job
from cschoice.runs.store import ResultStore

RESULTS = Path(__file__).parent.parent / "results"


def scores(job: Job, folder: Path) -> tuple[list[float], float, float]:
    """Return the F1 of every test task, their mean, and the mean with the best threshold."""
    source = make_dataset(job.dataset, **job.dataset_parameters)
    _, test = source.fold(job.fold, job.seed)
    model = Predictor.load(folder / "model")
    utilities = model.learner.utilities(test)
    f1 = metric("f1")
    chosen = choose(test, utilities, model.preparation.threshold)
    of_tasks = [f1(test[i], chosen[test.entries(i)]) for i in range(len(test))]
    best = choose(test, utilities, tune_threshold(test, utilities))
    return of_tasks, f1(test, chosen), f1(test, best)


def main() -> None:
    """Print a line per learner."""
    dataset = sys.argv[1] if len(sys.argv) > 1 else "letor-mq2008"
    store = ResultStore(Path(sys.argv[2]) if len(sys.argv) > 2 else RESULTS)
    folds: dict[str, list[tuple[list[float], float, float]]] = {}
    for job in store.jobs():
        wanted = (job.profile, job.experiment, job.dataset) == ("laptop", "study", dataset)
        if wanted and store.record(job) is not None:
            folds.setdefault(job.learner, []).append(scores(job, store.folder(job)))
    print("| learner | F1 | best threshold in hindsight | error over tasks | deviation of folds |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for learner, of_folds in folds.items():
        of_tasks = np.concatenate([tasks for tasks, _, _ in of_folds])
        mean, hindsight = (float(np.mean([fold[k] for fold in of_folds])) for k in (1, 2))
        error = of_tasks.std(ddof=1) / np.sqrt(len(of_tasks))
        deviation = np.std([fold[1] for fold in of_folds], ddof=1)
        print(f"| {learner} | {mean:.3f} | {hindsight:.3f} | {error:.3f} | {deviation:.3f} |")


if __name__ == "__main__":
    main()
