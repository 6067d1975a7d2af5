"""The Tag Genome: choose the movie most, or least, similar to the medoid of a set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cschoice.datasets.raw.cache import cached, load_array, save_arrays
from cschoice.datasets.raw.catalogue import RAW_DATA
from cschoice.datasets.raw.files import RawFile
from cschoice.datasets.raw.sampled_sets import Chosen, Items, Pool, SampledSets, Usable
from cschoice.datasets.raw.tag_genome_files import popularities, relevances
from cschoice.space import Limit, Whole
from cschoice.tasks import Kind

Relevance = NDArray[np.float32]  # (movies, tags)
Similarity = NDArray[np.float32]  # (tasks, objects)

_TASKS_AT_ONCE = 500


@dataclass(frozen=True, kw_only=True)
class _MovieProblem(SampledSets):
    """Sets of movies compared with their medoid; train and test share one table of movies."""

    kind: ClassVar[Kind] = Kind.SINGLETON
    standardize: ClassVar[bool] = True
    limits: ClassVar[Mapping[str, Limit]] = {
        **SampledSets.limits,
        "n_objects": Whole(3),  # a medoid and two others
    }
    sign: ClassVar[int]  # 1: the most similar movie is chosen, -1: the least

    def pools(self, index: int, seed: int) -> tuple[Pool, Pool]:  # noqa: ARG002
        """Draw from all movies, in every fold."""
        table, weights = genome()
        directions = weighted_directions(table, weights)

        def rule(items: Items) -> tuple[Usable, Chosen]:
            chosen = np.zeros(items.shape, dtype=bool)
            for start in range(0, len(items), _TASKS_AT_ONCE):
                part = slice(start, start + _TASKS_AT_ONCE)
                similarity, others = to_medoid(directions[items[part]])
                best = np.where(others, self.sign * similarity, -np.inf).argmax(axis=1)
                chosen[part] = np.arange(items.shape[1]) == best[:, None]
            return np.ones(len(items), dtype=bool), chosen

        pool = Pool(table, rule)
        return pool, pool


@dataclass(frozen=True, kw_only=True)
class SimilarMovie(_MovieProblem):
    """Choose the movie most similar to the medoid of the set."""

    sign: ClassVar[int] = 1


@dataclass(frozen=True, kw_only=True)
class DissimilarMovie(_MovieProblem):
    """Choose the movie least similar to the medoid of the set."""

    sign: ClassVar[int] = -1


def genome() -> tuple[Relevance, NDArray[np.float64]]:
    """Return the relevances and the weights of the tags, from the cache after the first time."""
    files = RAW_DATA["tag-genome"].find()
    folder = cached("tag-genome", {"format": 1}, files.values(), lambda to: _make(files, to))
    return load_array(folder, "relevance"), load_array(folder, "weights")


def _make(files: Mapping[str, RawFile], folder: Path) -> None:
    tags, popularity = popularities(files)
    relevance = relevances(files, tags)
    save_arrays(folder, {"relevance": relevance, "weights": tag_weights(relevance, popularity)})


def tag_weights(relevance: Relevance, popularity: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return log(popularity) / log(movie frequency) of each tag.

    A tag's frequency is the number of movies for which its relevance is above 0.5. Tags that
    nobody used weigh nothing, frequencies of 0 and 1 count as 2.

    >>> relevance = np.array([[0.9, 0.6, 0.1], [0.8, 0.7, 0.2], [0.7, 0.5, 0.3], [0.6, 0, 0]])
    >>> tag_weights(relevance, np.array([16, 8, 0])).tolist()
    [2.0, 3.0, 0.0]
    """
    frequency = np.count_nonzero(relevance > 0.5, axis=0)
    weights = np.log(np.maximum(popularity, 1)) / np.log(np.maximum(frequency, 2))
    return np.asarray(weights, dtype=np.float64)


def weighted_directions(relevance: Relevance, weights: NDArray[np.float64]) -> Relevance:
    """Scale movies so that their scalar products are weighted cosine similarities (cosinesim)."""
    scaled = relevance * np.sqrt(weights).astype(np.float32)
    lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
    scaled /= np.maximum(lengths, np.finfo(np.float32).tiny)
    return np.asarray(scaled)


def to_medoid(directions: NDArray[np.float32]) -> tuple[Similarity, Chosen]:
    """Return how similar each object is to its task's medoid, and which are not the medoid.

    >>> x = np.array([[[1, 0], [0.75, 0.5], [0, 1]]], dtype=np.float32)
    >>> similarity, others = to_medoid(x)
    >>> similarity.tolist(), others.tolist()
    ([[0.75, 0.8125, 0.5]], [[True, False, True]])
    """
    similarities = directions @ directions.transpose(0, 2, 1)  # (tasks, objects, objects)
    medoid = similarities.mean(axis=2).argmax(axis=1)
    return (
        np.take_along_axis(similarities, medoid[:, None, None], axis=1)[:, 0],
        np.arange(directions.shape[1]) != medoid[:, None],
    )
