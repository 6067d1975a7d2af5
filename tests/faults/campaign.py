"""Thousands of damaged files, hostile inputs and kills, and what the commands make of them.

``python -m tests.faults TRIES SEED KIND`` prints what was tried and what came out. Good ends: the
answer is the same; the file is refused by its name; the job is named and done again. Whatever else
comes out is a failure: another answer without a word, lost rows, a traceback, a hang, an error
without a name.
"""

import itertools
import json
import os
import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from cschoice.runs.tables import SCHEMAS, read
from tests.faults.forks import Ended, Forks
from tests.faults.mutations import clear, mutate, other_value
from tests.trips_example import trips

GOOD = ("same", "refused", "again", "read")  # read: an input that may hold anything
BAD = ("silent", "lost", "traceback", "hangs", "unnamed")
FREE = ["seconds", "environment"]  # may differ between equal runs
STUDY = """
experiments:
  small: {protocol: nested, datasets: [medoid, pareto2d], learners: [mnl, random]}
  own: {protocol: nested, datasets: [trips], learners: [mnl, pairwise-svm]}
  stream:
    protocol: stream
    datasets: [unique-onehot]
    learners: [fate]
    parameters: {epochs: 6, batch_size: 64, n_units: 8, n_set_units: 8, n_embedding: 8}
    settings: {n_batches: 1, n_test: 50}
profiles:
  tiny: {folds: 1, trials: 2, inner_splits: 1, datasets: {n_train: 40, n_test: 30}}
"""
IMPORT = (
    "import", "trips.csv", "--name", "trips", "--task", "trip", "--chosen", "chosen",
    "--features", "cost,time", "--object", "mode", "--folds", "2",
)  # fmt: skip
RUNS = "results/runs/tiny"
MODEL = f"{RUNS}/own/trips/mnl/fold-0/model"
PREDICT = ("predict", "trips.csv", "--model", MODEL, "--out", "predicted.csv", "--force")
STREAM = f"{RUNS}/stream/unique-onehot/fate/fold-0"
KEPT = f"{RUNS}/small/pareto2d/mnl/fold-0"
EVALUATE = (
    "evaluate", "--profile", "tiny", "--experiment", "small", "-d", "pareto2d", "-l", "mnl",
    "--json",
)  # fmt: skip


def run_of(experiment: str, *options: str) -> tuple[str, ...]:
    """Return the command that runs an experiment in one process."""
    return (
        "run",
        "--profile",
        "tiny",
        "--experiment",
        experiment,
        "--executor",
        "inline",
        *options,
    )


@dataclass
class Campaign:
    """The tries so far, with copies of finished folders to damage."""

    root: Path
    seed: int = 0
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    ways: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.forks, self.rng = Forks(), random.Random(self.seed)
        self.whole, self.numbers = self.root / "whole", itertools.count()
        self.whole.mkdir()
        (self.whole / "experiments.yaml").write_text(STUDY)
        trips(40).to_csv(self.whole / "trips.csv", index=False)
        for words in (IMPORT, run_of("small", "--keep-predictions"), run_of("own"), PREDICT):
            self._done(*words)
        self.evaluated = self.forks.run(self.whole, *EVALUATE).out
        assert json.loads(self.evaluated)
        self._interrupt()
        self._done(*run_of("stream"))
        self.tables = tables(self.whole)
        self.predicted = (self.whole / "predicted.csv").read_bytes()

    def _done(self, *words: str) -> None:
        ended = self.forks.run(self.whole, *words)
        assert ended.code == 0, ended

    def _interrupt(self) -> None:
        """Keep a folder whose stream was killed behind a checkpoint."""
        checkpoint = self.whole / STREAM / "checkpoint.safetensors"
        ended = self.forks.run(self.whole, *run_of("stream"), kill_at=checkpoint)
        assert ended.how == "killed", ended
        assert checkpoint.exists(), "it was killed too late: make its epochs longer"
        shutil.copytree(self.whole, self.root / "interrupted")

    def copy(self, of: str = "whole", *without: str) -> Path:
        """Return a fresh copy of a finished folder."""
        folder = self.root / f"try-{next(self.numbers)}"
        shutil.copytree(self.root / of, folder, symlinks=True)
        for name in without:
            shutil.rmtree(folder / name)
        return folder

    def note(self, kind: str, way: str, ended: Ended, verdict: str) -> None:
        """Count a try."""
        if ended.how == "hangs":
            verdict = "hangs"
        elif "Traceback" in ended.out + ended.err:
            verdict = "traceback"
        self.counts[kind, verdict] += 1
        self.ways[way] += 1
        if verdict in BAD:
            said = (ended.out + ended.err)[-1_500:]
            self.problems.append(f"{kind}, {way}: {verdict}, exit code {ended.code}\n{said}")

    def report(self) -> str:
        """Return the counters as a table."""
        kinds = sorted({kind for kind, _ in self.counts})
        shown = [*GOOD, *BAD]
        lines = [f"{'':28}{'tries':>8}" + "".join(f"{verdict:>11}" for verdict in shown)]
        for kind in [*kinds, ""]:
            row = [
                sum(n for (one, end), n in self.counts.items() if kind in ("", one) and end == word)
                for word in shown
            ]
            numbers = "".join(f"{number:>11,}" for number in row)
            lines.append(f"{kind or 'all':28}{sum(row):>8,}{numbers}")
        ways = ", ".join(f"{way} {n}" for way, n in self.ways.most_common(16))
        return "\n".join([*lines, f"most frequent: {ways}"])


