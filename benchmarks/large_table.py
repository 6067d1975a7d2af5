"""Time and memory of ``import`` and ``predict`` on a large table: 10 million rows of 54 columns.

The table is made in a folder of one's own (3 GB): tasks of ten objects, numbers with gaps, texts.
Ten columns are used. ``python benchmarks/large_table.py --rows 1000000`` is quicker.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

_START = "import cschoice_cli; cschoice_cli.start()"
N_COLUMNS, N_USED, TASK_SIZE, BLOCK = 54, 10, 10, 100_000


def block(start: int, n_rows: int, rng: np.random.Generator) -> pa.Table:
    """Return some rows: task, chosen, a date, f1, f2, …, of which f1 decides and f3 has gaps."""
    task = (start + np.arange(n_rows)) // TASK_SIZE
    features = rng.integers(0, 10_000, size=(N_COLUMNS - 3, n_rows)) / 100
    best = features[0].reshape(-1, TASK_SIZE).argmax(axis=1)
    columns = {
        "task": task,
        "chosen": (np.arange(TASK_SIZE) == best[:, None]).ravel().astype(np.int8),
        "date": pa.array(["2012-10-31 08:59:22"] * n_rows),
    }
    columns |= {f"f{k + 1}": values for k, values in enumerate(features)}
    columns["f3"] = pa.array(features[2], mask=features[2] < 30)
    columns["f4"] = features[3].astype(np.int64)
    return pa.table(columns)


def make(path: Path, n_rows: int) -> None:
    """Write the table, block by block."""
    rng = np.random.default_rng(0)
    with pacsv.CSVWriter(path, block(0, TASK_SIZE, rng).schema) as writer:
        for start in range(0, n_rows, BLOCK):
            writer.write(block(start, min(BLOCK, n_rows - start), rng))


def measured(words: str, folder: Path) -> None:
    """Run a command and print its time and its own peak memory."""
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-c", _START, *words.split()],
        cwd=folder,
        stdout=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"'cschoice {words}' failed")
    seconds, megabytes = time.perf_counter() - began, usage.ru_maxrss / 1000
    cpu = usage.ru_utime + usage.ru_stime
    print(f"{seconds:8.1f} s {cpu:8.1f} CPU s {megabytes:8.0f} MB  cschoice {words}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--folder", type=Path, help="where to put the table; it stays there")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for name, n_rows in (("small.csv", 10_000), ("large.csv", given.rows)):
            if not (folder / name).exists():
                make(folder / name, n_rows)
        size = (folder / "large.csv").stat().st_size / 1e9
        print(f"{given.rows:,} rows, {N_COLUMNS} columns, {size:.1f} GB of CSV; {N_USED} used")
        words = f"--task task --chosen chosen --features f1-f{N_USED} --impute median --force"
        measured(f"import small.csv --name small {words}", folder)
        run = "run --dataset small --learner mnl --profile smoke --folds 1 --executor inline"
        measured(run, folder)
        measured(f"import large.csv --name large {words}", folder)
        model = "results/runs/smoke/study/small/mnl/fold-0/model"
        for out in ("out.parquet", "out.csv"):
            measured(f"predict large.csv --model {model} --out {out} --force", folder)


if __name__ == "__main__":
    main()
