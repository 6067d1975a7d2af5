"""The blocks of the documents: Python and what it prints, commands, parts of studies."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
ESTIMATES = ROOT / "docs/estimates.md"  # a page of its own kind: tests/test_estimates_page.py
PAGES = [ROOT / "README.md", *sorted({*(ROOT / "docs").glob("*.md")} - {ESTIMATES})]
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md")),
             ROOT / "examples/plugin/README.md"]  # fmt: skip


def blocks(page):
    """Yield the language and the text of each block, in order."""
    for found in re.finditer(r"^```(\w*)\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE):
        yield found[1], found[2]


def commands(block, prompt=""):
    """Return the command lines of a block without their comments, continued lines joined."""
    lines = block.replace("\\\n", " ").splitlines()
    lines = [line.removeprefix(prompt) for line in lines if line.startswith(prompt)]
    return [line.split("  #")[0].strip() for line in lines if line.startswith("cschoice ")]
