"""Processes for jobs: forks of one that has loaded the packages they need, or fresh ones.

A process of its own protects a job from all others, but loading torch and scikit-optimize takes
a fresh one seconds, as long as many a job. So one process loads them once, does nothing else, and
is forked for each job. It runs no thread of its own and never touches a GPU: that is what makes
its forks as good as fresh processes. Elsewhere than on Linux, system libraries may not survive a
fork.

The fork server of the standard library does not do here: its children import the script that
started them, so that one which calls ``run_study`` would call it again in every job; there is one
per process, whose environment and list of modules to load are those of its first start, for
everybody; and its children write to the stderr of the server, not to a log of their own.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import select
import selectors
import signal
import socket
import subprocess
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import IO, Any, NoReturn, Protocol

from cschoice.io.processes import is_stopped, process_alive
from cschoice.runs import worker

# What a job loads sooner or later. The first four are loaded at once; the others, for learners
# that are trained and tuned at length, when the first of them comes. torch's optimizers load the
# last one.
_LIGHT = (
    "cschoice.runs.protocols.cross_validation",
    "cschoice.models.predictor",
    "cschoice.learners.ensemble",
    "pydantic",
)
_HEAVY = ("torch", "cschoice.nets.training", "skopt", "torch._dynamo")
_MESSAGE = 1 << 20  # bytes at most
_PATIENCE = 5.0  # seconds for the server to tell the number of a fork
# Training frees and asks for the same few megabytes all the time. Left to itself, the C library
# gives them back to the system, which then has to clear them again: up to a fifth of the time.
_KEEP_MEMORY = {"MALLOC_TRIM_THRESHOLD_": "1000000000", "MALLOC_MMAP_THRESHOLD_": "1000000000"}


class Process(Protocol):
    """A process of a job; its stdout ends when it does."""

    stdout: IO[bytes] | None

    def wait(self) -> int:
        """Wait for the end and return the exit code, negative for the signal that killed it."""
        ...

    def kill(self) -> None:
        """End it now, even if it is stopped."""
        ...


class Processes(Protocol):
    """Starts workers, all with the same environment, and stops them."""

    def start(self, words: Sequence[str], log: IO[Any], *, heavy: bool) -> Process:
        """Start a worker with these words; its stderr goes to the log."""
        ...

    def stop(self) -> None:
        """End all of them now; their files keep the finished trials."""
        ...


def processes(environment: Mapping[str, str]) -> Processes:
    """Return the fastest way to start workers that is safe here."""
    own = {**_KEEP_MEMORY, **os.environ, **environment}
    return ForkServer(own) if sys.platform == "linux" else Spawner(own)


class Spawner:
    """A fresh process for each job."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._started: list[subprocess.Popen[bytes]] = []

    def start(self, words: Sequence[str], log: IO[Any], *, heavy: bool) -> Process:
        """Start a worker with these words; its stderr goes to the log."""
        del heavy  # it loads what it needs
        process = subprocess.Popen(
            [*worker.PROGRAM, *words, "--parent", str(os.getpid())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            bufsize=0,
            env=self._environment,
            start_new_session=True,  # Ctrl-C reaches this process only, which stops the others
        )
        self._started = [one for one in self._started if one.poll() is None] + [process]
        return process

    def stop(self) -> None:
        """End all of them now."""
        for process in self._started:
            process.kill()
        for process in self._started:
            process.wait()


class Forked:
    """A fork of the server, which tells the number of the process and later its exit code."""

    def __init__(self, stdout: int, status: int, server: subprocess.Popen[bytes]) -> None:
        self.stdout: IO[bytes] | None = os.fdopen(stdout, "rb", buffering=0)
        self._status, self._server = status, server
        self._told = b""

    def kill(self) -> None:
        """End it now; where even the server does not answer, that one, and all its forks."""
        ready, _, _ = select.select([self._status], [], [], _PATIENCE)
        if ready and not self._told:
            self._told = os.read(self._status, 64)
        if self._told:
            with suppress(ProcessLookupError):
                os.kill(int(self._told.split()[0]), signal.SIGKILL)
        if not self._told or is_stopped(self._server.pid):
            self._server.kill()

    def wait(self) -> int:
        """Wait for the end and return the exit code, which the server, its parent, tells."""
        while self._told.count(b"\n") < 2 and (more := os.read(self._status, 64)):
            self._told += more
        os.close(self._status)
        pid, code = (*self._told.split(), None, None)[:2]
        if code is not None:
            return int(code)
        while pid is not None and process_alive(int(pid)):  # the server was killed: so is its fork
            time.sleep(0.01)
        return -signal.SIGKILL


class ForkServer:
    """The process that is forked, as seen by the one that asks for forks."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = {**environment, **worker.thread_settings(1)}
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None

    def start(self, words: Sequence[str], log: IO[Any], *, heavy: bool) -> Process:
        """Start a worker with these words; its stderr goes to the log."""
        control = self._running()
        assert self._process is not None
        events, tell_events = os.pipe()
        status, tell_status = os.pipe()
        request = json.dumps({"words": list(words), "heavy": heavy}).encode()
        # If the server is killed now, the closed pipes say so.
        with suppress(BrokenPipeError, ConnectionResetError):
            socket.send_fds(control, [request], [tell_events, log.fileno(), tell_status])
        os.close(tell_events)
        os.close(tell_status)
        return Forked(events, status, self._process)

    def stop(self) -> None:
        """End the server, and the kernel its forks."""
        if self._process is not None and self._control is not None:
            self._process.kill()
            self._process.wait()
            self._control.close()
            self._process = self._control = None

    def _running(self) -> socket.socket:
        """Return the way to the server, started if there is none (any more)."""
        if self._process is not None and self._process.poll() is not None:
            self.stop()
        if self._control is None:
            self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with theirs:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", __name__, str(theirs.fileno()), str(os.getpid())],
                    stdin=subprocess.DEVNULL,
                    env=self._environment,
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,
                )
        return self._control


def _serve(control: socket.socket) -> None:
    """Fork for every request, and tell how the forks ended, until nobody asks any more."""
    _load(_LIGHT)
    with selectors.DefaultSelector() as selector:
        selector.register(control, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj is not control:
                    selector.unregister(key.fileobj)
                    _tell_end(*key.data)
                    continue
                message, descriptors, _, _ = socket.recv_fds(control, _MESSAGE, 3)
                if not message:
                    return
                request = json.loads(message)
                if request["heavy"]:
                    _load(_HEAVY)
                fork = _fork(request["words"], descriptors)
                selector.register(fork[0], selectors.EVENT_READ, fork)


def _load(modules: Sequence[str]) -> None:
    for module in modules:
        with suppress(Exception):  # a fork will meet the same error, and has a log for it
            importlib.import_module(module)
    with suppress(Exception):
        worker.prepare()
    gc.freeze()  # forks share what none of them changes


def _fork(words: Sequence[str], descriptors: Sequence[int]) -> tuple[int, int, int]:
    """Start a fork; return a pipe that ends with it, its number, and the pipe for its exit code."""
    events, log, status = descriptors
    server = os.getpid()
    ended, alive = os.pipe()  # the fork never closes its side
    pid = os.fork()
    if pid == 0:
        _work([*words, "--parent", str(server)], events, log)
    for descriptor in (alive, events, log):
        os.close(descriptor)
    _tell(status, pid)
    return ended, pid, status


def _work(words: Sequence[str], events: int, log: int) -> NoReturn:
    """Be the worker, in a fork."""
    code = 1
    try:
        os.setsid()
        os.dup2(events, 1)
        os.dup2(log, 2)
        os.close(events)
        os.close(log)
        code = worker.main(words)
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
    except BaseException:  # noqa: BLE001
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def _tell_end(ended: int, pid: int, status: int) -> None:
    _, how = os.waitpid(pid, 0)
    _tell(status, os.waitstatus_to_exitcode(how))
    os.close(status)
    os.close(ended)


def _tell(status: int, number: int) -> None:
    with suppress(BrokenPipeError):
        os.write(status, f"{number}\n".encode())


if __name__ == "__main__":
    worker.die_with(int(sys.argv[2]))
    _serve(socket.socket(fileno=int(sys.argv[1])))
