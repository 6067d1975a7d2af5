"""The installed command, as a user types it."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from cschoice_cli import start
from cschoice_cli.commands import COMMANDS, Loaded

from cschoice.datasets import DATASETS
from cschoice.evaluation.metrics import METRICS
from cschoice.tasks import ChoiceTasks

COMMAND = Path(sys.executable).parent / "cschoice"


SMALL = "--n-train 20 --n-test 30"


@pytest.mark.parametrize("name", [n for n, i in DATASETS.items() if i.source and i.raw is None])
def test_generate_writes_five_folds(run, name):
    result = run(f"generate {name} {SMALL}")
    for fold in range(5):
        folder = Path("data") / name / f"fold-{fold}"
        assert len(ChoiceTasks.from_parquet(folder / "train.parquet")) == 20
        assert len(ChoiceTasks.from_parquet(folder / "test.parquet")) == 30
        assert str(folder / "test.parquet") in result.stdout
    assert "drawing" not in result.stdout  # the conversation goes to stderr


def test_generate_follows_its_options(run):
    run(f"generate pareto2d {SMALL} --fold 1 --fold 3 --out elsewhere --n-objects 7 "
        "--n-features 4 --seed 9 --set centre=per-object")  # fmt: skip
    assert sorted(path.name for path in Path("elsewhere/pareto2d").iterdir()) == [
        "fold-1",
        "fold-3",
    ]
    tasks = ChoiceTasks.from_parquet("elsewhere/pareto2d/fold-1/train.parquet")
    assert set(tasks.sizes) == {7}
    assert tasks.n_features == 4


def test_the_same_seed_gives_the_same_bytes(run):
    def content(out, seed):
        run(f"generate hypervolume {SMALL} --fold 0 --out {out} --seed {seed}")
        return [path.read_bytes() for path in sorted(Path(out).rglob("*.parquet"))]

    first = content("a", 1)
    assert first == content("b", 1)
    assert first != content("c", 2)


def test_existing_files_are_kept_unless_forced(run):
    run(f"generate medoid {SMALL} --fold 0")
    before = Path("data/medoid/fold-0/train.parquet").read_bytes()
    result = run(f"generate medoid {SMALL} --seed 1", code=2)
    assert result.stderr.startswith("error: data/medoid/fold-0/train.parquet and 1 more would be")
    assert Path("data/medoid/fold-0/train.parquet").read_bytes() == before
    assert not Path("data/medoid/fold-1").exists()
    run(f"generate medoid {SMALL} --seed 1 --force")
    assert Path("data/medoid/fold-0/train.parquet").read_bytes() != before


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("generate mediod", "did you mean 'medoid'"),
        ("generate sushi", "sushi3b.5000.10.order not found in"),
        ("generate", "Missing argument"),
        ("generate medoid --n-trian 3", "--n-train"),
        ("generate medoid --n-train many", "got 'many'; see 'cschoice generate --help'"),
        ("generate medoid --n-train 0", "n_train must be a whole number of at least 1, got 0"),
        ("generate medoid --n-objects 2", "the medoid must be unique"),
        ("generate medoid --fold -1", "--fold"),
        ("generate medoid --set centre=shared", "unknown parameter of medoid 'centre'"),
        ("generate pareto2d --set centre", "--set takes NAME=VALUE, got 'centre'"),
        ("generate pareto2d --set centre=mine", "centre must be one of shared, per-object"),
        ("generate hypervolume --set offset=1", "offset must be true or false, got 1"),
        ("generate medoid --n-train 3 --set n_train=5", "n_train is given twice"),
        ("generate medoid --set name=medoid", "unknown parameter of medoid 'name'"),
        (f"generate medoid --set n_train={'9' * 5000}", "n_train must be a whole number"),
        (f"generate pareto2d --set centre={'[' * 20000}", "centre must be one of"),
        ("generate medoid --n-train 1000000000000", "do not fit in memory"),
        ("generate medoid --seed -1", "got '-1'"),
        (f"generate medoid --out {'x' * 300}", "cannot write"),
        ("generate medoid --out file", "cannot write"),
        ("generate medoid --out \udcff", "is not UTF-8"),
        ("gnerate medoid", "generate"),
        ("show dataset", "datasets"),
        ("--nonsense", "--nonsense"),
    ],
)
def test_bad_input_gets_one_line_and_writes_nothing(run, line, says):
    Path("file").write_text("in the way")
    result = run(line, code=2)
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert says in result.stderr
    assert [path.name for path in Path().iterdir()] == ["file"]


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_stopped_while_writing_nothing_half_written_stays(tmp_path, stop):
    process = subprocess.Popen(
        [COMMAND, "generate", "pareto5d", "--n-test", "300000"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob("**/.*.tmp/**/*test*")):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(stop)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "error: interrupted: nothing half-written was kept" in errors
    assert "Traceback" not in errors
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_odd_names_are_shown_as_they_are(run):
    folder = "a[/b]x[bold]"
    result = run(f"generate medoid {SMALL} --fold 0 --out {folder}")
    assert f"{folder}/medoid/fold-0/train.parquet" in result.stdout


def test_what_is_in_the_way_is_said_before_anything_is_written(run):
    Path("data/medoid/fold-0").mkdir(parents=True)
    Path("data/medoid/fold-1").write_text("a file")
    result = run(f"generate medoid {SMALL} --force", code=2)
    assert "cannot write data/medoid/fold-1: a file is in the way" in result.stderr
    assert list(Path("data/medoid/fold-0").iterdir()) == []


def test_a_terminal_that_knows_only_ascii_is_served_too(tmp_path):
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    subprocess.run([COMMAND, "show", "datasets"], cwd=tmp_path, env=environment, check=True)


def test_help_teaches_at_every_level(run):
    for line in ("", "--help", "generate --help", "show", "show --help"):
        assert "Usage: " in run(line).stdout
    assert "generate" in run("").stdout


def test_show_lists_everything(run):
    shown = run("show datasets").stdout
    assert all(name in shown for name in DATASETS)
    assert "missing" in shown
    assert "present" not in shown
    assert "257–1,346" in shown
    shown = run("show metrics").stdout
    assert all(name in shown for name in METRICS)
    rows = json.loads(run("show datasets --json").stdout)
    assert [row["name"] for row in rows] == list(DATASETS)
    assert [row["name"] for row in json.loads(run("show metrics --json").stdout)] == list(METRICS)


def test_the_command_is_installed_and_knows_its_version():
    from cschoice import __version__

    shown = subprocess.run([COMMAND, "--version"], capture_output=True, text=True, check=True)
    assert shown.stdout == f"cschoice {__version__}\n"


def test_a_table_is_never_cut(tmp_path):
    environment = {**os.environ, "COLUMNS": "40"}
    shown = subprocess.run(
        [COMMAND, "show", "datasets"],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env=environment,
    )
    assert "…" not in shown.stdout
    assert "mnist-unique-singleton" in shown.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_shows_the_first_line_of_each(name):
    assert COMMANDS[name].summary == Loaded()[name].help.partition("\n\n")[0].replace("\n", " ")


def test_stopped_while_loading_there_is_no_traceback(monkeypatch, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "cschoice_cli.main")
    monkeypatch.setattr(sys, "meta_path", [SimpleNamespace(find_spec=interrupted)])
    with pytest.raises(SystemExit) as ended:
        start()
    assert ended.value.code == 130
    assert capsys.readouterr().err == "error: interrupted\n"