def tables(folder: Path) -> dict[str, pd.DataFrame]:
    """Return the tables of a results folder, without what may differ between equal runs."""
    found = {}
    for name in SCHEMAS:
        table = read(folder / "results", name).drop(columns=FREE, errors="ignore")
        found[name] = table[[c for c in table.columns if c not in ("commit", "node", "processor")]]
    return found


def compared(folder: Path, expected: dict[str, pd.DataFrame]) -> str:
    """Return whether the tables of a folder are those expected."""
    found = tables(folder)
    if any(len(found[name]) < len(expected[name]) for name in SCHEMAS):
        return "lost"
    return "same" if all(found[name].equals(expected[name]) for name in SCHEMAS) else "silent"


def refused(ended: Ended, *names: str) -> str:
    """Return whether a command that failed said which file is wrong, in lines of its own."""
    lines = ended.err.strip().splitlines()
    fine = ended.code == 2 and lines and lines[-1].startswith("error: ")
    return "refused" if fine and any(name in ended.err for name in names) else "unnamed"


Try = Callable[[Campaign, str], None]


def of_run_folders(pattern: str, of: str = "whole", experiment: str = "small") -> Try:
    """Damage a file of a job, and run again: every row must be there, and as it was."""

    def attempt(campaign: Campaign, kind: str) -> None:
        folder = campaign.copy(of)
        path = campaign.rng.choice(sorted(folder.glob(f"{RUNS}/{pattern}")))
        way = mutate(path, campaign.rng)
        if campaign.rng.random() < 0.3:
            words = ("status", "--profile", "tiny", "--experiment", experiment, "--json")
            campaign.note(f"{kind}, status", way, campaign.forks.run(folder, *words), "read")
        ended = campaign.forks.run(folder, *run_of(experiment))
        verdict = refused(ended, path.name) if ended.code else compared(folder, campaign.tables)
        if verdict == "same" and (path.name in ended.err or "✓" in ended.err):
            verdict = "again"
        campaign.note(kind, way, ended, verdict)
        shutil.rmtree(folder)

    return attempt


def of_tables(campaign: Campaign, kind: str) -> None:
    """Damage a table beside the run folders: collect makes all of them again."""
    folder = campaign.copy()
    path = folder / "results/tables" / f"{campaign.rng.choice(list(SCHEMAS))}.parquet"
    way = mutate(path, campaign.rng)
    ended = campaign.forks.run(folder, "collect")
    campaign.note(kind, way, ended, _after_collecting(campaign, folder, ended, path.name))
    shutil.rmtree(folder)


def of_lone_tables(campaign: Campaign, kind: str) -> None:
    """Damage a table that no run folder can make again, then collect or run something."""
    folder = campaign.copy("whole", "results/runs")
    path = folder / "results/tables" / f"{campaign.rng.choice(list(SCHEMAS))}.parquet"
    way = mutate(path, campaign.rng)
    before = {one.name: _content(one) for one in path.parent.iterdir()}
    words = [("collect",), run_of("small", "-d", "medoid", "-l", "random"), run_of("own")]
    ended = campaign.forks.run(folder, *campaign.rng.choice(words))
    if ended.code:
        verdict = refused(ended, path.name)
        if {one.name: _content(one) for one in path.parent.iterdir()} != before:
            verdict = "lost"
    else:
        verdict = _after_collecting(campaign, folder, ended, path.name)
    campaign.note(kind, way, ended, verdict)
    shutil.rmtree(folder)


