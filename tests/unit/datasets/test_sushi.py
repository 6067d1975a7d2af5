"""SUSHI in its documented format: both sets of rankings over one table of items."""

import zipfile

import numpy as np
import pytest

from cschoice.datasets import make_dataset
from cschoice.errors import DamagedData, DataUnavailable, InvalidParameter
from cschoice.tasks import ChoiceTasks, Kind

A_IN_B = [0, 1, 2, 3, 4, 6, 7, 8, 26, 29]
NAMES = ("sushi3.idata", "sushi3a.5000.10.order", "sushi3b.5000.10.order")


def features(item):
    """A row of the item table that tells which item it is."""
    return [item % 2, int(item > 60), item % 12, item / 25, item / 40, 1 + item / 10, item / 100]


def items():
    rows = ["\t".join(map(str, [k, f"寿司_{k}", *features(k)])) for k in range(100)]
    return "# id\tname\t…\n\n" + "\n".join(rows) + "\n"


def orders(n_items, rankings):
    lines = [f"0 {len(ranking)} {' '.join(map(str, ranking))}" for ranking in rankings]
    return f"{n_items} 1\n" + "\n".join(lines) + "\n"


@pytest.fixture
def rankings():
    rng = np.random.default_rng(0)
    return (
        [rng.permutation(10).tolist() for _ in range(50)],
        [rng.choice(100, 10, replace=False).tolist() for _ in range(50)],
    )


@pytest.fixture
def sushi(raw_folder, rankings):
    folder = raw_folder / "sushi3-2016"
    folder.mkdir()
    contents = items(), orders(10, rankings[0]), orders(100, rankings[1])
    for name, content in zip(NAMES, contents, strict=True):
        (folder / name).write_text(content, encoding="utf-8")
    return folder


@pytest.mark.usefixtures("sushi")
def test_the_most_preferred_is_chosen_and_both_sets_mean_the_same_items(rankings):
    whole = make_dataset("sushi").whole().tasks
    assert whole.kind is Kind.SINGLETON
    assert whole.sizes.tolist() == [10] * 100
    assert whole.n_features == 7
    expected = [[A_IN_B[k] for k in ranking] for ranking in rankings[0]] + rankings[1]
    for task, ranking in zip(range(100), expected, strict=True):
        one = whole[task]
        best = np.float32(features(ranking[0]))
        np.testing.assert_array_equal(one.features[one.chosen], [best])
        assert sorted(one.items.tolist()) == sorted(ranking)


@pytest.mark.usefixtures("sushi")
def test_objects_do_not_stand_in_the_order_of_preference():
    for tasks in make_dataset("sushi").fold(0, seed=0):
        positions = np.flatnonzero(tasks.chosen) % 10
        assert len(set(positions.tolist())) > 5


@pytest.mark.usefixtures("sushi")
@pytest.mark.parametrize(("parameters", "n_train"), [({}, 80), ({"train_share": 0.7}, 70)])
def test_folds_are_shuffled_splits(parameters, n_train):
    source = make_dataset("sushi", **parameters)
    train, test = source.fold(0, seed=0)
    assert (len(train), len(test)) == (n_train, 100 - n_train)
    assert (train, test) == source.fold(0, seed=0)
    assert test != source.fold(1, seed=0)[1]
    assert test != source.fold(0, seed=1)[1]
    numbers = source.split(source.whole(), 3, seed=0)
    assert sorted(np.concatenate(numbers).tolist()) == list(range(100))
    for tasks in (train, test):
        assert tasks == ChoiceTasks(
            tasks.table, tasks.items, tasks.offsets, tasks.chosen, tasks.kind, tasks.groups
        )


@pytest.mark.usefixtures("sushi")
def test_minor_groups_as_features_of_their_own():
    plain, coded = (
        make_dataset("sushi", one_hot=one_hot).whole().tasks for one_hot in (False, True)
    )
    assert coded.n_features == 6 + 12
    np.testing.assert_array_equal(coded.table[:, 6:].argmax(axis=1), plain.table[:, 2])
    np.testing.assert_array_equal(coded.table[:, :6], np.delete(plain.table, 2, axis=1))
    assert (coded.table[:, 6:].sum(axis=1) == 1).all()


