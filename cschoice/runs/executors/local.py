"""Jobs on this machine: one process per job, one slot per GPU or CPU core.

A process per job, because anything shared falls with the first one that is killed. Each sees one
device only, chosen before it starts, and has as many threads as its job says.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import selectors
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from cschoice.errors import InvalidParameter
from cschoice.io.files import explained, make_folder, open_own
from cschoice.learners import LEARNERS
from cschoice.runs.executors import Executor, ExecutorSettings, OnEvent, Outcome, log_tail
from cschoice.runs.executors.processes import Process, processes
from cschoice.runs.records import Job
from cschoice.runs.store import ResultStore
from cschoice.runs.worker import EXIT_BUSY, EXIT_UNUSABLE, arguments


@dataclass(frozen=True)
class Slot:
    """A place for one process at a time."""

    name: str  # what people see: cpu:0, cuda:1
    device: str  # what the process is told: cpu, cuda
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def visibility(self) -> frozenset[tuple[str, str]]:
        """Return the settings of visible devices; slots with equal ones share a server of forks."""
        return frozenset(self.environment.items())


def local_slots(device: str, n_workers: int | None) -> list[Slot]:
    """Return the slots of this machine: GPUs if wanted and there, else CPU cores.

    ``n_workers`` is the number of processes at once; more than GPUs share them in turn.
    """
    if not re.fullmatch(r"auto|cpu|mps|cuda(:\d+)?", device):
        raise InvalidParameter(f"device must be auto, cpu, cuda, cuda:1 or mps, got '{device}'")
    gpus = _visible_gpus() if device == "auto" or device.startswith("cuda") else []
    if device.startswith("cuda"):
        number = int(device[5:] or 0)
        if number >= len(gpus):
            raise InvalidParameter(f"device {device} is not there: {len(gpus)} GPUs are visible")
        gpus = gpus[number : number + 1] if device != "cuda" else gpus
    if gpus:
        return [
            Slot(
                f"cuda:{gpus[k % len(gpus)]}",
                "cuda",
                {
                    "CUDA_VISIBLE_DEVICES": gpus[k % len(gpus)],
                    "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
                },
            )
            for k in range(n_workers or len(gpus))
        ]
    name = "cpu" if device == "auto" else device
    return [Slot(f"{name}:{k}", name) for k in range(n_workers or _n_cores())]


def _visible_gpus() -> list[str]:
    """Return the GPUs that CUDA_VISIBLE_DEVICES may name, without loading torch."""
    given = os.environ.get("CUDA_VISIBLE_DEVICES")
    if given is not None:  # a -1 ends the list
        return list(itertools.takewhile(lambda name: name not in ("", "-1"), given.split(",")))
    try:
        listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return [str(k) for k, line in enumerate(listed.stdout.splitlines()) if line.startswith("GPU")]


def _n_cores() -> int:
    given = os.environ.get("SLURM_CPUS_PER_TASK")
    if given:
        return int(given)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def local(store: ResultStore, settings: ExecutorSettings) -> Executor:
    """Return the executor with these settings."""
    slots = local_slots(settings.device, settings.workers)
    return LocalExecutor(
        store,
        slots,
        keep_predictions=settings.keep_predictions,
        job_timeout=settings.job_timeout,
        notify=settings.notify,
    )


@dataclass
class _Running:
    job: Job
    slot: Slot
    process: Process
    log: Path
    heard: bytes = b""
    heard_at: float = field(default_factory=time.monotonic)
    silent: float | None = None  # seconds, if it was ended for it

    @property
    def channel(self) -> IO[bytes]:
        assert self.process.stdout is not None
        return self.process.stdout

    def listen(self, on_event: OnEvent) -> bool:
        """Pass on the events of the process; False when it has closed its end."""
        data = os.read(self.channel.fileno(), 65_536)
        self.heard_at = time.monotonic()
        *lines, self.heard = (self.heard + data).split(b"\n")
        for line in lines:
            on_event(self.job, self.slot.name, json.loads(line))
        return bool(data)

    def end(self) -> int:
        """Wait for the process and return its exit code."""
        self.channel.close()
        return self.process.wait()

    def how_it_ended(self, code: int) -> str:
        """Describe the end of a process that did not end by itself."""
        if self.silent is not None:
            return f"ended after {self.silent:.0f} s without a sign of progress"
        return f"killed by signal {-code}" if code < 0 else f"exit code {code}"


class LocalExecutor:
    """One process per job: a crash costs only its own job.

    A job whose process is killed goes on once more in the same run. With ``job_timeout``, a process
    from which nothing was heard for so many seconds (no trial, no epoch) is killed, too.
    """

    def __init__(
        self,
        store: ResultStore,
        slots: Sequence[Slot],
        *,
        keep_predictions: bool = False,
        job_timeout: float | None = None,
        notify: Callable[[str], None] = print,
    ) -> None:
        self.store, self.slots, self.keep_predictions = store, list(slots), keep_predictions
        self.job_timeout, self.notify = job_timeout, notify
        self._running: list[_Running] = []
        # What a process sees of the machine is decided before it loads anything.
        self._processes = {slot.visibility: processes(slot.environment) for slot in self.slots}

    def run(self, jobs: Sequence[Job], on_event: OnEvent) -> Iterator[Outcome]:
        """Keep every slot busy until all jobs were run; stopping the iteration stops them."""
        waiting, free = list(jobs), list(self.slots)
        killed: set[Job] = set()  # each gets a second chance
        with selectors.DefaultSelector() as selector:
            try:
                while waiting or self._running:
                    while waiting and free:
                        running = self._start(waiting.pop(0), free.pop(0))
                        selector.register(running.channel, selectors.EVENT_READ, running)
                        on_event(running.job, running.slot.name, {"event": "started"})
                    for key, _ in selector.select(self._end_silent()):
                        running = key.data
                        if running.listen(on_event):
                            continue
                        selector.unregister(key.fileobj)
                        self._running.remove(running)
                        free.append(running.slot)
                        code = running.end()
                        if code < 0 and running.job not in killed:
                            killed.add(running.job)
                            waiting.insert(0, running.job)
                            how = running.how_it_ended(code)
                            self.notify(f"{running.job.label} goes on again; its process: {how}")
                            continue
                        yield self._outcome(running, code)
            finally:
                self._stop_all()

    def _start(self, job: Job, slot: Slot) -> _Running:
        folder = self.store.folder(job)
        log = folder / "log.txt"
        words = arguments(self.store, job, slot.device, self.keep_predictions)
        with explained(log):
            make_folder(folder)
            output = open_own(log, "a")  # someone else may be writing to it
        with output as file:
            heavy = LEARNERS[job.registered].learner.costly
            process = self._processes[slot.visibility].start(words, file, heavy=heavy)
        running = _Running(job, slot, process, log)
        self._running.append(running)
        return running

    def _end_silent(self) -> float | None:
        """Kill the processes that are silent for too long; return when to look again."""
        if self.job_timeout is None:
            return None
        now = time.monotonic()
        for running in self._running:
            silence = now - running.heard_at
            if silence > self.job_timeout and running.silent is None:
                running.silent = silence
                running.process.kill()
        speaking = [running.heard_at for running in self._running if running.silent is None]
        return max(0.1, min(speaking) + self.job_timeout - now) if speaking else None

    def _outcome(self, running: _Running, code: int) -> Outcome:
        device = running.slot.name
        if code == 0:
            return Outcome(running.job, "finished", device)
        if code == EXIT_BUSY:
            return Outcome(running.job, "busy", device)
        end_of_log = log_tail(running.log)
        if code == EXIT_UNUSABLE:
            return Outcome(running.job, "unusable", device, end_of_log)
        how = running.how_it_ended(code)
        return Outcome(
            running.job, "died", device, f"its process ended: {how}\n{end_of_log}".strip()
        )

    def _stop_all(self) -> None:
        """End all processes; their files keep the finished trials."""
        for group in self._processes.values():
            group.stop()
        for running in self._running:
            running.end()
        self._running.clear()
