"""Commands in forks of one process that has loaded everything: many tries in little time.

    python tests/faults/forks.py < requests > answers

Each line is a request, and each answer too, as JSON. A fork may not use more than so much memory
and time, is killed after a while if that is asked for, and takes its own children with it.
"""

import json
import os
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

PATIENCE = 60.0  # seconds: a command on such small files that takes longer hangs
MEMORY = 6 << 30


@dataclass(frozen=True)
class Ended:
    """The end of a command."""

    how: str  # "ended", "killed" as was asked for, or "hangs"
    code: int
    out: str
    err: str


class Forks:
    """The process that is forked, as seen by the one that asks for forks."""

    def __init__(self) -> None:
        self._server = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "200"},
        )

    def run(
        self,
        folder: Path,
        *words: str,
        kill_after: float | None = None,
        kill_at: Path | None = None,
    ) -> Ended:
        """Run the command in a folder; kill it after so many seconds, or when a file is there."""
        request = {
            "folder": str(folder),
            "words": words,
            "kill_after": kill_after,
            "kill_at": None if kill_at is None else str(kill_at),
        }
        self._server.stdin.write(json.dumps(request) + "\n")
        self._server.stdin.flush()
        return Ended(**json.loads(self._server.stdout.readline()))

    def close(self) -> None:
        """End the process."""
        self._server.stdin.close()
        self._server.wait()
        self._server.stdout.close()


def _serve() -> None:
    from cschoice_cli.main import app

    from cschoice.datasets import DATASETS
    from cschoice.learners import LEARNERS
    from cschoice.registry import load

    loaded = [LEARNERS[name].learner for name in LEARNERS.written]
    loaded += [load(DATASETS[name].source) for name in DATASETS.written]

    for line in sys.stdin:
        request = json.loads(line)
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            pid = os.fork()
            if pid == 0:
                _work(app, request, out.fileno(), err.fileno())
            how, code = _end(pid, request["kill_after"], request["kill_at"])
            texts = [_content(file) for file in (out, err)]
        sys.stdout.write(json.dumps(asdict(Ended(how, code, *texts))) + "\n")
        sys.stdout.flush()


def _work(app, request, out, err) -> None:
    code = 1
    try:
        os.setsid()
        with open(os.devnull) as nothing:  # noqa: PTH123
            os.dup2(nothing.fileno(), 0)
        os.dup2(out, 1)
        os.dup2(err, 2)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        os.chdir(request["folder"])
        sys.argv = ["cschoice", *request["words"]]
        app()
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else int(bool(error.code))
    except BaseException:  # noqa: BLE001
        import traceback

        traceback.print_exc()
    finally:
        with suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _end(pid: int, kill_after: float | None, kill_at: str | None) -> tuple[str, int]:
    """Wait for the end of a fork; kill it, with its children, when its time is over."""
    deadline = time.monotonic() + (PATIENCE if kill_after is None else kill_after)
    watched = os.pidfd_open(pid)
    ready: list[int] = []
    while not ready and (left := deadline - time.monotonic()) > 0:
        if kill_at is not None and os.path.exists(kill_at):  # noqa: PTH110
            break
        ready, _, _ = select.select([watched], [], [], left if kill_at is None else 0.001)
    os.close(watched)
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    if ready:
        return "ended", os.waitstatus_to_exitcode(status)
    return ("hangs" if kill_after is None and kill_at is None else "killed"), -signal.SIGKILL


def _content(file) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")


if __name__ == "__main__":
    _serve()
