import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import choice_tasks

from cschoice.errors import InvalidTasks
from cschoice.tasks import ChoiceTasks, Kind
from cschoice.tasks.scaling import Scaling


def make(**changes):
    valid = {
        "table": [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]],
        "items": [0, 1, 2, 0],
        "offsets": [0, 2, 4],
        "chosen": [True, False, False, True],
        "kind": Kind.SINGLETON,
    }
    return ChoiceTasks(**{**valid, **changes})


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"items": [], "offsets": [0], "chosen": []}, "there are no tasks"),
        ({"offsets": [0, 2, 2, 4]}, "1 task without objects (first: task 1)"),
        ({"offsets": [0, 3, 2, 4]}, "1 task without objects (first: task 1)"),
        ({"table": [[np.nan, 1], [2, 3], [4, np.inf]]}, "2 items with NaN or infinite features"),
        ({"table": [[1e300, 1], [2, 3], [4, 5]]}, "1 item with NaN or infinite features"),
        ({"table": [1.0, 2.0, 3.0]}, "table must be a table of numbers, got float64 of shape (3,)"),
        ({"table": [["a"], ["b"], ["c"]]}, "table must be a table of numbers"),
        ({"table": [[1.0], [1.0, 2.0], [3.0]]}, "table must be a table of numbers"),
        ({"table": np.ones((3, 0))}, "table must have items and features"),
        ({"table": np.ma.masked_less([[0.0], [1.0], [2.0]], 1)}, "table has masked values"),
        ({"kind": "both"}, "kind must be singleton or subset, got 'both'"),
        ({"offsets": np.array([0, 3, 2, 4], np.uint8)}, "1 task without objects (first: task 1)"),
        ({"offsets": [[0, 2, 4]]}, "offsets must be a list of integers"),
        ({"chosen": [[True], [False, True]]}, "chosen must be a list of numbers"),
        ({"chosen": [True, False]}, "there are 4 items but 2 values of chosen"),
        ({"items": [0, 1, 3, -1]}, "2 entries with an item outside 0–2 (first: entry 2)"),
        ({"items": [0.5, 1, 2, 0]}, "items must be a list of integers"),
        ({"offsets": [0, 2, 5]}, "offsets must run from 0 to the number of entries, 4, got 0 to 5"),
        ({"chosen": [True, False, False, False]}, "1 task with an empty choice (first: task 1)"),
        ({"chosen": [True, True, False, True]}, "1 singleton task with more than one chosen"),
        ({"chosen": [2, 0, 0, 1]}, "chosen must be true or false"),
    ],
)
def test_refuses_what_are_no_tasks(changes, problem):
    with pytest.raises(InvalidTasks) as caught:
        make(**changes)
    assert problem in str(caught.value)


def test_names_every_problem_at_once():
    with pytest.raises(InvalidTasks) as caught:
        make(
            table=[[np.nan, 0], [2, 3], [4, 5]],
            items=[0, 1, 9, 0],
            chosen=[True, True, False, False],
        )
    assert len(caught.value.problems) == 4
    with pytest.raises(InvalidTasks) as caught:
        make(table="x", items=[0.5], offsets="y", chosen=[3], kind="z")
    assert len(caught.value.problems) == 5
    assert isinstance(caught.value, ValueError)
    with pytest.raises(InvalidTasks) as caught:  # an empty task, no choice, two choices, offsets
        make(items=[0, 1, 2, 0, 1, 2], offsets=[0, 2, 2, 4, 5], chosen=[0, 0, 1, 1, 1, 0])
    assert [problem.split(" (first")[0] for problem in caught.value.problems] == [
        "offsets must run from 0 to the number of entries, 6, got 0 to 5",
        "1 task without objects",
        "1 task with an empty choice",
        "1 singleton task with more than one chosen object",
    ]
    with pytest.raises(InvalidTasks) as caught:
        ChoiceTasks.from_dense([[[np.nan], [1.0]]], [9], Kind.SINGLETON)
    assert len(caught.value.problems) == 2


def test_a_singleton_problem_is_none_for_subsets():
    tasks = make(chosen=[True, True, False, True], kind=Kind.SUBSET)
    assert tasks.chosen.sum() == 3


def test_arrays_cannot_be_changed_and_the_callers_stay_writable():
    given = {
        "table": np.zeros((3, 2), dtype=np.float32),
        "items": np.array([0, 1, 2, 0]),
        "chosen": np.array([True, False, False, True]),
        "offsets": np.array([0, 2, 4]),
    }
    tasks = make(**given)
    for name, array in given.items():
        with pytest.raises(ValueError, match="read-only"):
            getattr(tasks, name)[0] = 1
        before = getattr(tasks, name).copy()
        array[0] = 1 - array[0]
        assert np.array_equal(getattr(tasks, name), before)


def test_dense_positions_and_masks_agree():
    x = np.arange(12.0).reshape(2, 3, 2)
    mask = [[False, True, False], [True, False, False]]
    assert ChoiceTasks.from_dense(x, [1, 0], Kind.SINGLETON) == ChoiceTasks.from_dense(
        x, mask, Kind.SINGLETON
    )


@pytest.mark.parametrize(
    ("x", "chosen", "problem"),
    [
        (np.zeros((2, 3)), [0, 1], "x must have shape"),
        (np.zeros((2, 3, 1)), [0, 3], "1 chosen position outside its task"),
        (np.zeros((2, 3, 1)), [[True, False]], "chosen must have shape (2, 3)"),
        (np.zeros((2, 3, 1)), [0, 1, 2], "got (3,)"),
        ([[[1.0], [2.0, 3.0]]], [0], "must be arrays of numbers"),
        (np.zeros((0, 3, 1)), [], "there are no tasks"),
    ],
)
def test_dense_refuses_other_shapes(x, chosen, problem):
    with pytest.raises(InvalidTasks) as caught:
        ChoiceTasks.from_dense(x, chosen, Kind.SINGLETON)
    assert problem in str(caught.value)


