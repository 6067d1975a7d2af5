"""MNIST: the paper's rules on digits, its accuracy on the real files, small files otherwise."""

import gzip
import json
import struct
import subprocess
import sys

import numpy as np
import pytest

from cschoice.datasets import DATASETS, make_dataset
from cschoice.datasets.raw import digit_features
from cschoice.datasets.raw.digit_features import read_idx, read_images
from cschoice.datasets.raw.files import RawFile
from cschoice.datasets.raw.mnist import occurrences
from cschoice.errors import DamagedData, DataUnavailable, InvalidParameter
from cschoice.tasks import ChoiceTasks, Kind

NAMES = [name for name in DATASETS if name.startswith("mnist-")]
FILES = {
    "train-images-idx3-ubyte": 0,
    "train-labels-idx1-ubyte": 1,
    "t10k-images-idx3-ubyte": 2,
    "t10k-labels-idx1-ubyte": 3,
}


def idx(array):
    sizes = struct.pack(f">{array.ndim}I", *array.shape)
    return bytes([0, 0, 8, array.ndim]) + sizes + array.astype(np.uint8).tobytes()


def patterns(n_images, seed):
    """Images that a network learns in no time: each digit is a pattern of squares of its own."""
    rng = np.random.default_rng(seed)
    shapes = np.random.default_rng(7).integers(2, size=(10, 7, 7)).repeat(4, axis=1).repeat(4, 2)
    labels = rng.integers(10, size=n_images)
    return 190 * shapes[labels] + rng.integers(60, size=(n_images, 28, 28)), labels


@pytest.fixture(scope="session")
def small_files():
    return [idx(array) for seed, n in ((0, 1_600), (1, 300)) for array in patterns(n, seed)]


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


SMALL = digit_features.NetworkSettings(channels=(6, 12), n_hidden=64)


@pytest.fixture
def small_network(shared_cache, monkeypatch):
    """A network that learns in a second; what it makes is made once for all tests."""
    monkeypatch.setattr(digit_features, "NetworkSettings", lambda: SMALL)
    monkeypatch.setenv("CSCHOICE_CACHE", str(shared_cache))


@pytest.fixture
def mnist(raw_folder, small_files, small_network):  # noqa: ARG001
    """Small files in the format of MNIST."""
    write(raw_folder / "mnist", small_files)
    return raw_folder / "mnist"


def write(folder, contents, name="{}"):
    folder.mkdir(parents=True, exist_ok=True)
    for file, number in FILES.items():
        (folder / name.format(file)).write_bytes(contents[number])


def shown(tasks):
    """Return the digits of a fold's tasks, recognized by their features, (tasks, objects)."""
    known = digit_features.digits()
    pairs = zip(known.features, known.labels, strict=True)
    label = {row.tobytes(): int(digit) for row, digit in pairs}
    labels = np.array([label[row.tobytes()] for row in tasks.table])
    return labels[tasks.items].reshape(len(tasks), -1)


@pytest.mark.parametrize("name", NAMES)
def test_a_fold_has_the_sizes_asked_for_and_the_papers_otherwise(mnist, name):  # noqa: ARG001
    source, info = make_dataset(name), DATASETS[name]
    assert (source.n_train, source.n_test, source.n_objects) == (10_000, 100_000, 10)
    train, test = make_dataset(name, n_train=137, n_test=61).fold(0, seed=0)
    assert (len(train), len(test)) == (137, 61)
    assert train.kind is test.kind is info.kind
    assert train.n_features == info.n_features == 128
    for tasks in (train, test):
        assert set(tasks.sizes) == {10}
        assert tasks == ChoiceTasks(
            tasks.table, tasks.items, tasks.offsets, tasks.chosen, tasks.kind
        )


@pytest.mark.parametrize("name", NAMES)
def test_seed_and_fold_decide_the_data_and_more_begin_with_the_same(mnist, name):  # noqa: ARG001
    def fold(index=0, seed=0, n_train=50):
        return make_dataset(name, n_train=n_train, n_test=50).fold(index, seed)

    train, test = fold()
    assert (train, test) == fold()
    assert train != fold(index=1)[0]
    assert train != fold(seed=1)[0]
    assert train != test
    assert fold(n_train=30_000)[0][:50] == train


