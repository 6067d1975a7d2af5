"""LETOR 4.0: the paper's counts on the real files, the documented format on small ones."""

import lzma

import numpy as np
import pytest

from cschoice.datasets import make_dataset
from cschoice.errors import DamagedData, DataUnavailable, InvalidParameter
from cschoice.tasks import ChoiceTasks, Kind
from cschoice.tasks.splits import stratified_shuffle_splits


@pytest.fixture(scope="module")
def mq2008(data_folder):  # noqa: ARG001 - skips where there is none
    source = make_dataset("letor-mq2008")
    try:
        return source, source.whole()
    except DataUnavailable as error:
        pytest.skip(str(error))


def test_mq2008_has_the_papers_counts(mq2008):
    _, whole = mq2008
    assert len(whole.tasks) == 564
    assert np.bincount(whole.part).tolist() == [105, 112, 122, 120, 105]
    assert (whole.tasks.sizes.min(), whole.tasks.sizes.max()) == (5, 121)
    assert whole.tasks.n_entries == 12_102
    assert whole.tasks.n_features == 46


@pytest.mark.parametrize(
    ("fold", "n_train", "n_test", "n_sampled"),
    [
        (0, 459, 105, 1187),
        (1, 452, 112, 1083),
        (2, 442, 122, 1122),
        (3, 444, 120, 1203),
        (4, 459, 105, 1201),
    ],
)
def test_mq2008_has_the_papers_folds(mq2008, fold, n_train, n_test, n_sampled):
    source, whole = mq2008
    numbers = source.split(whole, fold, seed=0)
    assert [len(side) for side in numbers] == [n_train, n_test]
    train, test = source.fold(fold, seed=0)
    small = int((whole.tasks.sizes[numbers[0]] < 10).sum())  # kept whole, not in the paper's count
    assert len(train) - small == (train.sizes == 10).sum() == n_sampled
    assert test == whole.tasks[numbers[1]]
    n_chosen = train.reduce(np.add, train.chosen, dtype=np.int64)
    assert (n_chosen >= 1).all()
    assert (n_chosen[train.sizes == 10] < 10).all()


def test_samples_of_one_query_stay_on_one_side_of_inner_splits(mq2008):
    train, _ = mq2008[0].fold(0, seed=0)
    assert len(np.unique(train.groups)) == 459
    for inner, held_out in stratified_shuffle_splits(train, 3, 0.1, seed=1):
        assert not set(train.groups[inner]) & set(train.groups[held_out])


def test_mq2008_never_trains_on_test_documents(mq2008):
    source, _ = mq2008
    train, test = source.fold(0, seed=0)
    assert not {row.tobytes() for row in train.table if row.any()} & {
        row.tobytes() for row in test.table if row.any()
    }


def line(relevance, query, value, comment="#docid = GX000-00-0000000 inc = 1 prob = 0.5"):
    features = " ".join(f"{k}:{value + k / 1000:.6f}" for k in range(1, 47))
    return f"{relevance} qid:{query} {features} {comment}\n"


def query(number, relevances):
    return "".join(line(r, number, k / 10) for k, r in enumerate(relevances))


def write(folder, parts, name="S{}.txt"):
    folder.mkdir(parents=True, exist_ok=True)
    for k, text in enumerate(parts, start=1):
        path = folder / name.format(k)
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)


SUPERVISED = [query(10 * k, [0, 2, 0, 1]) + query(10 * k + 1, [0, 0, 0]) for k in range(1, 6)]


def test_queries_without_a_relevant_document_are_dropped(raw_folder):
    write(raw_folder / "MQ2007", SUPERVISED)
    tasks = make_dataset("letor-mq2007").whole().tasks
    assert tasks.kind is Kind.SUBSET
    assert tasks.sizes.tolist() == [4] * 5
    assert tasks.chosen.tolist() == [False, True, False, True] * 5
    np.testing.assert_allclose(tasks.features[1, [0, 45]], [0.101, 0.146], rtol=1e-5)


def test_letors_own_folds_give_the_same_parts(raw_folder):
    write(raw_folder / "a" / "MQ2007", SUPERVISED)
    expected = make_dataset("letor-mq2007").fold(2, seed=3)
    (raw_folder / "a").rename(raw_folder.parent / "away")
    for fold, part in {1: 5, 2: 1, 3: 2, 4: 3, 5: 4}.items():  # the table in the archive
        folder = raw_folder / "MQ2007" / f"Fold{fold}"
        folder.mkdir(parents=True)
        (folder / "test.txt").write_text(SUPERVISED[part - 1])
        (folder / "train.txt").write_text("never read")
    assert make_dataset("letor-mq2007").fold(2, seed=3) == expected


