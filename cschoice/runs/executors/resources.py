"""The executor of a study and the resources of a job on a cluster: ``executor:`` in the YAML."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

# They tie a job to its files and to its place in the queue.
_OURS = {
    "array", "clusters", "dependency", "error", "job-name", "no-requeue", "open-mode", "output",
    "parsable", "requeue", "signal", "test-only", "wait", "wrap",
}  # fmt: skip


def _memory(text: Any) -> str:
    if not (isinstance(text, str) and re.fullmatch(r"\d+[KMGT]", text)):
        raise ValueError("memory is a whole number with K, M, G or T, such as 8G")
    return text


def _time_limit(text: Any) -> str:
    form = r"\d+|\d+(:\d+){1,2}|\d+-\d+(:\d+){0,2}"
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


def _sbatch(options: dict[str, Any]) -> dict[str, Any]:
    named = {name.lstrip("-").replace("_", "-"): value for name, value in options.items()}
    if taken := _OURS & set(named):
        raise ValueError(f"cschoice itself sets {', '.join(sorted(taken))}: leave them out")
    return named


class Resources(BaseModel):
    """The name of an executor; the other fields, but for its options, are requests to SLURM."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = "local"  # a row of EXECUTORS
    options: dict[str, Any] = {}  # of an executor of another package
    partition: str | None = None
    account: str | None = None
    gpus: Annotated[int, Field(ge=0)] = 0
    cpus: Annotated[int, Field(ge=1)] = 1
    mem: Annotated[str, BeforeValidator(_memory)] | None = None
    time: Annotated[str, BeforeValidator(_time_limit)] = "12:00:00"
    max_jobs: Annotated[int, Field(ge=1)] | None = None  # at once; as many as SLURM allows
    sbatch: Annotated[dict[str, bool | int | str], AfterValidator(_sbatch)] = {}

    @property
    def minutes(self) -> int:
        """Return the time limit in whole minutes, as SLURM reads it.

        >>> [Resources(time=t).minutes for t in ("90", "90:30", "12:00:00", "1-12", "2-00:30")]
        [90, 91, 720, 2160, 2910]
        """
        return _minutes(self.time)