@pytest.mark.parametrize("name", NAMES)
def test_train_and_test_share_no_image_and_a_task_has_none_twice(mnist, name):  # noqa: ARG001
    train, test = make_dataset(name, n_train=3_000, n_test=3_000).fold(2, seed=0)
    seen = [{tasks.table[item].tobytes() for item in tasks.items} for tasks in (train, test)]
    assert not seen[0] & seen[1]
    assert min(len(side) for side in seen) > 700
    assert (np.diff(np.sort(train.items.reshape(-1, 10), axis=1)) > 0).all()


def test_the_rules_are_the_papers(mnist):  # noqa: ARG001
    for name in NAMES:
        train, _ = make_dataset(name, n_train=2_000, n_test=1).fold(0, seed=0)
        labels, chosen = shown(train), train.chosen.reshape(len(train), -1)
        for digit, choice in zip(labels.tolist(), chosen, strict=True):
            counts = [digit.count(one) for one in digit]
            unique = {one for one in digit if digit.count(one) == 1}
            modes = {one for one in digit if digit.count(one) == max(counts)}
            picked = [one for one, taken in zip(digit, choice, strict=True) if taken]
            if name == "mnist-unique-subset":
                assert sorted(picked) == sorted(unique)
            elif name == "mnist-unique-singleton":
                assert set(picked) == unique
                assert len(picked) == 1
            elif name == "mnist-mode-subset":
                assert sorted(picked) == sorted(one for one in digit if one in modes)
            else:
                assert set(picked) == modes
                assert len(picked) == 1


def test_the_papers_examples():
    unique = make_dataset("mnist-unique-subset")
    mode = make_dataset("mnist-mode-subset")
    usable, chosen = unique._choice(occurrences(np.array([[4, 3, 2, 3, 3, 1, 8, 8, 7, 7]])))
    assert usable.all()
    assert np.flatnonzero(chosen).tolist() == [0, 2, 5]
    _, chosen = mode._choice(occurrences(np.array([[1, 1, 2, 4, 4, 5, 5, 6, 6, 6]])))
    assert np.flatnonzero(chosen).tolist() == [7, 8, 9]
    tied = occurrences(np.array([[4, 3, 2, 3, 3, 8, 8, 7, 7, 7]]))
    assert np.flatnonzero(mode._choice(tied)[1]).tolist() == [1, 3, 4, 7, 8, 9]
    assert not make_dataset("mnist-mode-singleton")._choice(tied)[0].any()
    none = occurrences(np.array([[1, 1, 2, 2]]))
    assert not unique._choice(none)[0].any()
    assert not make_dataset("mnist-unique-singleton")._choice(tied)[0].any()  # 4 and 2


def test_how_many_unique_digits_there_are_at_least():
    one, two = (occurrences(np.array([digits])) for digits in ([1, 2, 2, 2], [1, 2, 3, 3]))
    several = make_dataset("mnist-unique-subset", min_chosen=2)
    assert not several._choice(one)[0].any()
    assert several._choice(two)[0].all()
    assert make_dataset("mnist-unique-subset")._choice(one)[0].all()
    for wrong in (0, 11, 1.5, True):
        with pytest.raises(InvalidParameter, match="min_chosen must be 1 to 10"):
            make_dataset("mnist-unique-subset", min_chosen=wrong)
    with pytest.raises(InvalidParameter, match="min_chosen must be 1 to 9"):
        make_dataset("mnist-unique-subset", n_objects=12, min_chosen=10)


