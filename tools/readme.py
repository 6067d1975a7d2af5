"""Put a figure of the report and the winner of each dataset into README.md, between its marks.

cschoice report --format all && python tools/readme.py
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
REPORT = "results/report"
FIGURE = "figure-bars-subset"
_WINNERS = "Who wins"
# Columns of the report's table of winners.
_KIND, _DATASET, _OURS, _SCORE = "Problem", "Dataset", "Winner", "Target"
_PAPERS, _PAPERS_SCORE = "Paper's best", "Its target"


def rows_of(report: str) -> list[dict[str, str]]:
    """Return the rows of the report's table of winners, each by column."""
    (section,) = [part for part in report.split("\n## ") if part.startswith(_WINNERS)]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    head, _, *rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return [dict(zip(head, row, strict=True)) for row in rows]


def results(report: str) -> str:
    """Return a table of three columns: the dataset, the best learner here, the paper's."""
    lines, kind = ["| Dataset | Best here | Best in the paper |", "| --- | --- | --- |"], ""
    for row in rows_of(report):
        kind = row[_KIND] or kind
        dataset = f"{row[_DATASET]}, {kind.partition(' ')[0].lower()}"
        ours, papers = f"{row[_OURS]}: {row[_SCORE]}", f"{row[_PAPERS]}: {row[_PAPERS_SCORE]}"
        lines.append(f"| {dataset} | {ours} | {papers} |")
    return "\n".join(lines)


def figure(report: str) -> str:
    """Return the figure with its caption, as the report shows it."""
    found = re.search(rf"!\[[^\n]*\]\({FIGURE}\.svg\)", report)
    if found is None:
        raise SystemExit(f"the report has no {FIGURE}.svg: run 'cschoice report --format all'")
    return found[0].replace("](", f"]({REPORT}/")


def updated(readme: str, report: str) -> str:
    """Return the README with the report's figure and results between the marks."""
    for name, text in (("figure", figure(report)), ("results", results(report))):
        begin, end = (f"<!-- {name} of the report: {mark} -->" for mark in ("begin", "end"))
        before, _, rest = readme.partition(begin)
        _, _, after = rest.partition(end)
        readme = f"{before}{begin}\n\n{text}\n\n{end}{after}"
    return readme


def main() -> None:
    """Write README.md."""
    path = ROOT / "README.md"
    path.write_text(updated(path.read_text(), (ROOT / REPORT / "report.md").read_text()))


if __name__ == "__main__":
    main()