def _content(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() and "zero" not in str(path.resolve()) else b""


def _after_collecting(campaign: Campaign, folder: Path, ended: Ended, name: str) -> str:
    return refused(ended, name) if ended.code else compared(folder, campaign.tables)


def of_models(name: str, *, hostile: bool = False) -> Try:
    """Damage a file of a model, and predict: the same predictions, or none."""

    def attempt(campaign: Campaign, kind: str) -> None:
        folder = campaign.copy()
        path = folder / MODEL / name
        way = other_value(path, campaign.rng) if hostile else mutate(path, campaign.rng)
        if hostile:
            strip_checksums(path.parent)
        (folder / "predicted.csv").unlink()
        ended = campaign.forks.run(folder, *PREDICT)
        if ended.code:
            verdict = refused(ended, "" if hostile else MODEL)
            if (folder / "predicted.csv").exists():
                verdict = "silent"
        else:
            same = (folder / "predicted.csv").read_bytes() == campaign.predicted
            verdict = "same" if same else "read" if hostile else "silent"
        campaign.note(kind, "another value" if hostile else way, ended, verdict)
        shutil.rmtree(folder)

    return attempt


def strip_checksums(model: Path) -> None:
    """Make a model one of a version without checksums, so that nothing is told by them."""
    path = model / "learner.json"
    with suppress(ValueError, AttributeError):
        content = json.loads(path.read_text())
        kept = {key: content[key] for key in content if key not in ("digest", "files")}
        path.write_text(json.dumps(kept))


def of_predictions(campaign: Campaign, kind: str) -> None:
    """Damage kept predictions or the model beside them: the same metrics, or none."""
    folder = campaign.copy()
    files = [folder / KEPT / "predictions.parquet", *sorted((folder / KEPT / "model").iterdir())]
    path = campaign.rng.choice(files)
    way = mutate(path, campaign.rng)
    ended = campaign.forks.run(folder, *EVALUATE)
    if ended.code:
        verdict = refused(ended, path.name, "no predictions")
    else:
        verdict = "same" if ended.out == campaign.evaluated else "silent"
    campaign.note(kind, way, ended, verdict)
    shutil.rmtree(folder)


def of_index(campaign: Campaign, kind: str) -> None:
    """Damage what is only there to save time: it may take longer, and that is all."""
    folder = campaign.copy()
    way = mutate(folder / "results/index.json", campaign.rng)
    ended = campaign.forks.run(folder, "collect")
    verdict = _after_collecting(campaign, folder, ended, "index.json")
    campaign.note(kind, way, ended, verdict)
    shutil.rmtree(folder)


def of_claims(campaign: Campaign, kind: str) -> None:
    """Put what is no claim into a job's folder: the job is done all the same."""
    folder = campaign.copy()
    place = folder / RUNS / "small/medoid/mnl/fold-0"
    (place / "record.json").unlink()
    names = ["claim-0.json", "claim-7.json", "claim-0 (conflicted copy).json", "claim-x.json"]
    path = place / campaign.rng.choice(names)
    holder = {"host": "elsewhere", "machine": "0" * 12, "pid": 1, "started": "1"}
    path.write_text(json.dumps(holder))
    os.utime(path, (0, 0))  # its heart stopped long ago
    way = "an old claim"
    if campaign.rng.random() < 0.8:
        way = campaign.rng.choice([mutate, other_value])(path, campaign.rng)
        with suppress(FileNotFoundError):
            os.utime(path, (0, 0), follow_symlinks=False)
    ended = campaign.forks.run(folder, *run_of("small"))
    campaign.note(kind, way.partition(" of ")[0], ended, compared(folder, campaign.tables))
    clear(folder)


def of_documents(pattern: str) -> Try:
    """Put hostile values into a document of a job: whatever they mean, no command may break."""

    def attempt(campaign: Campaign, kind: str) -> None:
        folder = campaign.copy()
        path = campaign.rng.choice(sorted(folder.glob(f"{RUNS}/{pattern}")))
        other_value(path, campaign.rng)
        for words in (("status", "--profile", "tiny", "--experiment", "small"), run_of("small")):
            ended = campaign.forks.run(folder, *words)
            verdict = "read" if ended.code in (0, 1) else refused(ended, path.name)
            campaign.note(kind, "another value", ended, verdict)
        shutil.rmtree(folder)

    return attempt


def of_imported(pattern: str) -> Try:
    """Damage an imported dataset, and do its jobs again: the earlier results stay."""

    def attempt(campaign: Campaign, kind: str) -> None:
        folder = campaign.copy()
        path = folder / "data/trips" / pattern
        way = mutate(path, campaign.rng)
        ended = campaign.forks.run(folder, *run_of("own", "--force"))
        said = ended.out + ended.err
        if ended.code == 2:
            verdict = "refused" if "trips" in ended.err and "error:" in ended.err else "unnamed"
        else:
            verdict = compared(folder, campaign.tables)
            if ended.code and verdict == "same":
                verdict = "refused" if path.name in said else "unnamed"
        campaign.note(kind, way, ended, verdict)
        shutil.rmtree(folder)

    return attempt


def of_csv(campaign: Campaign, kind: str) -> None:
    """Damage somebody's table, then import it: it is read, or refused by name, and no more."""
    folder = campaign.root / f"try-{next(campaign.numbers)}"
    folder.mkdir()
    shutil.copy(campaign.whole / "trips.csv", folder)
    way = mutate(folder / "trips.csv", campaign.rng)
    ended = campaign.forks.run(folder, *IMPORT)
    verdict = "read" if ended.code == 0 else refused(ended, "trips.csv", "column", "task", "row")
    if ended.code and (folder / "data").exists():
        verdict = "lost"  # its room for something half-made
    campaign.note(kind, way, ended, verdict)
    clear(folder)


def of_studies(campaign: Campaign, kind: str) -> None:
    """Damage a study: it is still one, or refused by its name."""
    folder = campaign.root / f"try-{next(campaign.numbers)}"
    folder.mkdir()
    path = folder / "experiments.yaml"
    path.write_text("\n".join(line for line in STUDY.splitlines() if "trips" not in line))
    way = mutate(path, campaign.rng)
    ended = campaign.forks.run(
        folder, "status", "--profile", "tiny", "--experiment", "small", "--config", path.name
    )
    verdict = "read" if ended.code == 0 else refused(ended, path.name, "experiment", "profile")
    campaign.note(kind, way, ended, verdict)
    clear(folder)


def of_kills(campaign: Campaign, kind: str) -> None:
    """Kill a run and a collection a few times; in the end the tables are the same."""
    folder = campaign.root / f"try-{next(campaign.numbers)}"
    folder.mkdir()
    for name in ("experiments.yaml", "trips.csv"):
        shutil.copy(campaign.whole / name, folder)
    for experiment in (None, "small", "own", "stream"):
        words = IMPORT if experiment is None else run_of(experiment)
        for _ in range(4):
            after = campaign.rng.uniform(0.0, 0.6)
            ended = campaign.forks.run(folder, *words, kill_after=after)
            campaign.note(f"{kind} of {words[0]}", ended.how, ended, "read")
            if ended.how == "ended":
                break
        else:
            ended = campaign.forks.run(folder, *words)
            campaign.note(f"{kind} of {words[0]}", "not killed", ended, "read")
        assert experiment is not None or (folder / "data/trips/cschoice.json").exists(), ended
    campaign.forks.run(folder, "collect", kill_after=campaign.rng.uniform(0.0, 0.2))
    ended = campaign.forks.run(folder, "collect")
    campaign.note(kind, "collected", ended, compared(folder, campaign.tables))
    left = [path for path in folder.rglob(".*.tmp") if path.name != ".commit"]
    campaign.ways["leftovers"] += len(left)
    clear(folder)


# Name, share of the tries, and how to try.
KINDS: list[tuple[str, int, Try]] = [
    ("record.json", 12, of_run_folders("small/*/*/*/record.json")),
    ("job.json", 10, of_run_folders("small/*/*/*/job.json")),
    ("trials.jsonl", 12, of_run_folders("small/*/mnl/*/trials.jsonl")),
    ("checkpoint", 3, of_run_folders("stream/*/*/*/checkpoint.*", "interrupted", "stream")),
    ("documents, hostile", 5, of_documents("small/*/*/*/*.json")),
    ("claims", 4, of_claims),
    ("index", 3, of_index),
    ("kept predictions", 6, of_predictions),
    ("tables beside runs", 8, of_tables),
    ("tables alone", 8, of_lone_tables),
    ("weights", 8, of_models("weights.safetensors")),
    ("learner.json", 5, of_models("learner.json")),
    ("preparation.json", 5, of_models("preparation.json")),
    ("models, hostile", 5, of_models("learner.json", hostile=True)),
    ("preparations, hostile", 5, of_models("preparation.json", hostile=True)),
    ("imported description", 4, of_imported("cschoice.json")),
    ("imported tasks", 3, of_imported("tasks.parquet")),
    ("CSV", 12, of_csv),
    ("studies", 12, of_studies),
    ("killed", 2, of_kills),
]


def schedule(n_tries: int, only: str = "") -> Iterator[tuple[str, Try]]:
    """Yield so many tries, of each kind its share."""
    kinds = [(name, share, attempt) for name, share, attempt in KINDS if only in name]
    total = sum(share for _, share, _ in kinds)
    for name, share, attempt in kinds:
        for _ in range(max(1, round(n_tries * share / total))):
            yield name, attempt


def carry_out(root: Path, n_tries: int, seed: int = 0, only: str = "") -> Campaign:
    """Try so often, and return what came out."""
    campaign = Campaign(root, seed)
    try:
        for name, attempt in schedule(n_tries, only):
            attempt(campaign, name)
    finally:
        campaign.forks.close()
    return campaign