def test_the_largest_angle_to_one_vector_is_chosen_in_all_folds(mnist):  # noqa: ARG001
    largest = make_dataset("mnist-mode-singleton", n_train=1_500, n_test=1_500)
    least = make_dataset("mnist-mode-singleton", n_train=1_500, n_test=1_500, angle="least")
    rows, signs = [], []
    for index in (0, 1):
        for high, low in zip(largest.fold(index, 0), least.fold(index, 0), strict=True):
            assert (high.items == low.items).all()
            one, other = (tasks.features[tasks.chosen] for tasks in (high, low))
            unit = one / np.linalg.norm(one, axis=1, keepdims=True)
            rows.append(other / np.linalg.norm(other, axis=1, keepdims=True) - unit)
            signs.append(np.abs(rows[-1]).sum(axis=1) > 0)
    differences = np.concatenate(rows)[np.concatenate(signs)].astype(np.float64)
    # One vector has a smaller angle to all the second than to all the first: a linear program.
    from scipy.optimize import linprog

    found = linprog(
        np.zeros(128), -differences, np.full(len(differences), -1e-4), bounds=[(None, None)] * 128
    )
    assert found.status == 0
    with pytest.raises(InvalidParameter, match='angle must be one of "largest", "least"'):
        make_dataset("mnist-mode-singleton", angle="small")


def test_sets_that_hardly_exist_are_refused(mnist):  # noqa: ARG001
    for n_objects in (2, 200):  # two digits are both unique or neither; 200 are never
        with pytest.raises(InvalidParameter, match=f"n_objects={n_objects} hardly any set"):
            make_dataset("mnist-unique-singleton", n_objects=n_objects).fold(0, seed=0)
    with pytest.raises(InvalidParameter, match="n_objects must be at most 800"):
        make_dataset("mnist-mode-subset", n_objects=801).fold(0, seed=0)
    with pytest.raises(InvalidParameter, match="do not fit in memory"):
        make_dataset("mnist-mode-subset", n_train=10**15).fold(0, seed=0)
    for name in ("n_train", "n_test", "n_objects"):
        with pytest.raises(InvalidParameter, match=f"{name} must be an integer of at least 1"):
            make_dataset("mnist-mode-subset", **{name: 0})


@pytest.mark.parametrize("n_objects", [3, 7, 30])
def test_any_usual_number_of_objects(mnist, n_objects):  # noqa: ARG001
    for name in NAMES:
        train, _ = make_dataset(name, n_train=20, n_test=20, n_objects=n_objects).fold(0, seed=0)
        assert set(train.sizes) == {n_objects}


def test_the_network_is_the_same_each_time_and_disturbs_nobody(tmp_path):
    import torch

    from cschoice.datasets.raw import digit_network

    images, labels = (array.astype(np.uint8) for array in patterns(300, seed=1))
    np.savez(tmp_path / "known.npz", images=images, labels=labels)
    before = torch.random.get_rng_state()
    n_threads = torch.get_num_threads()
    network = digit_network.learn(images, labels, SMALL)
    features, recognized = digit_network.describe(network, images)
    assert (recognized == labels).mean() > 0.98
    assert torch.equal(torch.random.get_rng_state(), before)
    assert torch.get_num_threads() == n_threads
    code = (
        "import json, numpy as np, torch; torch.set_num_threads(2); torch.manual_seed(5); "
        "from cschoice.datasets.raw import digit_network, digit_features; "
        "known = np.load('known.npz'); "
        "settings = digit_features.NetworkSettings(channels=(6, 12), n_hidden=64); "
        "network = digit_network.learn(known['images'], known['labels'], settings); "
        "print(json.dumps(digit_network.describe(network, known['images'])[0].tolist()))"
    )
    again = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert json.loads(again.stdout) == features.tolist()


def test_the_network_is_trained_once(mnist, monkeypatch):
    from cschoice.datasets.raw import digit_network

    first = digit_features.digits()
    monkeypatch.setattr(digit_network, "learn", None)
    assert np.array_equal(digit_features.digits().features, first.features)
    (mnist / "t10k-labels-idx1-ubyte").unlink()
    with pytest.raises(DataUnavailable, match="MNIST: t10k-labels-idx1-ubyte not found in"):
        digit_features.digits()