def test_repr_says_what_matters():
    assert repr(make()) == (
        "ChoiceTasks(singleton, 2 tasks of 2 objects, 2 features, 50.0 % chosen, 3 shared items)"
    )


def as_lists(tasks):
    """The tasks as plain Python, the reference for everything clever."""
    return [
        (
            tasks.table[tasks.items[start:stop]].tolist(),
            tasks.chosen[start:stop].tolist(),
        )
        for start, stop in zip(tasks.offsets[:-1], tasks.offsets[1:], strict=True)
    ]


@given(choice_tasks(), st.data())
def test_selecting_tasks_is_selecting_from_a_list(tasks, data):
    plain = as_lists(tasks)
    numbers = data.draw(st.lists(st.integers(-len(tasks), len(tasks) - 1), min_size=1))
    assert as_lists(tasks[numbers]) == [plain[i] for i in numbers]
    start, stop = sorted(data.draw(st.tuples(st.integers(0, len(tasks)), st.integers(0, 9))))
    if plain[start:stop:2]:
        assert as_lists(tasks[start:stop:2]) == plain[start:stop:2]
    mask = np.array([size % 2 == 0 for size in tasks.sizes])
    if mask.any():
        assert as_lists(tasks[mask]) == [
            task for task, kept in zip(plain, mask, strict=True) if kept
        ]
    assert as_lists(tasks[numbers[0]]) == [plain[numbers[0]]]
    assert tasks[numbers].table is tasks.table


def test_unsigned_numbers_are_numbers():
    assert (
        make(offsets=np.array([0, 2, 4], np.uint64), items=np.array([0, 1, 2, 0], np.uint8))
        == make()
    )


def test_selecting_nothing_is_an_error_and_so_is_selecting_outside():
    with pytest.raises(InvalidTasks, match="the selection is empty"):
        make()[5:]
    with pytest.raises(InvalidTasks, match="the selection is empty"):
        make()[[]]
    with pytest.raises(InvalidTasks, match="selected by a list"):
        make()[[[0], [1]]]
    with pytest.raises(IndexError):
        make()[[2]]


@given(choice_tasks())
def test_standardized_features_have_mean_0_and_variance_1(tasks):
    features = tasks.scaled(Scaling.learn(tasks.table, tasks.items)).features.astype(np.float64)
    assert features.mean(axis=0) == pytest.approx(0, abs=1e-4)
    varies = tasks.features.std(axis=0) > 1e-3
    assert features.var(axis=0)[varies] == pytest.approx(1, abs=1e-3)
    assert features.var(axis=0)[~varies] == pytest.approx(0, abs=1e-3)


@given(choice_tasks(), st.data())
def test_taking_apart_and_putting_together_changes_nothing(tasks, data):
    cut = data.draw(st.integers(1, max(1, len(tasks) - 1)))
    parts = [tasks[:cut]] + ([tasks[cut:]] if cut < len(tasks) else [])
    whole = ChoiceTasks.concatenate(parts)
    assert whole == tasks
    assert whole.table is tasks.table
    copies = [
        ChoiceTasks(part.table + 0, part.items, part.offsets, part.chosen, part.kind)
        for part in parts
    ]
    assert ChoiceTasks.concatenate(copies) == tasks


def test_concatenate_refuses_what_does_not_fit():
    with pytest.raises(InvalidTasks, match="kind subset, part 0 has singleton"):
        ChoiceTasks.concatenate([make(), make(kind=Kind.SUBSET)])
    with pytest.raises(InvalidTasks, match="nothing to concatenate"):
        ChoiceTasks.concatenate([])


@given(choice_tasks())
def test_equality_is_by_value(tasks):
    order = np.arange(len(tasks.table))[::-1]
    relabelled = ChoiceTasks(
        tasks.table[order], order[tasks.items], tasks.offsets, tasks.chosen, tasks.kind
    )
    assert relabelled == tasks
    changed = ChoiceTasks(tasks.table + 1, tasks.items, tasks.offsets, tasks.chosen, tasks.kind)
    assert changed != tasks
    assert tasks != "tasks"


@given(choice_tasks())
def test_reduce_spread_and_order_are_loops_over_tasks(tasks):
    values = np.random.default_rng(0).integers(0, 4, tasks.n_entries)
    slices = [slice(a, b) for a, b in zip(tasks.offsets[:-1], tasks.offsets[1:], strict=True)]
    assert tasks.reduce(np.add, values).tolist() == [values[s].sum() for s in slices]
    assert tasks.spread(tasks.sizes).tolist() == [s for s in tasks.sizes for _ in range(s)]
    expected = [s.start + i for s in slices for i in np.argsort(-values[s], kind="stable")]
    assert tasks.descending(values).tolist() == expected


def test_pieces_are_consecutive_tasks_with_tables_of_their_own():
    sizes = [2, 5, 1, 9, 3, 3]
    table = np.arange(7.0)[:, None]
    items = np.concatenate([np.arange(size) % 7 for size in sizes])
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    tasks = ChoiceTasks(table, items, offsets, np.ones(len(items), dtype=bool), Kind.SUBSET)
    for at_once in (1, 4, 6, 100):
        pieces = list(tasks.pieces(at_once))
        assert ChoiceTasks.concatenate(pieces) == tasks
        assert all(len(piece.table) == piece.n_entries for piece in pieces)
    assert [len(piece) for piece in tasks.pieces(6)] == [2, 2, 1, 1]
