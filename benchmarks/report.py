"""How long a report takes on a study of 20,000 rows: CPU seconds of each format."""

import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import result_examples

from cschoice.registry import load
from cschoice.report import FORMATS
from cschoice.report.compute.summary import summarize


def main():
    with tempfile.TemporaryDirectory() as folder:
        results = result_examples.complete(folder, n_trials=18)
        started = time.process_time()
        summary = summarize(results, "laptop")
        tables = (summary.inputs.folds, summary.inputs.metrics, summary.inputs.trials)
        n_rows = sum(map(len, tables)) + len(summary.inputs.curves)
        print(f"reading and computing, {n_rows:,} rows: {time.process_time() - started:.1f} s")
        for name, source in FORMATS.items():
            started = time.process_time()
            files = load(source)(summary)
            size = sum(map(len, files.values())) / 1e6
            seconds = time.process_time() - started
            print(f"{name}: {seconds:.1f} s, {len(files)} files, {size:.1f} MB")


if __name__ == "__main__":
    main()
