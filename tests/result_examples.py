"""Results folders that nobody computed: deterministic tables, complete or with every gap."""

import json
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from cschoice.datasets import DATASETS
from cschoice.evaluation.metrics import METRICS
from cschoice.learners import LEARNERS
from cschoice.report.compute import paper
from cschoice.report.contents.outline import outline
from cschoice.runs.tables import SCHEMAS, TABLES_VERSION
from cschoice.tasks import Kind

JOB = [("profile", "string"), ("experiment", "string"), ("dataset", "string"),
       ("learner", "string"), ("fold", "int64")]  # fmt: skip
CURVES = [*JOB, ("axis", "string"), ("metric", "string"), ("x", "double"), ("value", "double")]
ENVIRONMENT = json.dumps({"host": "secret-host", "device": "cpu", "python": "3.11.7"})
UNLIKELY = ("pairwise-svm", "random", "all-positive")  # their utilities are no probabilities
NASTY = "50 % of <files> & {more} are in C:\\data_1 #2 ~ ^ $x$ 日本 … </script><img src=x>"


class Made:
    """Rows of the tables, added job by job, written at the end."""

    def __init__(self):
        self.rows = {name: [] for name in ("folds", "metrics", "trials", "curves")}

    def job(self, dataset, learner, fold, *, profile="laptop", experiment="study", kind=None,
            state="done", reason=None, n_trials=12, seed=0, metrics=True, **columns):  # fmt: skip
        names = {"profile": profile, "experiment": experiment, "dataset": dataset,
                 "learner": learner, "fold": fold}  # fmt: skip
        rng = random.Random(f"{experiment}/{dataset}/{learner}/{fold}")
        kind = kind or DATASETS.written[dataset].kind
        done = state == "done"
        tuned = n_trials if learner not in ("random", "all-positive") and done else 0
        params = {"l2": 10 ** rng.uniform(-6, -1), "n_units": rng.randint(32, 128)}
        self.rows["folds"].append(names | {
            "kind": str(kind), "state": state, "reason": reason,
            "params": json.dumps(params if tuned else {}),
            "threshold": rng.uniform(-1, 1) if done and kind == Kind.SUBSET else None,
            "n_trials": tuned, "seconds": rng.uniform(20, 900) if done else 0.0, "seed": seed,
            "key": f"{rng.getrandbits(64):x}", "environment": ENVIRONMENT if done else "{}",
        } | columns)  # fmt: skip
        if done and metrics:
            self.metrics(names, dataset, learner, Kind(kind), rng)
        for number in range(tuned):
            self.trial(names, number, rng)
        return names

    def metrics(self, names, dataset, learner, kind, rng):
        for metric, row in METRICS.items():
            if kind not in row.kinds or (row.needs == "probabilities" and learner in UNLIKELY):
                continue
            printed = paper.results().get((dataset, learner, metric))
            level = random.Random(f"{dataset}/{learner}").uniform(0.1, 0.6)
            mean, std = (printed.mean, printed.std) if printed else (level, 0.01)
            value = min(1.0, max(0.0, rng.gauss(mean, std)))
            self.rows["metrics"].append(names | {"metric": metric, "value": value})

    def trial(self, names, number, rng, rung="screen"):
        failed = rng.random() < 0.05
        loss = None if failed else rng.uniform(0.2, 0.8)
        params = {"l2": 10 ** rng.uniform(-6, -1), "n_units": rng.randint(32, 128)}
        self.rows["trials"].append(names | {
            "number": number, "rung": rung, "state": "failed" if failed else "complete",
            "params": json.dumps(params), "loss": loss,
            "losses": json.dumps([] if failed else [loss] * 3), "seconds": rng.uniform(1, 20),
            "error": "diverged" if failed else None,
        })  # fmt: skip

    def curve(self, dataset, learner, experiment, axis, metric, xs, value, folds=3, step=1.0):
        for fold in range(folds):
            names = self.job(dataset, learner, fold, experiment=experiment, metrics=False)
            rng = random.Random(f"{experiment}/{dataset}/{learner}/{fold}/curve")
            for x in xs:
                y = min(1.0, max(0.0, value(x) + rng.gauss(0, 0.01)))
                at = x * (1 + 0.1 * fold) if axis == "cpu-seconds" else x
                self.rows["curves"].append(
                    names | {"axis": axis, "metric": metric, "x": float(at * step), "value": y}
                )

    def write(self, results, *, curves=True):
        folder = Path(results) / "tables"
        folder.mkdir(parents=True, exist_ok=True)
        for name, rows in self.rows.items():
            if name != "curves" or curves:
                fields = [(column, pa.type_for_alias(kind))
                          for column, kind in SCHEMAS.get(name, CURVES)]  # fmt: skip
                schema = pa.schema(fields, metadata={"cschoice": str(TABLES_VERSION)})
                pq.write_table(
                    pa.Table.from_pylist(rows, schema=schema), folder / f"{name}.parquet"
                )
        return Path(results)


