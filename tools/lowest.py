"""Print pip constraints: the lowest version of each requirement that pyproject.toml allows.

torch stays at its version in constraints.txt: the package index has its older releases for GPUs
only, some gigabytes each.
"""

from __future__ import annotations

import re
import tomllib
from itertools import chain
from pathlib import Path

_ROOT = Path(__file__).parents[1]
_EXTRAS = ("dev", "hypervolume", "slurm", "trees")
_REQUIREMENT = re.compile(r"(?P<name>[\w-]+)>=(?P<version>[\w.]+)")


def main() -> None:
    """Print one pin per line."""
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = (project["optional-dependencies"][name] for name in _EXTRAS)
    for text in chain(project["dependencies"], *extras):
        found = _REQUIREMENT.match(text)
        if found and found["name"] != "torch":
            print(f"{found['name']}=={found['version']}")
    tested = (_ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    print(*(line for line in tested if line.startswith("torch==")))


if __name__ == "__main__":
    main()
