"""Put the main table and two figures of the report into README.md, between its two marks.

cschoice report --format all && python tools/readme.py
"""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parent.parent
REPORT = "results/report"
BEGIN, END = "<!-- from the report: begin -->", "<!-- from the report: end -->"
FIGURES = ("figure-bars-subset", "figure-recipes-accuracy")


def excerpt(report: str) -> str:
    """Return the sentences on the whole study, the winners and the figures, as in the report."""
    parts = (part.partition("\n") for part in report.split("\n## ")[1:])
    sections = {title: text.strip() for title, _, text in parts}
    shown = {
        line.rpartition("](")[2].removesuffix(".svg)"): line.replace("](", f"]({REPORT}/")
        for line in report.splitlines()
        if line.startswith("![")
    }
    pictures = [shown[figure] for figure in FIGURES]  # a report without them is not the one meant
    return "\n\n".join([sections["Summary"], sections["Who wins"], *pictures])


def updated(readme: str, report: str) -> str:
    """Return the README with the report's words between the marks."""
    before, _, rest = readme.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{excerpt(report)}\n\n{END}{after}"


def main() -> None:
    """Write README.md."""
    path = ROOT / "README.md"
    path.write_text(updated(path.read_text(), (ROOT / REPORT / "report.md").read_text()))


if __name__ == "__main__":
    main()