def complete(results, n_trials=12):
    """The whole study, five folds, and the curves of all experiments."""
    made = Made()
    for dataset in paper.DATASETS_IN_ORDER:
        for learner, info in LEARNERS.written.items():
            if DATASETS.written[dataset].kind in info.kinds:
                for fold in range(5):
                    made.job(dataset, learner, fold, n_trials=n_trials)
    add_curves(made)
    return made.write(results)


def add_curves(made):
    learners = ("feta", "fate", "feta-linear", "sda", "ranknet", "pairwise-svm", "mnl", "nl", "gnl")
    for dataset in ("medoid", "hypervolume"):
        for k, learner in enumerate(learners):
            made.curve(dataset, learner, "generalization", "n_objects", "normalized-accuracy",
                       range(3, 31), lambda n, k=k: (0.9 - 0.1 * k) * (1 - n / 100))  # fmt: skip
    for learner, epochs, half in (("feta", 100, 8), ("sda", 100, 15), ("fate", 100, 40),
                                  ("fate-large", 400, 60)):  # fmt: skip
        made.curve("unique-onehot", learner, "unique-stream", "epoch", "accuracy",
                   range(1, epochs + 1), lambda e, half=half: e / (e + half))  # fmt: skip
    for learner, half in (("feta-paper", 300), ("feta-modern", 20), ("fate-paper", 400),
                          ("fate-modern", 30)):  # fmt: skip
        made.curve("medoid", learner, "recipes", "cpu-seconds", "accuracy", range(10, 500, 10),
                   lambda s, half=half: s / (s + half))  # fmt: skip


def mixed(results):
    """Every gap there can be: skipped, failed, missing, one fold, variants, own data, profiles."""
    made = Made()
    for learner in ("feta", "fate", "ranknet", "mnl", "random"):
        for fold in range(5):
            made.job("medoid", learner, fold)
    for fold in range(5):
        made.job("medoid", "feta-wide", fold)  # a named variant
        made.job("sushi", "feta", fold, state="skipped", reason=NASTY)
        made.job("sushi", "mnl", fold, state="skipped", reason=NASTY)
    for fold in range(3):
        made.job("hypervolume", "feta", fold)
    failed = made.job(
        "hypervolume", "feta", 3, state="failed", reason="RuntimeError: out\nof memory"
    )
    made.trial(failed, 0, random.Random(0))
    confirmed = made.job("hypervolume", "mnl", 0, n_trials=3, seed=7)
    for number in (3, 4):
        made.trial(confirmed, number, random.Random(number), "full")
    made.job("pareto2d", "feta", 0)
    made.job("pareto2d", "all-positive", 0)
    for fold in range(5):
        made.job("pareto2d", "sda", fold, state="failed")
        made.job("trips_to & fro", "mnl", fold, kind="singleton")  # imported, elsewhere
        made.job("trips_to & fro", "feta", fold, kind="singleton")
        made.job("medoid", "feta", fold, profile="smoke")
    return made.write(results, curves=False)


def small(results):
    """A few datasets and learners of both kinds, five folds, and all curves."""
    made = Made()
    datasets = ("medoid", "hypervolume", "sushi", "pareto2d", "letor-mq2008", "expedia-subset")
    for dataset in datasets:
        for learner in ("feta", "fate", "ranknet", "mnl"):
            for fold in range(5):
                made.job(dataset, learner, fold, n_trials=4)
    add_curves(made)
    return made.write(results)


def row_of(summary, dataset, learner):
    """Return the row of a learner on a dataset."""
    (found,) = (r for r in summary.results if (r.dataset, r.learner) == (dataset, learner))
    return found


def tables_of(summary):
    """Return all tables of a report by name."""
    return {table.name: table for section in outline(summary) for table in section.every_table}
