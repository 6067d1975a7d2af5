"""MNIST: the paper's rules on digits, its accuracy on the real files, small files otherwise."""

import gzip
import os
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from cschoice.datasets import DATASETS, make_dataset
from cschoice.datasets.raw import digit_features
from cschoice.datasets.raw.digit_features import (
    features_hash,
    read_idx,
    read_images,
)
from cschoice.datasets.raw.digit_network import FEATURES_SHA256, DigitNetwork
from cschoice.datasets.raw.files import RawFile
from cschoice.datasets.raw.mnist import occurrences
from cschoice.errors import DamagedData, DataUnavailable, InvalidParameter
from cschoice.evaluation.metrics import metric
from cschoice.learners import make_learner
from cschoice.runs.store import ResultStore
from cschoice.study.config import load
from cschoice.study.plan import Selection, plan
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
    """Images of the format of MNIST: each digit is a pattern of squares of its own."""
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


@pytest.fixture
def any_images(shared_cache, monkeypatch):
    """Patterns count as digits; their features are computed once for all tests."""
    monkeypatch.setattr(digit_features, "LEAST_ACCURACY", 0.0)
    monkeypatch.setenv("CSCHOICE_CACHE", str(shared_cache))


@pytest.fixture
def mnist(raw_folder, small_files, any_images):  # noqa: ARG001
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


def test_jobs_state_the_features_so_that_results_of_other_ones_are_stale():
    study = load()
    jobs = plan(
        study, Selection("study", "laptop", ["mnl"], ["mnist-*"]), ResultStore(Path("none"))
    )
    assert {job.dataset for job in jobs} == set(NAMES)
    assert {job.dataset_parameters["features"] for job in jobs} == {FEATURES_SHA256[:12]}
    with pytest.raises(InvalidParameter, match="features must be one of"):
        make_dataset("mnist-mode-subset", features="of another network")


def test_how_many_unique_digits_there_are_at_least():
    one, two = (occurrences(np.array([digits])) for digits in ([1, 2, 2, 2], [1, 2, 3, 3]))
    several = make_dataset("mnist-unique-subset")
    assert not several._choice(one)[0].any()
    assert several._choice(two)[0].all()
    assert make_dataset("mnist-unique-subset", min_chosen=1)._choice(one)[0].all()
    for wrong in (0, 11, 1.5, True):
        with pytest.raises(
            InvalidParameter, match="min_chosen must be a whole number from 1 to 10"
        ):
            make_dataset("mnist-unique-subset", min_chosen=wrong)
    with pytest.raises(InvalidParameter, match="min_chosen must be at most 9"):
        make_dataset("mnist-unique-subset", n_objects=12, min_chosen=10)


@pytest.mark.usefixtures("mnist")
@pytest.mark.parametrize("direction", ["per-fold", "fixed"])
def test_the_largest_angle_to_one_vector_is_chosen(direction):
    parameters = {"n_train": 1_500, "n_test": 1_500, "direction": direction}
    largest = make_dataset("mnist-mode-singleton", **parameters)
    least = make_dataset("mnist-mode-singleton", **parameters, angle="least")
    folds = []
    for index in (0, 1):
        rows = []
        for high, low in zip(largest.fold(index, 0), least.fold(index, 0), strict=True):
            assert (high.items == low.items).all()
            one, other = (tasks.features[tasks.chosen] for tasks in (high, low))
            unit = one / np.linalg.norm(one, axis=1, keepdims=True)
            rows.append(other / np.linalg.norm(other, axis=1, keepdims=True) - unit)
        differences = np.concatenate(rows).astype(np.float64)
        folds.append(differences[np.abs(differences).sum(axis=1) > 0])
    assert one_vector_separates(folds[0])
    assert one_vector_separates(folds[1])
    assert one_vector_separates(np.concatenate(folds)) == (direction == "fixed")


def one_vector_separates(differences):
    """Return whether a vector has a positive product with all of them: a linear program."""
    from scipy.optimize import linprog

    n_features, limits = differences.shape[1], np.full(len(differences), -1e-4)
    found = linprog(np.zeros(n_features), -differences, limits, bounds=[(None, None)] * n_features)
    return found.status == 0


def test_options_of_the_mode_are_checked():
    with pytest.raises(InvalidParameter, match="angle must be one of largest, least"):
        make_dataset("mnist-mode-singleton", angle="small")
    with pytest.raises(InvalidParameter, match="direction must be one of per-fold, fixed"):
        make_dataset("mnist-mode-singleton", direction="free")


@pytest.mark.usefixtures("mnist")
def test_unique_digits_are_drawn_as_in_the_released_code():
    train, _ = make_dataset("mnist-unique-singleton", n_train=20_000, n_test=1).fold(0, seed=1)
    labels = shown(train)
    occurs = np.sort(occurrences(labels), axis=1)
    assert (occurs[:, 0] == 1).all()
    # The others: 2, 2, 2 and 3 images of four digits out of nine, the same one again counts on.
    four_different = (occurs == [1, 2, 2, 2, 2, 2, 2, 3, 3, 3]).all(axis=1)
    assert abs(four_different.mean() - 9 * 8 * 7 * 6 / 9**4) < 0.015
    assert abs((occurs[:, -1] == 9).mean() - 1 / 9**3) < 0.002  # all nine show one digit
    unique = labels[train.chosen.reshape(len(train), -1)]
    assert np.abs(np.bincount(unique, minlength=10) / len(train) - 0.1).max() < 0.01
    drawn = np.bincount(labels.ravel(), minlength=10) / labels.size
    assert np.abs(drawn - 0.1).max() < 0.01
    uniform, _ = make_dataset(
        "mnist-unique-singleton", n_train=20_000, n_test=1, counts="uniform"
    ).fold(0, seed=1)
    assert (np.sort(occurrences(shown(uniform)), axis=1)[:, 2] > 2).any()  # 1, 3, 3, 3
    with pytest.raises(InvalidParameter, match="counts must be one of fixed, uniform"):
        make_dataset("mnist-unique-singleton", counts="any")
    with pytest.raises(InvalidParameter, match="n_objects must not be 2"):
        make_dataset("mnist-unique-singleton", n_objects=2)


