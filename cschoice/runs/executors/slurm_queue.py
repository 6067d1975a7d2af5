"""SLURM's answers: its queue, its limits, its last words about a job.

Only ``squeue`` and ``scontrol`` are relied on, which every cluster has. ``sacct``, which needs an
accounting database, is asked for last words where the controller has forgotten them.
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass

from cschoice.errors import ClusterError

_PATIENCE = 120.0  # seconds; a busy controller is slow, and its clients try for a while
_FORMAT = "%j|%F|%K|%T|%N|%r"

# What a task is in when it will not run again by itself. Whatever else there is, is on its way.
ENDED = {
    "BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY",
    "PREEMPTED", "REVOKED", "SPECIAL_EXIT", "TIMEOUT",
}  # fmt: skip


@dataclass(frozen=True)
class Task:
    """One element of a job array, as SLURM sees it now."""

    batch: str  # the array's name
    array: str
    index: int
    id: str  # what SLURM's commands call it
    state: str
    node: str
    reason: str

    @property
    def active(self) -> bool:
        """Return whether the task runs, or will run by itself."""
        return self.state not in ENDED


@dataclass(frozen=True)
class Limits:
    """The name of the cluster and the length of its arrays."""

    cluster: str
    array_size: int


def queue() -> list[Task]:
    """Return all tasks of this user: waiting, running, and ended a short while ago."""
    listed = ask("squeue", "--me", "--array", "--states=all", "--noheader", f"--format={_FORMAT}")
    return [parse(line) for line in listed.splitlines()]


def parse(line: str) -> Task:
    """Read a line of squeue.

    >>> parse("cschoice-lab-1f|17|3|PENDING||Resources").id
    '17_3'
    >>> parse("alone|18|N/A|RUNNING|n1|None").id
    '18'
    """
    batch, array, index, state, node, reason = line.split("|", 5)
    task_id = f"{array}_{index}" if index.isdigit() else array
    return Task(batch, array, int(index) if index.isdigit() else 0, task_id, state, node, reason)


def limits() -> Limits:
    """Ask for the limits."""
    config = ask("scontrol", "show", "config")
    values = dict(re.findall(r"^(\w+) *= (\S+)", config, re.MULTILINE))
    return Limits(values.get("ClusterName", "slurm"), int(values.get("MaxArraySize", 1_001)))


def last_words(task_id: str) -> str:
    """Return how SLURM says a task ended; empty if it has forgotten."""
    try:
        answer = ask("scontrol", "--oneliner", "show", "job", task_id)
        found = dict(re.findall(r"(?<!\S)(JobState|Reason|ExitCode|NodeList)=(\S+)", answer))
        words = [found["JobState"], found["Reason"], found["ExitCode"], found["NodeList"]]
    except (ClusterError, KeyError):
        try:
            form = "--format=State,Reason,ExitCode,NodeList"
            answer = ask("sacct", "-nPX", form, "-j", task_id).strip()
        except ClusterError:
            return ""
        words = answer.splitlines()[-1].split("|") if answer else []
    if len(words) != 4:
        return ""
    state, reason, code, node = words
    return f"{state} ({reason}), exit code {code}, on {node}"


def requeue(task_id: str) -> None:
    """Have a task run again, one that ended too: its array's limits stay in force."""
    ask("scontrol", "requeue", task_id)


def cancel(*which: str) -> None:
    """End tasks; those that are over already do no harm."""
    for start in range(0, len(which), 500):  # no command line is endless
        ask("scancel", "--quiet", *which[start : start + 500])


def ask(*command: str) -> str:
    """Run one of SLURM's commands and return its answer."""
    # What people set for their own eyes would filter what we see.
    plain = {name: value for name, value in os.environ.items() if not name.startswith("SQUEUE_")}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_PATIENCE, env=plain, check=True
        )
    except FileNotFoundError:
        raise ClusterError(
            f"'{command[0]}' is not there: --executor slurm works where SLURM's commands do"
        ) from None
    except subprocess.TimeoutExpired:
        raise ClusterError(f"'{command[0]}' gave no answer in {_PATIENCE:.0f} seconds") from None
    except subprocess.CalledProcessError as error:
        answer = " ".join((error.stderr or error.stdout).split())
        raise ClusterError(
            f"'{command[0]}' failed: {answer or f'exit code {error.returncode}'}"
        ) from (None)
    return done.stdout
