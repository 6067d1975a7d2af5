"""Journals whose lines are whole, but not those that were written."""

import pytest

from cschoice.runs import journals
from cschoice.runs.records import Rung, Trial, TrialState


@pytest.fixture
def path(tmp_path):
    for number in range(3):
        trial = Trial(number, Rung.FULL, {"C": 1.0}, [0.5], TrialState.COMPLETE, 0.1)
        journals.append(tmp_path / "trials.jsonl", trial)
    return tmp_path / "trials.jsonl"


@pytest.mark.parametrize(("order", "n_left"), [([0, 2], 1), ([1, 0, 2], 0), ([2], 0), ([0, 1], 2)])
def test_what_comes_behind_a_missing_line_is_tried_again(path, order, n_left):
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[number] for number in order))
    read = journals.read(path)
    assert [trial.number for trial in read.trials] == list(range(n_left))
    assert bool(read.damage) == (n_left < len(order))
    journals.mend(path)
    assert path.read_bytes() == b"".join(lines[:n_left])


def test_a_trial_that_two_machines_wrote_counts_once(path):
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], lines[1], lines[0], lines[1], lines[2]]))
    read = journals.read(path)
    assert [trial.number for trial in read.trials] == [0, 1, 2]
    assert not read.damage