@pytest.mark.usefixtures("sushi")
def test_smaller_training_tasks_choose_the_best_that_is_left(rankings):
    train, test = make_dataset("sushi", n_objects=4, max_test=7).fold(0, seed=0)
    assert train.sizes.tolist() == [4] * 80
    assert test.sizes.tolist() == [10] * 7
    # An object preferred in some ranking over all others that were drawn with it is chosen.
    expected = [[A_IN_B[k] for k in ranking] for ranking in rankings[0]] + rankings[1]
    price = {np.float32(features(k)[5]): k for k in range(100)}
    for number in range(80):
        task = train[number]
        drawn = [price[value] for value in task.features[:, 5]]
        chosen = drawn[int(np.flatnonzero(task.chosen)[0])]
        assert any(
            set(drawn) <= set(ranking) and min(drawn, key=ranking.index) == chosen
            for ranking in expected
        )


def test_the_archive_is_read_as_it_is(sushi):
    expected = make_dataset("sushi").fold(0, seed=0)
    with zipfile.ZipFile(sushi.parent / "sushi3-2016.zip", "w") as archive:
        for path in sushi.iterdir():
            archive.write(path, f"sushi3-2016/{path.name}")
            path.unlink()
    assert make_dataset("sushi").fold(0, seed=0) == expected
    (sushi.parent / "sushi3-2016.zip").unlink()
    with pytest.raises(DataUnavailable, match="SUSHI: sushi3.idata, sushi3a"):
        make_dataset("sushi").fold(0, seed=0)


@pytest.mark.parametrize(
    ("name", "line", "bad", "says"),
    [
        (0, 3, "0\tebi\t1\t0", "separated by tabs, got 4 fields"),
        (0, 4, "7\tx\t0\t0\t0\t0\t0\t0\t0", "expected item 1, got '7'"),
        (0, 4, "1\tx\t0\t0\t12\t0\t0\t0\t0", "minor group must be 0 to 11, got '12'"),
        (0, 4, "1\tx\t0.5\t0\t1\t0\t0\t0\t0", "style must be 0 to 1, got '0.5'"),
        (0, 4, "1\tx\t0\t0\t1\toily\t0\t0\t0", "oiliness must be a number, got 'oily'"),
        (1, 1, "100 1", "expected '10 1', got '100 1'"),
        (2, 1, "0 10 1 2 3", "expected '100 1'"),
        (1, 2, "0 10 0 1 2", "with that many ids, got '0 10 0 1 2'"),
        (1, 2, "1 2 0 1", "expected '0 length id id …'"),
        (1, 3, "0 10 0 1 2 3 4 5 6 7 8 10", "ids are 0 to 9, got '10'"),
        (2, 3, "0 3 5 x 7", "ids are 0 to 99, got 'x'"),
        (2, 3, "0 3 5 9 5", "an id stands twice in '0 3 5 9 5'"),
    ],
)
def test_a_malformed_line_is_named(sushi, name, line, bad, says):
    path = sushi / NAMES[name]
    lines = path.read_text(encoding="utf-8").split("\n")
    lines[line - 1] = bad
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(DamagedData) as caught:
        make_dataset("sushi").fold(0, seed=0)
    assert f"{NAMES[name]}, line {line}: " in str(caught.value)
    assert says in str(caught.value)


@pytest.mark.parametrize("name", NAMES)
def test_empty_files_are_unavailable_data(sushi, name):
    (sushi / name).write_text("")
    with pytest.raises(DataUnavailable, match=name):
        make_dataset("sushi").fold(0, seed=0)


def test_parameters_out_of_range_are_refused():
    for share in (0, 1, -0.2, "half", True):
        with pytest.raises(InvalidParameter, match="a number larger than 0 and smaller than 1"):
            make_dataset("sushi", train_share=share)
    with pytest.raises(InvalidParameter, match="one_hot must be true or false"):
        make_dataset("sushi", one_hot=1)
