"""Time and memory of reading raw data that are not here, in made files of the originals' size.

Expedia has 399,344 searches, 9.9 million rows of 54 columns; the Tag Genome 10,993 movies with
1,128 tags; LETOR's listwise sets up to 1,831 documents of 46 features per query. The numbers in
them are made. Each dataset is written as its first fold twice: from the raw files, and from the
cache; then its tasks, objects and features are compared with what was made.

    python benchmarks/raw_files.py [--data expedia] [--share 0.1]
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
from large_table import measured

from cschoice.datasets import DATASETS, make_dataset
from cschoice.datasets.raw.expedia_file import FEATURES
from cschoice.datasets.raw.letor import N_FEATURES
from cschoice.datasets.raw.observed_choices import ObservedChoices
from cschoice.datasets.raw.tag_genome import genome

N_SEARCHES, SEARCH_SIZES, N_ROWS = 399_344, (5, 38), 9_917_530
N_MOVIES, N_TAGS, N_USES = 10_993, 1_128, 465_564
QUERIES = {  # number and sizes
    "letor-mq2007": (1_692, (6, 147)),
    "letor-mq2007-list": (1_692, (257, 1_346)),
    "letor-mq2008-list": (784, (204, 1_831)),
}
N_PARTS = 5
MOSTLY_MISSING = ("comp", "visitor_hist", "srch_query_affinity")
LEFT_OUT = ("date_time", "site_id", "visitor_location_country_id", "prop_country_id", "prop_id",
            "srch_destination_id")  # fmt: skip

Made = tuple[int, ...]  # tasks, objects and features, or movies and tags


def expedia(folder: Path, share: float, rng: np.random.Generator) -> Made:
    """Write train.csv, some thousand searches at a time; every search has a booking or a click."""
    sizes = rng.integers(SEARCH_SIZES[0], SEARCH_SIZES[1] + 1, size=int(N_SEARCHES * share))
    lacking = int(N_ROWS * share) - int(sizes.sum())  # made up for by larger or smaller searches
    step = np.sign(lacking)
    room = np.flatnonzero((sizes + step >= SEARCH_SIZES[0]) & (sizes + step <= SEARCH_SIZES[1]))
    while lacking:
        few = rng.permutation(room)[: abs(lacking)]
        sizes[few] += step
        lacking -= int(step) * len(few)
        room = np.flatnonzero((sizes + step >= SEARCH_SIZES[0]) & (sizes + step <= SEARCH_SIZES[1]))
    folder.mkdir()
    start, writer = 1, None
    for part in np.array_split(sizes, max(1, len(sizes) // 5_000)):
        table = _searches(start, part, rng)
        writer = writer or pacsv.CSVWriter(folder / "train.csv", table.schema)
        writer.write(table)
        start += len(part)
    assert writer is not None
    writer.close()
    print(
        f"expedia: {sizes.sum():,} rows, {table.num_columns} columns, {_size(folder)}", flush=True
    )
    return len(sizes), int(sizes.sum()), 16


def _searches(start: int, sizes: np.ndarray, rng: np.random.Generator) -> pa.Table:
    n, ends = int(sizes.sum()), np.cumsum(sizes)
    first = ends - sizes
    clicked, booked = np.zeros(n, dtype=np.int8), np.zeros(n, dtype=np.int8)
    clicked[first + rng.integers(sizes)] = 1
    booked[np.flatnonzero(clicked)[rng.random(len(sizes)) < 0.7]] = 1
    columns = {"srch_id": np.repeat(np.arange(start, start + len(sizes)), sizes)}
    columns |= {name: rng.integers(1, 20_000, size=n) for name in LEFT_OUT[1:]}
    columns[LEFT_OUT[0]] = pa.array(["2013-04-04 08:32:15"]).take(pa.array(np.zeros(n, dtype=int)))
    for name in FEATURES:
        values = rng.integers(0, 100_000, size=n) / 100
        gaps = rng.random(n) < (0.9 if name.startswith(MOSTLY_MISSING) else 0.05)
        columns[name] = _with_null(values, gaps if name != "position" else np.zeros(n, dtype=bool))
    columns["gross_bookings_usd"] = _with_null(rng.random(n).round(2), booked == 0)
    return pa.table(columns | {"click_bool": clicked, "booking_bool": booked})


def _with_null(values: np.ndarray, gaps: np.ndarray) -> pa.Array:
    """Return the numbers as texts, with NULL where there is none, as the original has it."""
    texts = pa.array(values).cast(pa.string())
    return pa.compute.if_else(pa.array(gaps), pa.scalar("NULL"), texts)


def tag_genome(folder: Path, share: float, rng: np.random.Generator) -> Made:
    """Write the release that comes with the ratings."""
    folder.mkdir()
    n_movies = int(N_MOVIES * share)
    tags = pa.array([f"tag {k}" for k in range(1, N_TAGS + 1)])
    pacsv.write_csv(
        pa.table({"tagId": np.arange(1, N_TAGS + 1), "tag": tags}), folder / "genome-tags.csv"
    )
    n_uses = int(N_USES * share)
    uses = {"userId": rng.integers(1, 10_000, n_uses), "movieId": rng.integers(1, 10**5, n_uses)}
    uses |= {
        "tag": tags.take(pa.array(rng.integers(N_TAGS, size=n_uses))),
        "timestamp": np.ones(n_uses),
    }
    pacsv.write_csv(pa.table(uses), folder / "tags.csv")
    relevance = rng.integers(0, 100_000, size=(n_movies, N_TAGS)) / 100_000
    scores = {
        "movieId": np.repeat(np.arange(1, n_movies + 1), N_TAGS),
        "tagId": np.tile(np.arange(1, N_TAGS + 1), n_movies),
        "relevance": relevance.ravel(),
    }
    pacsv.write_csv(pa.table(scores), folder / "genome-scores.csv")
    print(f"tag-genome: {n_movies:,} movies, {N_TAGS:,} tags, {_size(folder)}", flush=True)
    return n_movies, N_TAGS


def letor(name: str, folder: Path, share: float, rng: np.random.Generator) -> Made:
    """Write S1 to S5; a twelfth of the documents is relevant."""
    folder.mkdir()
    n_queries, (smallest, largest) = QUERIES[name]
    sizes = rng.integers(smallest, largest + 1, size=int(n_queries * share))
    line = " ".join(f"{k + 1}:%.6f" for k in range(N_FEATURES))
    for part, queries in enumerate(np.array_split(np.arange(len(sizes)), N_PARTS)):
        with (folder / f"S{part + 1}.txt").open("w") as file:
            for query in queries.tolist():
                file.writelines(_documents(query, int(sizes[query]), name, line, rng))
    print(f"{name}: {len(sizes):,} queries, {sizes.sum():,} documents, {_size(folder)}", flush=True)
    return len(sizes), int(sizes.sum()), N_FEATURES


def _documents(
    query: int, size: int, name: str, line: str, rng: np.random.Generator
) -> Iterator[str]:
    grades = np.arange(size)[::-1] if name.endswith("list") else (rng.random(size) < 1 / 12) * 1
    if not grades.any():
        grades[0] = 1  # queries without a relevant document are left out
    for grade, features in zip(
        grades.tolist(), rng.random((size, N_FEATURES)).tolist(), strict=True
    ):
        yield f"{grade} qid:{query + 1} {line % tuple(features)} #docid = GX000-00-0000000\n"


def _size(folder: Path) -> str:
    return f"{sum(file.stat().st_size for file in folder.iterdir()) / 1e9:.2f} GB"


MAKERS: dict[str, tuple[str, Callable[[Path, float, np.random.Generator], Made]]] = {
    "expedia": ("expedia", expedia),
    "tag-genome": ("ml-25m", tag_genome),
    **{
        name: (
            name.removeprefix("letor-").upper().replace("LIST", "list"),
            lambda folder, share, rng, name=name: letor(name, folder, share, rng),
        )
        for name in QUERIES
    },
}  # folders of the originals


def apart(work: Callable[..., Made], *arguments: object) -> Made:
    """Do work in a process of its own: memory of this one would count as its children's."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def make(name: str, place: Path, share: float) -> Made:
    """Write the files of these raw data; return what is in them."""
    return MAKERS[name][1](place, share, np.random.default_rng(0))


