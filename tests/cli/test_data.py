"""``cschoice data`` as a user types it."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from cschoice.datasets import DATASETS
from cschoice.datasets.raw.catalogue import RAW_DATA


def letor(folder, n_documents=12):
    """Files in LETOR's format, with far fewer queries."""
    rng = np.random.default_rng(0)
    folder.mkdir(parents=True)
    for part in range(1, 6):
        lines = [
            f"{int(k == 0)} qid:{part} "
            + " ".join(f"{j}:{rng.random():.6f}" for j in range(1, 47))
            + " #docid = GX"
            for k in range(n_documents)
        ]
        (folder / f"S{part}.txt.gz").write_bytes(gzip.compress("\n".join(lines).encode()))


def test_list_says_of_everything_what_it_is_and_where_to_get_it(run):
    shown = run("data list").stdout
    for name, raw in RAW_DATA.items():
        assert f"\n{name}: missing\n" in shown
        for text in (raw.home, raw.terms, raw.steps):
            assert text in shown
    assert "'cschoice data fetch mnist', or put the four" in shown
    assert os.environ["CSCHOICE_CACHE"] in shown


def test_list_finds_what_is_there(run):
    letor(Path("raw/LETOR/MQ2008"))
    shown = run("data list --data raw").stdout
    assert "letor-mq2008: present" in shown
    assert str(Path("raw/LETOR/MQ2008/S1.txt.gz").resolve()) in shown
    assert "letor-mq2008-list: missing" in shown
    answer = json.loads(run("data list --data raw --json").stdout)
    assert answer["searched"][0] == str(Path("raw").resolve())
    rows = {row["name"]: row for row in answer["data"]}
    assert list(rows) == list(RAW_DATA)
    assert [name for name, row in rows.items() if row["present"]] == ["letor-mq2008"]
    assert rows["letor-mq2008"]["datasets"] == ["letor-mq2008"]
    assert {name for row in rows.values() for name in row["datasets"]} == {
        name for name, info in DATASETS.items() if info.raw
    }


def test_check_compares_with_the_paper(run):
    letor(Path("raw/MQ2008"))
    result = run("data check --data raw", code=1)  # far fewer queries than the paper has
    assert "not there: mnist, letor-mq2007" in result.stderr
    rows = json.loads(run("data check letor-mq2008 --data raw --json", code=1).stdout)
    found = {row["what"]: row for row in rows}
    assert found["tasks"] == {
        "data": "letor-mq2008",
        "what": "tasks",
        "found": "5",
        "expected": "564",
        "verdict": "wrong",
        "note": "the files are a sample: 5 of 564 tasks",
    }
    assert found["features"]["verdict"] == "ok"
    assert found["sha256 of S1"]["verdict"] == "differs"
    assert "the counts decide" in found["sha256 of S1"]["note"]


def test_check_names_what_is_damaged_and_goes_on(run):
    letor(Path("raw/MQ2008"))
    letor(Path("raw/MQ2007"))
    Path("raw/MQ2007/S3.txt.gz").write_bytes(gzip.compress(b"1 qid:3 1:x\n"))
    result = run("data check --data raw", code=1)
    assert "S3.txt.gz, line 1: feature 1 must be a number, got 'x'" in result.stderr
    assert "letor-mq2008" in result.stdout


def test_check_without_any_data_says_so(run):
    result = run("data check")
    assert result.stdout == ""
    assert "not there: mnist" in result.stderr


def test_run_and_generate_take_the_folder_of_raw_data(run):
    letor(Path("raw/MQ2008"))
    result = run("generate letor-mq2008 --data raw --fold 0")
    assert "letor-mq2008: 2 files" in result.stdout


def test_a_run_looks_there_in_its_own_processes(tmp_path):
    letor(tmp_path / "raw" / "MQ2008", n_documents=20)
    line = "run --profile smoke --dataset letor-mq2008 --learner all-positive --folds 1 --data raw"
    environment = {**os.environ, "CSCHOICE_DATA": "", "CSCHOICE_CACHE": str(tmp_path / "cache")}
    result = subprocess.run(
        [Path(sys.executable).parent / "cschoice", *line.split()],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "1 of 1 jobs done" in result.stdout


def test_fetch_does_nothing_twice(run):
    letor(Path("raw/MQ2008"))
    assert "is there already" in run("data fetch letor-mq2008 --data raw").stdout


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("data fetch sushi", "download sushi3-2016.zip"),
        ("data fetch expedia-subset", "accept the rules"),
        ("data fetch medoid", "dataset 'medoid' is made without raw data"),
        ("data fetch mnits", "did you mean 'mnist'"),
        ("data check sushi", "sushi3.idata, sushi3a.5000.10.order"),
        ("data check shushi", "did you mean 'sushi'"),
        ("data list --data nowhere", "nowhere"),
        ("data lost", "lost"),
    ],
)
def test_bad_input_gets_one_line_and_writes_nothing(run, line, says):
    result = run(line, code=2)
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert says in result.stderr
    assert list(Path().iterdir()) == []


def test_help_teaches(run):
    for line in ("data", "data --help", "data list --help", "data check --help"):
        assert "Usage: " in run(line).stdout


def test_the_real_mq2008_has_the_papers_counts(run, data_folder):
    if not list(data_folder.glob("*mq2008*/S1.txt*")):
        pytest.skip(f"MQ2008 is not in {data_folder}")
    rows = json.loads(run(f"data check letor-mq2008 --data {data_folder} --json").stdout)
    assert {row["verdict"] for row in rows} == {"ok"}
