"""Tasks of a table remember how the table became tasks."""

import numpy as np
import pandas as pd
import pytest

from cschoice import ChoiceTasks
from cschoice.errors import InvalidTasks
from cschoice.tasks.scaling import Scaling


def table(n_tasks=4):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "trip": np.repeat(np.arange(n_tasks), 3),
            "mode": ["bus", "car", "train"] * n_tasks,
            "cost": rng.normal(size=3 * n_tasks),
            "chosen": [0, 1, 0] * n_tasks,
        }
    )


def from_table(frame, features="mode,cost"):
    return ChoiceTasks.from_frame(frame, task="trip", chosen="chosen", features=features)


@pytest.fixture
def tasks():
    return from_table(table())


def test_features_have_the_names_of_their_columns(tasks):
    assert tasks.feature_names == ["mode=bus", "mode=car", "mode=train", "cost"]
    unnamed = ChoiceTasks.from_dense(np.zeros((2, 3, 2)), [0, 1], "singleton")
    assert unnamed.encoding is None
    assert unnamed.feature_names == ["x0", "x1"]


def test_the_encoding_survives_what_keeps_the_features(tasks, tmp_path):
    tasks.to_parquet(tmp_path / "tasks.parquet")
    for other in (
        tasks[1:3],
        tasks[[3, 0]],
        tasks.scaled(Scaling.learn(tasks.table, tasks.items)),
        ChoiceTasks.concatenate([tasks[:2], tasks[2:]]),
        ChoiceTasks.from_parquet(tmp_path / "tasks.parquet"),
    ):
        assert other.encoding == tasks.encoding
    assert ChoiceTasks.from_parquet(tmp_path / "tasks.parquet") == tasks


def test_tasks_of_two_encodings_have_none_together(tasks):
    frame = table().assign(mode=["boat", "car", "train"] * 4)
    assert ChoiceTasks.concatenate([tasks, from_table(frame)]).encoding is None


def test_an_encoding_of_other_features_is_refused(tasks):
    other = from_table(table(), features="cost").encoding
    with pytest.raises(InvalidTasks, match="the encoding names 1 features, there are 4"):
        ChoiceTasks(
            tasks.table, tasks.items, tasks.offsets, tasks.chosen, tasks.kind, encoding=other
        )


def test_tasks_are_selected_as_scikit_learn_does(tasks):
    from sklearn.utils import indexable
    from sklearn.utils._indexing import _safe_indexing

    assert indexable(tasks)[0] is tasks
    assert tasks.shape == (4,)
    assert _safe_indexing(tasks, np.array([2, 0])) == tasks[[2, 0]]
    assert _safe_indexing(tasks, [True, False, False, True]) == tasks[[0, 3]]
