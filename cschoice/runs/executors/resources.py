"""The executor of a study and the resources of a job on a cluster: ``executor:`` in the YAML."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

# All others tie a job to its files and to its place in the queue, or run what they are given.
_ALLOWED = {
    "acctg-freq", "begin", "comment", "constraint", "contiguous", "core-spec", "cores-per-socket",
    "cpu-freq", "cpus-per-gpu", "deadline", "distribution", "exclude", "exclusive", "gpu-bind",
    "gpu-freq", "gpus", "gpus-per-node", "gpus-per-socket", "gpus-per-task", "gres", "gres-flags",
    "hint", "licenses", "mail-type", "mail-user", "mcs-label", "mem-bind", "mem-per-cpu",
    "mem-per-gpu", "mincpus", "network", "nice", "nodelist", "nodes", "ntasks-per-core",
    "ntasks-per-node", "ntasks-per-socket", "oversubscribe", "power", "prefer", "priority",
    "profile", "qos", "reservation", "sockets-per-node", "spread-job", "switches", "thread-spec",
    "threads-per-core", "time-min", "tmp", "use-min-nodes", "wckey",
}  # fmt: skip
# One word: what follows a blank or a line break would be another option, or a command.
_WORD = r"[\w.,:;@%/*+=()&|!\[\]-]{1,1000}"


def _memory(text: Any) -> str:
    if not (isinstance(text, str) and re.fullmatch(r"[0-9]{1,15}[KMGT]", text)):
        raise ValueError("memory is a whole number with K, M, G or T, such as 8G")
    return text


def _time_limit(text: Any) -> str:
    form = r"[0-9]{1,9}|[0-9]{1,9}(:[0-9]{1,9}){1,2}|[0-9]{1,6}-[0-9]{1,9}(:[0-9]{1,9}){0,2}"
    if not (isinstance(text, str) and re.fullmatch(form, text) and _minutes(text)):
        raise ValueError(
            "a time limit is '[days-]hours:minutes:seconds' in quotes, such as '12:00:00' "
            "(without them, YAML makes a number of it)"
        )
    return text


def _minutes(text: str) -> int:
    days, dash, clock = text.rpartition("-")
    parts = clock.split(":")
    if not dash and len(parts) < 3:  # minutes or minutes:seconds
        parts = ["0", *parts]
    hours, minutes, seconds = (int(part) for part in [*parts, "0", "0"][:3])
    return (int(days or 0) * 24 + hours) * 60 + minutes + -(-seconds // 60)


def _one_word(value: Any) -> Any:
    if isinstance(value, str) and not re.fullmatch(_WORD, value, re.ASCII):
        raise ValueError("this must be one word of letters, digits and the usual signs")
    return value


def _sbatch(options: dict[str, Any]) -> dict[str, Any]:
    named = {name.lstrip("-").replace("_", "-"): value for name, value in options.items()}
    if others := sorted(set(named) - _ALLOWED):
        allowed = ", ".join(sorted(_ALLOWED))
        raise ValueError(f"{', '.join(others)!r} cannot be set here; allowed are {allowed}")
    for name, value in named.items():
        if isinstance(value, str) and not re.fullmatch(_WORD, value, re.ASCII):
            raise ValueError(f"{name} must be one word of letters, digits and the usual signs")
    return named


Word = Annotated[str, AfterValidator(_one_word)]


class Resources(BaseModel):
    """The name of an executor; the other fields, but for its options, are requests to SLURM."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = "local"  # a row of EXECUTORS
    options: dict[str, Any] = {}  # of an executor of another package
    partition: Word | None = None
    account: Word | None = None
    gpus: Annotated[int, Field(ge=0, le=10_000)] = 0
    cpus: Annotated[int, Field(ge=1, le=100_000)] = 1
    mem: Annotated[str, BeforeValidator(_memory)] | None = None
    time: Annotated[str, BeforeValidator(_time_limit)] = "12:00:00"
    # At once; as many as SLURM allows.
    max_jobs: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    sbatch: Annotated[dict[str, bool | int | str], AfterValidator(_sbatch)] = {}

    @property
    def minutes(self) -> int:
        """Return the time limit in whole minutes, as SLURM reads it.

        >>> [Resources(time=t).minutes for t in ("90", "90:30", "12:00:00", "1-12", "2-00:30")]
        [90, 91, 720, 2160, 2910]
        """
        return _minutes(self.time)
