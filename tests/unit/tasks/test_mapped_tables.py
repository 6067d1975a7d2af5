"""Large tables stay in files and give the same numbers as small ones in memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from cschoice.io import large_arrays
from cschoice.learners import make_learner, torch_learner
from cschoice.learners.learner import Learner
from cschoice.nets import batches
from cschoice.tasks import ChoiceTasks, Kind

SMALL = {"fate": {"n_units": 16, "n_set_units": 16, "n_embedding": 16, "epochs": 2}}


def some_tasks() -> ChoiceTasks:
    rng = np.random.default_rng(0)
    x = rng.normal(3, 2, size=(60, 5, 3)).astype(np.float32)
    return ChoiceTasks.from_dense(
        x, (x[..., 0] + rng.normal(size=(60, 5))).argmax(1), Kind.SINGLETON
    )


def differences(model: Learner, tasks: ChoiceTasks) -> NDArray[np.float32]:
    """Return utilities beside their mean in each task: a shift is rounding, and means nothing."""
    utilities = model.utilities(tasks).reshape(len(tasks), -1)
    return utilities - utilities.mean(1, keepdims=True)


@pytest.mark.parametrize("name", ["fate", "mnl", "lcl"])
def test_a_table_in_a_file_gives_the_same_numbers(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks = some_tasks()
    expected = differences(make_learner(name, **SMALL.get(name, {})).fit(tasks), tasks)
    tasks.to_parquet(tmp_path / "tasks.parquet")
    monkeypatch.setattr(large_arrays, "IN_MEMORY", 100)
    monkeypatch.setattr(batches, "SCALED_AT_ONCE", 100)
    monkeypatch.setattr(torch_learner, "SCALED_AT_ONCE", 100)
    mapped = ChoiceTasks.from_parquet(tmp_path / "tasks.parquet")
    assert isinstance(mapped.table.base, np.memmap)
    assert not mapped.table.flags.writeable
    model = make_learner(name, **SMALL.get(name, {})).fit(mapped)
    assert_allclose(differences(model, mapped), expected, rtol=1e-5, atol=1e-5)


def test_only_a_mapped_table_that_is_read_only_is_not_copied(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.zeros((4, 2), np.float32))
    arrays = [0, 1, 2, 3], [0, 2, 4], [True, False] * 2, Kind.SINGLETON
    for mode, shared in (("r", True), ("r+", False)):
        table = np.load(tmp_path / "x.npy", mmap_mode=mode)
        assert np.shares_memory(ChoiceTasks(table, *arrays).table, table) is shared