def counted(dataset: str) -> Made:
    """Return what was read."""
    source = make_dataset(dataset)
    if isinstance(source, ObservedChoices):
        tasks = source.whole().tasks
        return len(tasks), tasks.n_entries, tasks.n_features
    return genome()[0].shape


def read(name: str, made: Made, folder: Path) -> None:
    """Print time and memory of every dataset of these raw data, and compare what was read."""
    for dataset in (one for one, info in DATASETS.items() if info.raw == name):
        for out in ("first", "again"):
            measured(f"generate {dataset} --fold 0 --out {out}", folder)
        found = apart(counted, dataset)
        print(f"{'':20} read: {', '.join(f'{n:,}' for n in found)}", flush=True)
        whole = dataset != "expedia-singleton"  # it has the searches with a booking alone
        if found[-1] != made[-1] or (whole and found != made):
            raise SystemExit(f"{dataset}: made {made}, read {found}")


def main() -> None:
    """Make files, read them, and remove them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", choices=MAKERS, default=list(MAKERS))
    parser.add_argument("--share", type=float, default=1.0, help="of the originals' size")
    given = parser.parse_args()
    for name in given.data:
        with tempfile.TemporaryDirectory() as temporary:
            where = Path(temporary)
            os.environ |= {"CSCHOICE_DATA": temporary, "CSCHOICE_CACHE": str(where / "cache")}
            made = apart(make, name, where / MAKERS[name][0], given.share)
            read(name, made, where)


if __name__ == "__main__":
    main()
