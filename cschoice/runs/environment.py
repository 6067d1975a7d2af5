"""The machine, the versions and the commit that a result comes from."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path

UNKNOWN = "unknown"
CHANGED = "+changes"  # after the commit of files that differ from it

# The part of a cluster; numbers of jobs are in their logs.
_SLURM = ("SLURM_CLUSTER_NAME", "SLURM_JOB_PARTITION", "SLURMD_NODENAME")
_PACKAGES = ("cschoice", "numpy", "scikit-learn", "scikit-optimize", "scipy", "torch")
_PACKAGE = Path(__file__).parents[1]
_LONGEST_WAIT = 10.0  # seconds for git, on a slow file system


def environment(device: str) -> dict[str, str]:
    """Return the machine and the versions, which may change a number's last digits."""
    return {
        "commit": commit(),
        "host": platform.node(),
        "machine": f"{platform.system()} {platform.machine()}",
        "cpu": _cpu(),
        "python": sys.version.split()[0],
        "device": device,
        **_gpu(device),
        **{name: os.environ[name] for name in _SLURM if name in os.environ},
        **_versions(),
    }


@cache
def _versions() -> dict[str, str]:
    return {package: version(package) for package in _PACKAGES}


def origin(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the commit, version, node and processor of a result; unknown where not recorded.

    >>> origin({"cschoice": "0.1.0", "host": "n17"})
    {'commit': 'unknown', 'version': '0.1.0', 'node': 'n17', 'processor': 'unknown'}
    """
    names = {"commit": "commit", "version": "cschoice", "node": "host", "processor": "cpu"}
    return {column: environment.get(name) or UNKNOWN for column, name in names.items()}


@cache
def commit(package: Path = _PACKAGE) -> str:
    """Return the commit of the package's files, marked if they were changed since.

    It comes from git where the files are under version control, else from the record of an
    installation from a repository.
    """
    # A folder may lie in the repository of another project, which does not track it.
    if not package.exists() or _git(package, "ls-files", "--error-unmatch", "__init__.py") is None:
        return _installed_commit()
    found = _git(package, "rev-parse", "HEAD")
    changes = _git(package, "status", "--porcelain", "--untracked-files=no", ".")
    return f"{found}{CHANGED if changes else ''}" if found else UNKNOWN


def _git(folder: Path, *words: str) -> str | None:
    """Return the answer of git; None if it has none, or is not there."""
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *words],
            capture_output=True, text=True, check=True, timeout=_LONGEST_WAIT,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def _installed_commit() -> str:
    """Return the commit that pip recorded (PEP 610); unknown for a release."""
    try:
        recorded = distribution("cschoice").read_text("direct_url.json")
        return str(json.loads(recorded or "{}")["vcs_info"]["commit_id"])
    except (PackageNotFoundError, ValueError, KeyError):
        return UNKNOWN


@cache
def _cpu() -> str:
    """Return the processor's name: its kind decides the last digits."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "")


def _gpu(device: str) -> dict[str, str]:
    """Return the GPU's name and its number in the machine."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    found = {} if visible is None else {"CUDA_VISIBLE_DEVICES": visible}
    if device.startswith("cuda"):
        import torch

        if torch.cuda.is_available():
            found |= {"gpu": torch.cuda.get_device_name(), "cuda": str(torch.version.cuda)}
    return found
