"""The display of a run: a live table on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from rich.console import Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from cschoice.evaluation.metrics import headline
from cschoice.runs.executors import Outcome
from cschoice.runs.records import Job, Record, State

from .console import say, talk

_LONG = 30.0  # seconds without an event; many a fit takes as long
_MARKS = {State.DONE: "✓", State.SKIPPED: "–", State.FAILED: "✗"}


class Display:
    """One line per finished job; above it, on a terminal, the running jobs."""

    def __init__(self, n_jobs: int) -> None:
        self._n_jobs, self._n_done = n_jobs, 0
        self._started = time.monotonic()
        self._running: dict[Job, dict[str, Any]] = {}
        self._queued: dict[Job, str] = {}  # and why they wait
        self._live = Live(console=talk, get_renderable=self._render, transient=True)

    def __enter__(self) -> Self:
        if talk.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._live.stop()

    def on_event(self, job: Job, device: str, event: Mapping[str, Any]) -> None:
        """Take note of a job's event."""
        if event.get("event") == "queued":
            self._queued[job] = event["reason"]
            self._running.pop(job, None)
            return
        self._queued.pop(job, None)
        known = self._running.setdefault(job, {"since": time.monotonic()})
        known["device"] = device
        known["heard"] = time.monotonic()
        known.update(event)

    def finished(self, outcome: Outcome, record: Record | None) -> None:
        """Print the line of a finished job, unless another run does."""
        since = self._running.pop(outcome.job, {}).get("since", time.monotonic())
        self._queued.pop(outcome.job, None)
        self._n_done += 1
        if outcome.ended == "elsewhere":
            return
        line = _line(outcome, record, time.monotonic() - since)
        say(line)  # one line in a log, too

    def _render(self) -> Group:
        table = Table("job", "device", "trial", "epoch", "so far", "since", "silent", box=None)
        n_rows = max(1, talk.height - 6)  # more would push the bar off the screen
        for job, known in list(self._running.items())[:n_rows]:
            table.add_row(
                job.label,
                known["device"],
                _trial(job, known),
                f"{known['epoch']:.0f}" if "epoch" in known else "",
                _so_far(known),
                duration(time.monotonic() - known["since"]),
                _silence(time.monotonic() - known["heard"]),
            )
        if len(self._running) > n_rows:
            table.add_row(f"… {len(self._running) - n_rows} more")
        elapsed = time.monotonic() - self._started
        text = f"{self._n_done} of {self._n_jobs} jobs, {duration(elapsed)}"
        if self._queued:
            reason, _ = Counter(self._queued.values()).most_common(1)[0]
            text += f", {len(self._queued)} queued ({reason})"
        if self._n_done:
            left = elapsed / self._n_done * (self._n_jobs - self._n_done)
            text += f", about {duration(left)} left"
        bar = ProgressBar(total=max(1, self._n_jobs), completed=self._n_done, width=40)
        return Group(table, bar, Text(text))


def _trial(job: Job, known: Mapping[str, Any]) -> str:
    """Return which trial a job is at; before the first one its data may take a while."""
    if "number" in known:
        if known["number"] >= job.budget.n_trials:
            return "confirming"
        return f"{known['number'] + 1}/{job.budget.n_trials} {known['rung']}"
    return "data" if known.get("event") == "data" else ""


def _silence(seconds: float) -> str:
    """Return how long nothing was heard of a job, when that is long.

    >>> _silence(5), _silence(75)
    ('', '1 min 15 s')
    """
    return duration(seconds) if seconds >= _LONG else ""


def _so_far(known: Mapping[str, Any]) -> str:
    """Return the best loss of the trials, or the measure after the last epoch."""
    if known.get("best") is not None:
        return f"loss {known['best']:.4f}"
    return ", ".join(f"{name} {known[name]:.3f}" for name in headline(known))


def _line(outcome: Outcome, record: Record | None, seconds: float) -> str:
    """Return state, label, target and log-loss, trials, duration and device; or why not."""
    label = outcome.job.label
    if record is None:
        return f"✗ failed  {label}: no record was written"
    start = f"{_MARKS[record.state]} {record.state:<7} {label}"
    if record.state is not State.DONE:
        lines = (record.reason or "").strip().splitlines() or [""]
        return f"{start}: {lines[-1]}"
    shown = ", ".join(_measured(name, record.metrics[name]) for name in headline(record.metrics))
    trials = f"{record.n_trials} trial{'s' * (record.n_trials != 1)}, " if record.n_trials else ""
    return f"{start}: {shown}, {trials}{duration(seconds)}, {outcome.device}"


def _measured(name: str, value: float | None) -> str:
    return f"{name} {'undefined' if value is None else f'{value:.3f}'}"


def duration(seconds: float) -> str:
    """Return a duration for people.

    >>> duration(3.21), duration(75), duration(7_300), duration(200_000)
    ('3.2 s', '1 min 15 s', '2 h 1 min', '2 d 7 h')
    """
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    seconds = round(seconds)
    if seconds < 3_600:
        return f"{seconds // 60:.0f} min {seconds % 60:.0f} s"
    if seconds < 86_400:
        return f"{seconds // 3_600:.0f} h {seconds % 3_600 // 60:.0f} min"
    return f"{seconds // 86_400:.0f} d {seconds % 86_400 // 3_600:.0f} h"
