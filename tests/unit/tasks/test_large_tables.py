"""CSV files of several blocks: types that only later blocks reveal."""

import pandas as pd
import pytest

from cschoice.errors import InvalidTable
from cschoice.tasks import ChoiceTasks
from cschoice.tasks.frames import csv_files, describe, learn

WORDS = {"task": "t", "chosen": "c"}


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_files, "_BLOCK", 200)
    frame = pd.DataFrame({"t": [k // 2 for k in range(200)], "c": [0, 1] * 100})
    frame["whole"] = range(200)
    frame["late"] = [*range(150), *(k + 0.5 for k in range(50))]
    frame["empty"] = [None] * 150 + [1.5] * 50
    frame["word"] = [*map(str, range(199)), "many"]
    frame["mode"] = [*map(str, range(198)), "a", "b"]
    frame.to_csv(tmp_path / "table.csv", index=False)
    return tmp_path / "table.csv"


def test_types_follow_from_all_blocks(path):
    frame = pd.read_csv(path)
    tasks = ChoiceTasks.from_frame(path, **WORDS, features="whole,late,empty", impute="empty=-1")
    expected = frame[["whole", "late", "empty"]].fillna(-1).to_numpy("float32")
    assert (tasks.features == expected).all()
    _, table = learn(path, describe(**WORDS, object="mode", features="whole"))
    assert table.labels()["mode"].tolist() == frame["mode"].tolist()
    with pytest.raises(InvalidTable, match="'word' must hold numbers, row 200 has 'many'"):
        ChoiceTasks.from_frame(path, **WORDS, features="word")


def test_a_row_that_does_not_fit_is_named(path):
    with path.open("a") as file:
        file.write("1,2\n")
    with pytest.raises(ValueError, match="Expected 7 columns, got 2"):
        ChoiceTasks.from_frame(path, **WORDS, features="whole")


@pytest.mark.parametrize("end", ["\r", "\r\n"])
def test_lines_may_end_as_on_any_system(path, end):
    words = {**WORDS, "features": "whole,late,empty", "impute": "empty=-1"}
    expected = ChoiceTasks.from_frame(path, **words)
    path.write_text(path.read_text().replace("\n", end), newline="")
    found = ChoiceTasks.from_frame(path, **words)
    assert (found.features == expected.features).all()
    assert (found.chosen == expected.chosen).all()