@pytest.mark.usefixtures("small_network")
def test_layouts_that_people_have(raw_folder, small_files):
    write(raw_folder / "FashionMNIST" / "raw", [b"fashion"] * 4)  # as torchvision has them
    with pytest.raises(DataUnavailable, match="not found"):
        digit_features.digits()
    write(raw_folder / "MNIST" / "raw", small_files)
    expected = digit_features.digits().labels.tolist()
    (raw_folder / "MNIST").rename(raw_folder.parent / "away")
    packed = [gzip.compress(content, mtime=0) for content in small_files]
    write(raw_folder, packed, "{}.gz")
    for file in FILES:
        dotted = raw_folder / file.replace("-idx", ".idx")
        (raw_folder / f"{file}.gz").rename(dotted.with_name(f"{dotted.name}.gz"))
    found = {key: file.path.name for key, file in digit_features.RAW_DATA["mnist"].find().items()}
    assert found["train-images"] == "train-images.idx3-ubyte.gz"
    images, labels = read_images(*list(digit_features.RAW_DATA["mnist"].find().values())[:2])
    assert images.shape == (1_600, 28, 28)
    assert labels.tolist() == expected


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "it begins with nothing"),
        (b"\x1f\x8b\x08\x00" * 10, "it begins with 1f 8b 08 00"),
        (idx(np.zeros(5)), "no idx file of bytes in 3 dimensions"),
        (idx(np.zeros((2, 28, 28)))[:-1], "must hold 1,568 bytes after its header, got 1,567"),
        (idx(np.zeros((2, 28, 28))) + b"x", "must hold 1,568 bytes after its header, got more"),
        (idx(np.zeros((0, 28, 28))), "cannot hold 0 × 28 × 28 bytes"),
        (bytes([0, 0, 8, 3]) + b"\xff" * 12, "cannot hold 4294967295 × 4294967295"),
        (bytes([0, 0, 8, 3, 0, 0]), "no idx file"),
    ],
)
def test_damaged_files_are_named(tmp_path, content, says):
    path = tmp_path / "images"
    path.write_bytes(content)
    with pytest.raises(DamagedData) as caught:
        read_idx(RawFile(path), 3)
    assert str(path) in str(caught.value)
    assert says in str(caught.value)


def test_images_and_labels_must_fit(tmp_path):
    images, labels = RawFile(tmp_path / "images"), RawFile(tmp_path / "labels")
    for image, label, says in (
        (np.zeros((2, 28, 27)), np.zeros(2), "must have 28 × 28 pixels, got 28 × 27"),
        (np.zeros((2, 28, 28)), np.zeros(3), "has 2 images, .*labels 3 labels"),
        (np.zeros((2, 28, 28)), np.array([0, 10]), "label 1 must be 0 to 9, got 10"),
    ):
        images.path.write_bytes(idx(image))
        labels.path.write_bytes(idx(label))
        with pytest.raises(DamagedData, match=says):
            read_images(images, labels)


@pytest.mark.usefixtures("small_network")
def test_other_images_under_the_same_names_are_noticed(raw_folder):
    rng = np.random.default_rng(0)
    noise = [rng.integers(256, size=(300, 28, 28)), rng.integers(10, size=300)] * 2
    write(raw_folder, [idx(array) for array in noise])
    with pytest.raises(DamagedData, match="are these the original files of MNIST"):
        digit_features.digits()


def test_the_real_digits_are_recognized_as_the_paper_asks(data_folder):  # noqa: ARG001
    try:
        known = digit_features.digits()
    except DataUnavailable as error:
        pytest.skip(str(error))
    assert known.accuracy >= 0.98
    assert known.features.shape == (60_000, 128)
    assert np.bincount(known.labels).tolist() == [
        *[5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
    ]
    train, test = make_dataset("mnist-mode-singleton", n_test=10_000).fold(0, seed=0)
    assert train.kind is Kind.SINGLETON
    assert (len(train), len(test), len(train.table)) == (10_000, 10_000, 30_000)
