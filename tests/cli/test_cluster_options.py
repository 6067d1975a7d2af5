"""The messages of ``cschoice run`` about SLURM where there is none."""

import importlib.util
from pathlib import Path

import pytest
import typer
from cschoice_cli import cluster
from cschoice_cli.cluster import OnExit, leave_or_cancel

from cschoice.errors import ClusterError
from cschoice.runs.executors import slurm_queue


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("--partition gpu --max-jobs 3", "for --executor slurm only: --partition, --max-jobs"),
        ("--detach", "for --executor slurm only: --detach and --on-exit; the executor is local"),
        ("--on-exit leave --executor inline", "the executor is inline"),
        ("--executor slurm --workers 2", "on SLURM, say --max-jobs"),
        ("--executor slurm --time soon", "--time: a time limit is"),
        ("--executor slurm --mem 8GB", "--mem: memory is a whole number"),
        ("--executor slurm --device mps", "on SLURM, device must be auto, cpu or cuda, got 'mps'"),
        ("--executor slurm --results 50%", "50%/slurm for a code: choose another --results"),
        ("--executor slurm --on-exit stay", "got 'stay'"),
    ],
)
def test_options_that_cannot_be_get_one_line(run, monkeypatch, line, says):
    monkeypatch.setattr(slurm_queue, "limits", lambda: slurm_queue.Limits("lab", 31))
    result = run(f"run --profile smoke --dataset medoid --learner mnl {line}", code=2)
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert says in result.stderr
    assert list(Path().iterdir()) == []


def test_without_slurm_it_says_so_and_writes_nothing(run, monkeypatch):
    monkeypatch.setenv("PATH", "")
    result = run("run --profile smoke --dataset medoid --executor slurm", code=2)
    assert result.stderr.startswith("error: 'scontrol' is not there: --executor slurm works where")
    assert list(Path().iterdir()) == []


def test_without_submitit_it_says_what_to_install(run, monkeypatch):
    monkeypatch.setattr(slurm_queue, "limits", lambda: slurm_queue.Limits("lab", 31))
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "submitit" else find(name)
    )
    result = run("run --profile smoke --dataset medoid --executor slurm", code=2)
    assert (
        result.stderr == "error: --executor slurm needs submitit: pip install 'cschoice[slurm]'\n"
    )


def test_status_goes_by_the_files_where_slurm_does_not_answer(run, monkeypatch):
    Path("results/slurm").mkdir(parents=True)
    monkeypatch.setenv("PATH", "")
    result = run("status --profile smoke --dataset medoid --json")
    assert '"to do"' in result.stdout
    assert "this is what the files say" in result.stderr


class Watcher:
    """An executor that notes the requests of a run that is stopped."""

    def __init__(self, error=None):
        self.watched, self.cancelled, self.error = {"17_0": None, "17_1": None}, False, error

    def cancel(self):
        if self.error:
            raise self.error
        self.cancelled = True


@pytest.mark.parametrize(
    ("answer", "cancelled"),
    [("cancel", True), ("leave", False), ("C", True), ("", False), (typer.Abort(), False)],
)
def test_on_a_terminal_it_asks_whether_to_leave_or_cancel(monkeypatch, answer, cancelled):
    def prompt(text, **_options):
        assert text.startswith("2 jobs are in SLURM's queue.")
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr(cluster.talk, "_force_terminal", True)
    monkeypatch.setattr(typer, "prompt", prompt)
    watcher = Watcher()
    leave_or_cancel(watcher, None)
    assert watcher.cancelled is cancelled


def test_without_a_terminal_jobs_stay(capsys):
    watcher = Watcher()
    leave_or_cancel(watcher, None)
    assert not watcher.cancelled
    assert "2 jobs stay in SLURM's queue" in capsys.readouterr().err


def test_jobs_that_could_not_be_cancelled_are_said(capsys):
    leave_or_cancel(Watcher(ClusterError("'scancel' failed: no controller")), OnExit.CANCEL)
    assert "2 jobs could not be cancelled: 'scancel' failed" in capsys.readouterr().err
