"""What every dataset that can be generated promises."""

import numpy as np
import pytest

from cschoice.datasets import DATASETS, make_dataset
from cschoice.datasets.raw.catalogue import RAW_DATA
from cschoice.errors import DamagedData, DataUnavailable, InvalidParameter, UnknownName
from cschoice.tasks import ChoiceTasks

GENERATED = [name for name, info in DATASETS.items() if info.raw is None]
READ = [name for name, info in DATASETS.items() if info.raw]


def fold(name, index=0, seed=0, **parameters):
    sizes = {"n_train": 137, "n_test": 61} | parameters
    return make_dataset(name, **sizes).fold(index, seed)


@pytest.mark.parametrize("name", GENERATED)
def test_a_fold_has_the_sizes_asked_for_and_the_papers_otherwise(name):
    info = DATASETS[name]
    train, test = fold(name)
    assert (len(train), len(test)) == (137, 61)
    assert train.kind is test.kind is info.kind
    assert train.n_features == info.n_features
    assert set(train.sizes) == {info.n_objects}
    source = make_dataset(name)
    assert (source.n_train, source.n_test) == (info.n_train, info.n_test)


@pytest.mark.parametrize("name", GENERATED)
def test_generated_tasks_are_valid(name):
    for tasks in fold(name):
        checked = ChoiceTasks(tasks.table, tasks.items, tasks.offsets, tasks.chosen, tasks.kind)
        assert checked == tasks


@pytest.mark.parametrize("name", GENERATED)
def test_seed_fold_and_part_decide_the_data(name):
    train, test = fold(name)
    assert (train, test) == fold(name)
    assert train != fold(name, index=1)[0]
    assert train != fold(name, seed=1)[0]
    assert train[:61] != test


@pytest.mark.parametrize("name", GENERATED)
def test_more_tasks_begin_with_the_same_ones(name):
    few, many = fold(name)[0], fold(name, n_train=2_345)[0]
    assert many[:137] == few


@pytest.mark.parametrize("name", GENERATED)
@pytest.mark.parametrize(("n_objects", "n_features"), [(3, 2), (7, 4), (41, 3)])
def test_any_number_of_objects_and_features(name, n_objects, n_features):
    train, _ = fold(name, n_train=23, n_objects=n_objects, n_features=n_features)
    assert set(train.sizes) == {n_objects}
    assert train.n_features == n_features


@pytest.mark.parametrize("name", GENERATED)
def test_objects_come_in_no_order(name):
    tasks = make_dataset(name, n_train=1, n_test=1).sample(20_000, seed=0)
    chosen = tasks.chosen.reshape(len(tasks), -1)
    share = chosen.mean()
    deviation = np.sqrt(share * (1 - share) / len(tasks))
    assert np.abs(chosen.mean(axis=0) - share).max() < 4.5 * deviation


@pytest.mark.parametrize("name", GENERATED)
@pytest.mark.parametrize("parameter", ["n_train", "n_test", "n_objects", "n_features"])
@pytest.mark.parametrize("value", [0, -1, 2.5, "3", True])
def test_impossible_sizes_are_refused(name, parameter, value):
    with pytest.raises(InvalidParameter, match=f"{parameter} must be an integer of at least 1"):
        make_dataset(name, **{parameter: value})


@pytest.mark.usefixtures("raw_folder")
@pytest.mark.parametrize("name", READ)
def test_missing_raw_data_say_what_was_sought_where(name, tmp_path):
    source = make_dataset(name)
    assert source.kind is DATASETS[name].kind
    with pytest.raises(DataUnavailable) as caught:
        source.fold(0, seed=0)
    assert f"not found in {tmp_path / 'raw'} or {tmp_path / 'cache'}" in str(caught.value)
    assert "set CSCHOICE_DATA to the folder that holds it" in str(caught.value)


@pytest.mark.parametrize("name", READ)
def test_raw_data_that_cannot_be_used_are_named(name, raw_folder):
    info = RAW_DATA[DATASETS[name].raw]
    for layout in info.layouts:
        for wanted in layout.values():
            path = raw_folder / (wanted.folders[0] or "any") / wanted.names[0]
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(b"\x00nonsense\n")
    with pytest.raises(DamagedData, match=str(raw_folder)):
        make_dataset(name).fold(0, seed=0)


def test_names_and_parameters_are_suggested():
    with pytest.raises(UnknownName, match="did you mean 'medoid'"):
        make_dataset("mediod")
    with pytest.raises(InvalidParameter, match="did you mean 'n_train'"):
        make_dataset("medoid", n_trian=3)
