"""The Tag Genome: both releases in their documented formats, the paper's rule."""

import zipfile

import numpy as np
import pytest

from cschoice.datasets import DATASETS, make_dataset
from cschoice.datasets.raw.catalogue import RAW_DATA
from cschoice.datasets.raw.checks import Verdict, check
from cschoice.datasets.raw.samples import sample_of
from cschoice.datasets.raw.tag_genome import tag_weights
from cschoice.datasets.raw.tag_genome_files import popularities, relevances
from cschoice.errors import DamagedData, DataUnavailable, InvalidParameter
from cschoice.tasks import ChoiceTasks
from cschoice.tasks.scaling import Scaling

NAMES = ["tag-genome-similar", "tag-genome-dissimilar"]
TAGS = ["action", "harry potter", "007", "great, really", 'the "end"']
IDS = [3, 1, 4, 9, 7]  # tags are numbered as the file says
POPULARITY = [5, 3, 2, 1, 0]
MOVIES = [50, 2, 7, 1_000_000, *range(100, 140)]


@pytest.fixture
def relevance():
    return np.random.default_rng(0).random((len(MOVIES), len(TAGS))).round(5)


def quoted(text):
    return '"' + text.replace('"', '""') + '"' if set(text) & set(',"') else text


def scores(relevance, separator):
    return "".join(
        separator.join(map(str, (movie, tag, relevance[row, column]))) + "\n"
        for row, movie in enumerate(MOVIES)
        for column, tag in enumerate(IDS)
    )


def write_csv(folder, relevance):
    folder.mkdir(parents=True)
    (folder / "genome-scores.csv").write_text("movieId,tagId,relevance\n" + scores(relevance, ","))
    rows = "".join(f"{k},{quoted(tag)}\n" for k, tag in zip(IDS, TAGS, strict=True))
    (folder / "genome-tags.csv").write_text("tagId,tag\n" + rows)
    # Each person counts once, however often they used a tag and however they wrote it.
    rows = [
        f"{user},{movie},{quoted(name)},1240597180\n"
        for tag, n_users in zip(TAGS, POPULARITY, strict=True)
        for user in range(1, n_users + 1)
        for movie, name in ((50, tag), (2, tag.upper()))
    ]
    rows.append("1,2,not in the genome,1240597180\n")
    (folder / "tags.csv").write_text("userId,movieId,tag,timestamp\n" + "".join(rows))


def write_dat(folder, relevance):
    folder.mkdir(parents=True)
    (folder / "tag_relevance.dat").write_text(scores(relevance, "\t"))
    rows = zip(IDS, TAGS, POPULARITY, strict=True)
    (folder / "tags.dat").write_text("".join(f"{k}\t{tag}\t{n}\n" for k, tag, n in rows))
    (folder / "movies.dat").write_bytes("50\tAmélie (2001)\t7\n".encode("latin-1"))


@pytest.mark.parametrize("write", [write_csv, write_dat])
def test_both_releases_say_the_same(raw_folder, relevance, write):
    write(raw_folder / "genome", relevance)
    files = RAW_DATA["tag-genome"].find()
    tags, popularity = popularities(files)
    assert tags.tolist() == IDS
    assert popularity.tolist() == POPULARITY
    read = relevances(files, tags)
    np.testing.assert_array_equal(read, relevance[np.argsort(MOVIES)].astype(np.float32))


def similarity(weights, x, y):
    return (weights * x * y).sum() / np.sqrt((weights * x * x).sum() * (weights * y * y).sum())


@pytest.mark.parametrize("name", NAMES)
def test_the_rule_is_the_papers(raw_folder, relevance, name):
    write_csv(raw_folder / "ml-20m", relevance)
    weights = tag_weights(relevance, np.array(POPULARITY))
    train, test = make_dataset(name, n_train=200, n_test=30, n_objects=6).fold(0, seed=0)
    for number in range(len(train)):
        x = train[number].features.astype(np.float64)
        similar = np.array([[similarity(weights, a, b) for a in x] for b in x])
        medoid = int(similar.mean(axis=1).argmax())
        others = [k for k in range(6) if k != medoid]
        pick = max if name == "tag-genome-similar" else min
        expected = pick(others, key=lambda k: similar[medoid, k])
        assert np.flatnonzero(train[number].chosen).tolist() == [expected]
    assert (len(train), len(test)) == (200, 30)


def test_frequencies_and_popularities_of_0_and_1_are_guarded():
    relevance = np.array([[0.9, 0.9, 0.1], [0.6, 0.2, 0.1]])
    weights = tag_weights(relevance, np.array([0, 8, 8]))
    np.testing.assert_allclose(weights, [0, 3, 3])


