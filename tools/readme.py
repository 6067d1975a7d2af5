"""Put a figure of the report and the best of each dataset into README.md, between its marks.

Under the scores stand the conditions in which they differ from the paper's.

cschoice report --format all && python tools/readme.py
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
REPORT = "results/report"
FIGURE = "figure-bars-subset"
# The report's tables that are read, by the beginnings of their captions.
_BEST, _CONDITIONS = "The best target measure", "What is compared"
_OTHERS, _RANGE = "Best here of others", "Range of "
_MARKS = _OTHER, _STALE = "†", "‡"


def rows_of(report: str, caption: str) -> list[dict[str, str]]:
    """Return the rows of a table of the report, each by column."""
    lines = _below(report, caption)[0].splitlines()
    head, _, *rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return [dict(zip(head, row, strict=True)) for row in rows]


def notes_of(report: str, caption: str) -> list[str]:
    """Return the notes under a table of the report."""
    return _below(report, caption)[1:]


def _below(report: str, caption: str) -> list[str]:
    """Return the paragraphs between a caption and the next caption, picture or heading."""
    found = re.search(rf"\n\*\*{caption}.*?\n\n(.*?)(?=\n\n(?:\*\*|!|## )|\Z)", report, re.DOTALL)
    if found is None:
        raise SystemExit(
            f"the report has no table '{caption} …': it does not stand beside the paper"
        )
    return found[1].strip().split("\n\n")


def results(report: str) -> str:
    """Return a table of the best scores, the paper's and ours, its marks and the conditions."""
    heads = "Dataset", "Best in the paper", "Best here of the paper's learners", "Best of others"
    lines, kind = [f"| {' | '.join(heads)} |", "| --- | --- | --- | --- |"], ""
    for row in rows_of(report, _BEST):
        kind = row["Problem"] or kind
        dataset, *stale = row["Dataset"].split(f" {_STALE}")
        name = f"{dataset}, {kind.partition(' ')[0].lower()}{f' {_STALE}' if stale else ''}"
        theirs = _scored(row["Paper's best"], row["Paper"])
        ours = _scored(row[heads[2]], row["Ours"], row[""])
        lines.append(f"| {name} | {theirs} | {ours} | {_scored(row[_OTHERS], row['Score'])} |")
    marks = [note for note in notes_of(report, _BEST) if note[0] in _MARKS]
    what = "The study differs from the paper's, stale results only in part:"
    return "\n\n".join(["\n".join(lines), *marks, what, conditions(report)])


def _scored(learner: str, score: str, verdict: str = "") -> str:
    return f"{learner}: {score}{f', {verdict}' if verdict else ''}" if learner else ""


def conditions(report: str) -> str:
    """Return a line for each condition that differs from the paper's, one for all ranges."""
    lines, narrowed = [], []
    for row in rows_of(report, _CONDITIONS):
        name, here, theirs = row["Condition"], row["Here"], row["In the paper"]
        if name.startswith(_RANGE):
            narrowed.append(name.removeprefix(_RANGE))
        elif theirs and here != theirs:
            lines.append(f"- {name}: {here} (paper: {theirs})")
    if narrowed:
        lines.append(f"- Narrower ranges than in the paper: {', '.join(narrowed)}")
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
