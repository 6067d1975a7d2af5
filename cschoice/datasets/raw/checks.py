"""Compare raw data with their checksums, and counts taken of them with the paper's tables."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from cschoice.datasets import DATASETS, make_dataset
from cschoice.datasets.raw.catalogue import RAW_DATA
from cschoice.datasets.raw.digit_network import FEATURES_SHA256
from cschoice.datasets.raw.files import RawFile
from cschoice.datasets.raw.observed_choices import ObservedChoices
from cschoice.datasets.raw.paper_counts import PAPER_COUNTS, Count
from cschoice.datasets.raw.samples import sampled

_N_FOLDS = 5
_BLOCK = 2**20


class Verdict(StrEnum):
    """How a check ended."""

    OK = "ok"
    DIFFERS = "differs"  # for a known reason, given in the note
    WRONG = "wrong"


@dataclass(frozen=True)
class Check:
    """One comparison."""

    data: str  # the name of the raw data, or of the dataset
    what: str
    found: str
    expected: str
    verdict: Verdict
    note: str = ""


def check(name: str) -> Iterator[Check]:
    """Check the raw data of that name; ``DataUnavailable`` if they are missing or damaged."""
    files = RAW_DATA[name].find()
    yield from _checksums(name, files)
    datasets = [dataset for dataset, info in DATASETS.items() if info.raw == name]
    for counted in dict.fromkeys([name, *datasets]):  # several datasets may be of the same counts
        if counted in PAPER_COUNTS:
            yield from _compared(counted)
    if name == "mnist":
        yield _features()


def _checksums(name: str, files: Mapping[str, RawFile]) -> Iterator[Check]:
    for key, expected in RAW_DATA[name].sha256.items():
        found = _sha256(files[key])
        same = found == expected
        note = "" if same else "not the files that were tested: the counts decide"
        verdict = Verdict.OK if same else Verdict.DIFFERS
        yield Check(name, f"sha256 of {key}", found[:12], expected[:12], verdict, note)


def _features() -> Check:
    """Compare the features of MNIST's images with those that everyone has."""
    from cschoice.datasets.raw.digit_features import digits, features_hash

    found = features_hash(digits().features)
    verdict = Verdict.OK if found == FEATURES_SHA256 else Verdict.WRONG
    return Check("mnist", "sha256 of the features", found[:12], FEATURES_SHA256[:12], verdict)


def _sha256(file: RawFile) -> str:
    digest = hashlib.sha256()
    with file.open() as content:
        while block := content.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _compared(name: str) -> Iterator[Check]:
    paper = PAPER_COUNTS[name]
    found = _counts(name)
    sample = sampled(name, found)
    for what, expected in paper.counts.items():
        note = ""
        verdict = Verdict.OK
        if found[what] != expected:
            note = f"the files are a sample: {sample}" if sample else paper.notes.get(what, "")
            verdict = Verdict.DIFFERS if note and not sample else Verdict.WRONG
        yield Check(name, what, _shown(found[what]), _shown(expected), verdict, note)


def _counts(name: str) -> dict[str, Count]:
    """Take the counts that the paper's tables have."""
    if name == "mnist":
        from cschoice.datasets.raw.digit_features import (
            digits,  # refuses a network that is not good enough
        )

        n_images, n_features = digits().features.shape
        return {"features": n_features, "images": n_images}
    if name == "tag-genome":
        from cschoice.datasets.raw.tag_genome import genome

        n_movies, n_features = genome()[0].shape
        return {"features": n_features, "movies": n_movies}
    source = make_dataset(name)
    assert isinstance(source, ObservedChoices)
    return _observed(source)


def _observed(source: ObservedChoices) -> dict[str, Count]:
    whole = source.whole()
    sizes = whole.tasks.sizes
    folds = [source.split(whole, index, seed=0) for index in range(_N_FOLDS)]
    # The paper counts samples of full size; tasks that are smaller are kept whole beside them.
    sampled = [sizes[source.sampled(whole, train)] for train, _ in folds]
    return {
        "tasks": len(whole.tasks),
        "objects": whole.tasks.n_entries,
        "objects per task": _together((int(sizes.min()), int(sizes.max()))),
        "features": whole.tasks.n_features,
        "training tasks": _together(tuple(len(train) for train, _ in folds)),
        "test tasks": _together(tuple(len(test) for _, test in folds)),
        "training samples": _together(
            tuple(int(np.count_nonzero(each >= source.n_objects)) for each in sampled)
        ),
    }


def _together(values: tuple[int, ...]) -> Count:
    return values[0] if len(set(values)) == 1 else values


def _shown(value: Count) -> str:
    """Write a count.

    >>> _shown(1_455), _shown((6, 147)), _shown((339, 339, 336))
    ('1,455', '6–147', '339, 339, 336')
    """
    if isinstance(value, int):
        return f"{value:,}"
    return ("–" if len(value) == 2 else ", ").join(f"{one:,}" for one in value)
