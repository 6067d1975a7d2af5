"""Raw files that hold only a part of the data that the paper used."""

from __future__ import annotations

from collections.abc import Mapping

from cschoice.datasets import DATASETS, make_dataset
from cschoice.datasets.raw.observed_choices import ObservedChoices
from cschoice.datasets.raw.paper_counts import PAPER_COUNTS, Count

# Below this share of the paper's number, files are a sample. Whole releases have more: Expedia
# without single clicks and every release of the Tag Genome are above seven tenths.
_WHOLE = 0.5
# What to count of raw data that several datasets share, and of those that tasks are read from.
_COUNTED = {"tag-genome": "movies"}
_TASKS = "tasks"


def sample_of(dataset: str) -> str | None:
    """Return which part of the paper's data the files of a dataset are; None if they are whole.

    Also None where there is nothing to compare: generated and imported datasets, missing files.
    """
    raw = DATASETS[dataset].raw if dataset in DATASETS else None
    if raw is None:
        return None
    if raw == "tag-genome":
        from cschoice.datasets.raw.tag_genome import genome

        return sampled(raw, {"movies": len(genome()[0])})
    if dataset not in PAPER_COUNTS:
        return None
    source = make_dataset(dataset)
    if not isinstance(source, ObservedChoices):
        return None
    return sampled(dataset, {_TASKS: len(source.whole().tasks)})


def sampled(name: str, found: Mapping[str, Count]) -> str | None:
    """Return which part of the paper's counts was found; None for about all of it.

    >>> sampled("expedia-subset", {"tasks": 1_409})
    '1,409 of 399,344 tasks'
    >>> sampled("tag-genome", {"movies": 9_734}) is None
    True
    """
    counted = _COUNTED.get(name, _TASKS)
    expected, n = PAPER_COUNTS[name].counts.get(counted), found.get(counted)
    if not isinstance(expected, int) or not isinstance(n, int) or n >= _WHOLE * expected:
        return None
    return f"{n:,} of {expected:,} {counted}"