def test_sets_that_hardly_exist_are_refused(mnist):  # noqa: ARG001
    for n_objects in (2, 200):  # two digits are both unique or neither; 200 are never
        with pytest.raises(InvalidParameter, match=f"n_objects={n_objects} hardly any set"):
            make_dataset("mnist-unique-singleton", n_objects=n_objects, counts="uniform").fold(0, 0)
    with pytest.raises(InvalidParameter, match="n_objects must be at most 800"):
        make_dataset("mnist-mode-subset", n_objects=801).fold(0, seed=0)
    with pytest.raises(InvalidParameter, match="do not fit in memory"):
        make_dataset("mnist-mode-subset", n_train=10**15).fold(0, seed=0)
    for name in ("n_train", "n_test", "n_objects"):
        with pytest.raises(InvalidParameter, match=f"{name} must be a whole number of at least 1"):
            make_dataset("mnist-mode-subset", **{name: 0})


@pytest.mark.parametrize("n_objects", [3, 7, 30])
def test_any_usual_number_of_objects(mnist, n_objects):  # noqa: ARG001
    for name in NAMES:
        train, _ = make_dataset(name, n_train=20, n_test=20, n_objects=n_objects).fold(0, seed=0)
        assert set(train.sizes) == {n_objects}


@pytest.mark.parametrize(("threads", "processor"), [("1", ""), ("2", ""), ("1", "Prescott")])
def test_features_are_the_same_in_any_order_of_summation(tmp_path, threads, processor):
    images, _ = patterns(150, seed=1)
    expected, _ = DigitNetwork.load().describe(images.astype(np.uint8))
    np.save(tmp_path / "images.npy", images.astype(np.uint8))
    code = (
        "import sys, numpy as np; "
        "from cschoice.datasets.raw.digit_features import features_hash; "
        "from cschoice.datasets.raw.digit_network import DigitNetwork; "
        "print(features_hash(DigitNetwork.load().describe(np.load('images.npy'))[0]))"
    )
    variables = {"OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads}
    if processor:  # sums in the order of another one, where NumPy comes with OpenBLAS
        variables["OPENBLAS_CORETYPE"] = processor
    again = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    assert again.stdout.strip() == features_hash(expected)


def test_whole_numbers_stay_exact_in_double_precision():
    """No sum in the network can reach 2⁵³, whatever the image."""
    largest = 255.0
    for layer in DigitNetwork.load().layers:
        for part in (layer.weight, layer.bias, layer.divisor):
            assert (part == np.rint(part)).all()
        sums = largest * np.abs(layer.weight).sum(axis=0) + np.abs(layer.bias)
        assert sums.max() < 2**53
        largest = np.floor(sums / layer.divisor).max()
    assert np.array_equal(layer.divisor, 2 ** np.rint(np.log2(layer.divisor)))


def test_a_layer_is_what_integers_make_of_it():
    images, _ = patterns(3, seed=2)
    first = DigitNetwork.load().layers[0]
    whole = [part.astype(np.int64) for part in (first.weight, first.bias, first.divisor)]
    weight, bias, divisor = whole
    patch = images[1, 4:9, 10:15].astype(np.int64).ravel()
    expected = (patch @ weight + bias) // divisor  # Python's: rounds down
    assert np.array_equal(first(patch[None].astype(np.float64))[0], expected)


def test_the_features_are_made_once(mnist, monkeypatch):
    first = digit_features.digits()
    monkeypatch.setattr(DigitNetwork, "describe", None)
    assert np.array_equal(digit_features.digits().features, first.features)
    (mnist / "t10k-labels-idx1-ubyte").unlink()
    with pytest.raises(DataUnavailable, match="MNIST: t10k-labels-idx1-ubyte not found in"):
        digit_features.digits()


@pytest.mark.usefixtures("any_images")
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
    assert known.accuracy >= 0.989
    assert features_hash(known.features) == FEATURES_SHA256
    assert known.features.shape == (60_000, 128)
    assert np.bincount(known.labels).tolist() == [
        *[5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
    ]
    train, test = make_dataset("mnist-mode-singleton", n_test=10_000).fold(0, seed=0)
    assert train.kind is Kind.SINGLETON
    assert (len(train), len(test), len(train.table)) == (10_000, 10_000, 30_000)


def test_a_learner_without_context_scores_as_in_the_paper_on_unique_digits(data_folder):  # noqa: ARG001
    source = make_dataset("mnist-unique-singleton", n_test=20_000)
    try:
        train, test = source.fold(0, seed=101)
    except DataUnavailable as error:
        pytest.skip(str(error))
    utilities = make_learner("mnl").fit(train).utilities(test)
    assert metric("top-5")(test, utilities) == pytest.approx(0.495, abs=0.01)  # the paper's MNL
    assert metric("top-3")(test, utilities) == pytest.approx(0.307, abs=0.01)  # and its RankNet
