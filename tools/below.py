"""Print the cells of the study whose mean is below the paper's mean minus its deviation.

python tools/below.py [results/tables/metrics.parquet]
"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd

from cschoice.evaluation.metrics import TARGETS
from cschoice.report.compute.paper import DATASETS_IN_ORDER, results

TABLE = Path(__file__).parent.parent / "results" / "tables" / "metrics.parquet"


def main() -> None:
    """Print a table in Markdown, and how many cells there are to compare."""
    metrics = pd.read_parquet(sys.argv[1] if len(sys.argv) > 1 else TABLE)
    metrics = metrics[(metrics["profile"] == "laptop") & (metrics["experiment"] == "study")]
    cells = metrics.groupby(["dataset", "learner", "metric"])["value"].agg(["mean", "std", "count"])
    n_cells = 0
    rows = []
    for key, ours in cells.iterrows():
        theirs = results().get(key)
        if key[2] not in TARGETS.values() or theirs is None:
            continue
        n_cells += 1
        # Both are compared as they are printed, with three digits.
        if round(ours["mean"], 3) < round(theirs.mean - theirs.std, 3):
            mean = f"{ours['mean']:.3f} ± {ours['std']:.3f}"
            paper = f"{theirs.mean:.3f} ± {theirs.std:.3f}"
            row = f"| {key[0]} | {key[1]} | {mean} | {ours['count']:.0f} | {paper} |"
            rows.append((DATASETS_IN_ORDER.index(key[0]), row))
    print("| dataset | learner | ours | folds | paper |\n| --- | --- | ---: | ---: | ---: |")
    print("\n".join(row for _, row in sorted(rows)))
    print(
        f"\n{len(rows)} of {n_cells} cells that both have are below; {n_cells - len(rows)} are not."
    )


if __name__ == "__main__":
    main()