def test_listwise_sets_choose_the_largest_relevance_of_every_sub_sample(raw_folder):
    rng = np.random.default_rng(0)
    ranks = {k: rng.permutation(60) for k in range(1, 6)}
    write(raw_folder / "MQ2008-list", [query(k, ranks[k]) for k in ranks])
    source = make_dataset("letor-mq2008-list")
    train, test = source.fold(0, seed=0)
    assert test.kind is train.kind is Kind.SINGLETON
    assert np.flatnonzero(test.chosen).tolist() == [int(ranks[1].argmax())]
    assert train.sizes.tolist() == [10] * (4 * 60 // 6)
    relevance = {}
    for k in range(2, 6):
        whole = source.whole().tasks[k - 1]
        relevance |= {
            (k, row.tobytes()): r for row, r in zip(whole.features, ranks[k], strict=True)
        }
    for number in range(len(train)):
        task, k = train[number], 2 + number // 10
        values = [relevance[k, row.tobytes()] for row in task.features]
        assert len(set(values)) == 10
        assert task.chosen.tolist() == [value == max(values) for value in values]


def test_sub_samples_are_random_fair_and_repeatable(raw_folder):
    write(raw_folder / "MQ2007", [query(k, [1] * 6 + [0] * 18) for k in range(1, 6)])
    source = make_dataset("letor-mq2007", n_objects=8)
    train, _ = source.fold(1, seed=5)
    assert train.sizes.tolist() == [8] * 4 * (24 // 8 + 2)
    assert train == source.fold(1, seed=5)[0]
    assert train != source.fold(1, seed=6)[0]
    positions = train.chosen.reshape(-1, 8).mean(axis=0)
    assert positions.max() < 0.8  # the chosen ones are not always at the front


def test_limits_take_a_share_of_the_tasks(raw_folder):
    write(raw_folder / "MQ2007", [query(k, [1, 0, 0] * 20) for k in range(1, 6)])
    train, test = make_dataset("letor-mq2007", max_train=7).fold(0, seed=0)
    assert len(train) == 7
    assert len(test) == 1
    assert len(train.table) <= 70


def test_sparse_lines_and_scattered_queries_are_read(raw_folder):
    parts = ["1 qid:5 2:0.5 46:-1e-3\n0 qid:4 1:1\n\n0 qid:5 #nothing\r\n1 qid:4\n"] * 5
    write(raw_folder / "MQ2007", parts)
    tasks = make_dataset("letor-mq2007").whole().tasks
    assert tasks.sizes.tolist() == [2] * 10
    assert tasks.chosen[:4].tolist() == [True, False, False, True]
    assert tasks.features[0, [1, 45]].tolist() == [np.float32(0.5), np.float32(-1e-3)]


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ("words\n", "expected 'relevance qid:query 1:value …'"),
        (line(3, 1, 0.0), "relevance must be one of 0, 1, 2, got 3"),
        (line("x", 1, 0.0), "relevance must be a number, got 'x'"),
        (line(1, "q", 0.0), "query must be a number, got 'q'"),
        (line(1, 1, 0.0).replace("7:0.007000", "7:NULL"), "use the QueryLevelNorm version"),
        (line(1, 1, 0.0).replace("7:0.007000", "7:inf"), "feature 7 must be a number, got 'inf'"),
        (line(1, 1, 0.0).replace("46:", "47:"), "index from 1 to 46, got '47:0.046000'"),
        (line(1, 1, 0.0).replace("46:", "46="), "got '46=0.046000'"),
        (line(1, 1, 0.0).replace("7:0.007", "7:0.d07"), "must be a number, got '0.d07000'"),
        (line(1, 1, 0.0).replace("7:0.007", "6:0.007"), "feature 6 for the second time"),
        (line(1, 1.5, 0.0), "query must be an integer, got 'qid:1.5'"),
    ],
)
def test_a_malformed_line_is_named(raw_folder, bad, says):
    write(raw_folder / "MQ2007", SUPERVISED)
    (raw_folder / "MQ2007" / "S3.txt").write_text(query(1, [0, 1]) + "\n" + bad)
    with pytest.raises(DamagedData) as caught:
        make_dataset("letor-mq2007").fold(0, seed=0)
    assert "S3.txt, line 4: " in str(caught.value)
    assert says in str(caught.value)


def test_missing_empty_and_cut_files_are_unavailable_data(raw_folder):
    source = make_dataset("letor-mq2007")
    with pytest.raises(DataUnavailable, match="S1.txt, S2.txt, S3.txt, S4.txt, S5.txt not found"):
        source.fold(0, seed=0)
    write(raw_folder / "MQ2007", SUPERVISED[:4])
    with pytest.raises(DataUnavailable, match="LETOR 4.0 MQ2007: S5.txt not found"):
        source.fold(0, seed=0)
    (raw_folder / "MQ2007" / "S5.txt").touch()
    with pytest.raises(DataUnavailable, match="S5.txt is empty"):
        source.fold(0, seed=0)
    (raw_folder / "MQ2007" / "S5.txt").unlink()
    (raw_folder / "MQ2007" / "S5.txt.xz").write_bytes(lzma.compress(b"0 qid:1\n")[:-9])
    with pytest.raises(DataUnavailable, match="S5.txt.xz is damaged"):
        source.fold(0, seed=0)


def test_parameters_out_of_range_are_refused(raw_folder):
    write(raw_folder / "MQ2007", SUPERVISED)
    with pytest.raises(InvalidParameter, match="LETOR has the folds 0 to 4, got 5"):
        make_dataset("letor-mq2007").fold(5, seed=0)
    with pytest.raises(InvalidParameter, match="year must be one of 2007, 2008, got 2009"):
        make_dataset("letor-mq2007", year=2009)
    for name, value in (("n_objects", 1), ("max_train", 0), ("max_test", True)):
        with pytest.raises(InvalidParameter, match=f"{name} must be a whole number of at least"):
            make_dataset("letor-mq2007", **{name: value})


def test_whole_tasks_are_valid(raw_folder):
    write(raw_folder / "MQ2007", SUPERVISED)
    for tasks in make_dataset("letor-mq2007").fold(0, seed=0):
        assert tasks == ChoiceTasks(
            tasks.table, tasks.items, tasks.offsets, tasks.chosen, tasks.kind, tasks.groups
        )
