"""Print the cells of the study that are below the paper, by the rule of the report.

python tools/below.py [results]
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from cschoice.report.compute.agreement import Agreement, welch
from cschoice.report.compute.summary import summarize

RESULTS = Path(__file__).parent.parent / "results"


def main() -> None:
    """Print a table in Markdown, and the number of cells by how they agree with the paper's."""
    results = Path(sys.argv[1]) if len(sys.argv) > 1 else RESULTS
    counts: Counter[str] = Counter()
    print("| dataset | learner | ours | paper | difference | p |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    for result in summarize(results, "laptop").results:
        ours, theirs = result.on_target.ours, result.on_target.paper
        if ours is None or theirs is None:
            continue
        counts[result.on_target.verdict] += 1
        if result.on_target.verdict == Agreement.BELOW:
            found = welch(ours, theirs)
            p = "< 0.001" if found.p < 0.001 else f"{found.p:.3f}"
            names = f"{result.dataset} | {result.learner}"
            print(f"| {names} | {ours} | {theirs} | {found.difference:+.3f} | {p} |")
    told = ", ".join(f"{counts[one]} {one}" for one in Agreement if counts[one])
    print(f"\nOf {counts.total()} cells with a target measure of both: {told}.")


if __name__ == "__main__":
    main()
