"""Print the tables of docs/SPEED.md again, between their marks, with processor and date.

Each block of the page between ``<!-- COMMAND: begin -->`` and ``<!-- COMMAND: end -->`` is replaced
by what the command prints; a command that fails leaves its block as it was. ``--only`` names a part
of the commands to run.

    python tools/speed.py [--only networks]
"""

from __future__ import annotations

import argparse
import datetime
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "SPEED.md"
_BLOCK = re.compile(r"<!-- (?P<command>.+?): begin -->\n.*?<!-- (?P=command): end -->", re.DOTALL)


def processor() -> str:
    """Return the processor's name."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    return next((line.split(": ")[1] for line in lines if line.startswith("model name")), "?")


def printed(command: str) -> str | None:
    """Return what a command prints, of Python scripts in this repository; None if it fails."""
    script, *words = shlex.split(command.removeprefix("python "))
    done = subprocess.run(
        [sys.executable, script, *words], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    return done.stdout if done.returncode == 0 else None


def updated(page: str, only: str = "", when: str = "") -> str:
    """Return the page with the blocks of these commands printed again."""

    def again(block: re.Match[str]) -> str:
        command = block["command"]
        if only not in command:
            return block[0]
        print(command, flush=True)
        text = printed(command)
        if text is None:
            print(f"failed, the block stays: {command}", flush=True)
            return block[0]
        shown = f"{when}\n\n```text\n{text.strip()}\n```"
        return f"<!-- {command}: begin -->\n\n{shown}\n\n<!-- {command}: end -->"

    return _BLOCK.sub(again, page)


def main() -> None:
    """Write docs/SPEED.md."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="a part of the commands to run")
    given = parser.parse_args()
    when = f"{processor()}, {datetime.datetime.now(datetime.UTC):%Y-%m-%d}:"
    PAGE.write_text(updated(PAGE.read_text(), given.only, when))


if __name__ == "__main__":
    main()