@pytest.mark.parametrize("name", NAMES)
def test_a_fold_has_the_sizes_asked_for_and_one_table(raw_folder, relevance, name):
    write_dat(raw_folder / "tag-genome", relevance)
    source, info = make_dataset(name), DATASETS[name]
    assert (source.n_train, source.n_test) == (info.n_train, info.n_test)
    source = make_dataset(name, n_train=50, n_test=70, n_objects=4)
    train, test = source.fold(0, seed=0)
    assert (len(train), len(test)) == (50, 70)
    assert np.shares_memory(train.table, test.table)
    assert (train, test) == source.fold(0, seed=0)
    assert train != source.fold(1, seed=0)[0]
    assert train != source.fold(0, seed=1)[0]
    more, _ = make_dataset(name, n_train=9_000, n_test=1, n_objects=4).fold(0, seed=0)
    assert more[:50] == train
    for tasks in (train, test):
        assert tasks == ChoiceTasks(
            tasks.table, tasks.items, tasks.offsets, tasks.chosen, tasks.kind
        )
    assert source.standardize
    assert train.scaled(Scaling.learn(train.table, train.items)).n_features == len(TAGS)


def test_other_files_of_the_same_name_are_not_mixed_in(raw_folder, relevance):
    other = raw_folder / "a-small-one"
    other.mkdir()
    (other / "tags.csv").write_text("userId,movieId,tag,timestamp\n1,2,action,3\n")
    (other / "tags.dat").write_text("1::2::action::3\n")
    write_csv(raw_folder / "ml-20m", relevance)
    assert RAW_DATA["tag-genome"].find()["applied"].path.parent.name == "ml-20m"
    (raw_folder / "ml-20m").rename(raw_folder.parent / "away")
    write_dat(raw_folder / "tag-genome", relevance)
    assert RAW_DATA["tag-genome"].find()["tags"].path.parent.name == "tag-genome"


def test_the_archive_is_read_as_it_is(raw_folder, relevance):
    write_csv(raw_folder / "ml-20m", relevance)
    expected = make_dataset(NAMES[0], n_train=20, n_test=20).fold(0, seed=0)
    with zipfile.ZipFile(raw_folder / "ml-20m.zip", "w") as archive:
        for path in (raw_folder / "ml-20m").iterdir():
            archive.write(path, f"ml-20m/{path.name}")
            path.unlink()
    assert make_dataset(NAMES[0], n_train=20, n_test=20).fold(0, seed=0) == expected


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("genome-scores.csv", ("\n50,3,", "\n50,8,"), "line 2: tag 8 is not in the list of tags"),
        ("genome-scores.csv", ("\n50,1,0.", "\n50,1,7."), "line 3: relevance must be between 0"),
        ("genome-scores.csv", ("\n50,1,", "\n50,1;"), "line 3: expected 3 columns, got 2"),
        ("genome-scores.csv", ("\n2,1,", "\n2,3,"), "movie 2 has no relevance for tag 1"),
        ("genome-scores.csv", ("\n2,3,", "\n2,3,0.5\n2,3,"), "line 8: movieId 2, tagId 3 for the"),
        ("genome-scores.csv", ("relevance", "score"), "line 1: no column relevance"),
        ("genome-tags.csv", ("\n1,", "\n3,"), "line 3: tagId 3 for the second time"),
        ("genome-tags.csv", ("\n1,", "\none,"), "line 3: tagId must be an integer, got 'one'"),
        ("tags.csv", ("\n2,", "\nme,"), "userId must be an integer, got 'me'"),
    ],
)
def test_a_malformed_line_is_named(raw_folder, relevance, name, change, says):
    write_csv(raw_folder / "ml-20m", relevance)
    path = raw_folder / "ml-20m" / name
    text = path.read_text()
    assert change[0] in text
    path.write_text(text.replace(*change, 1))
    with pytest.raises(DamagedData) as caught:
        make_dataset(NAMES[0]).fold(0, seed=0)
    assert name in str(caught.value)
    assert says in str(caught.value)


@pytest.mark.parametrize("name", ["genome-scores.csv", "genome-tags.csv"])
def test_files_without_rows_are_unavailable_data(raw_folder, relevance, name):
    write_csv(raw_folder / "ml-20m", relevance)
    path = raw_folder / "ml-20m" / name
    path.write_text(path.read_text().split("\n")[0] + "\n")
    with pytest.raises(DataUnavailable, match=f"{name} has no rows"):
        make_dataset(NAMES[0]).fold(0, seed=0)


def test_too_few_objects_are_refused():
    with pytest.raises(InvalidParameter, match="n_objects must be a whole number of at least 3"):
        make_dataset(NAMES[0], n_objects=2)


def test_few_movies_are_a_sample_and_no_genome_of_the_paper(raw_folder, relevance):
    write_csv(raw_folder / "genome", relevance)
    (movies,) = (each for each in check("tag-genome") if each.what == "movies")
    assert movies.verdict is Verdict.WRONG
    assert movies.note == "the files are a sample: 44 of 10,993 movies"
    assert sample_of("tag-genome-similar") == "44 of 10,993 movies"
