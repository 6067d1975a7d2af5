"""Expedia's train.csv in its documented format, small."""

import gzip
import zipfile

import numpy as np
import pytest

from cschoice.datasets import make_dataset
from cschoice.datasets.raw import checks
from cschoice.datasets.raw.catalogue import RAW_DATA
from cschoice.datasets.raw.samples import sample_of
from cschoice.errors import DamagedData, InvalidParameter
from cschoice.tasks import ChoiceTasks, Kind

COLUMNS = [
    "srch_id",
    "date_time",
    "site_id",
    "visitor_location_country_id",
    "visitor_hist_starrating",
    "visitor_hist_adr_usd",
    "prop_country_id",
    "prop_id",
    "prop_starrating",
    "prop_review_score",
    "prop_brand_bool",
    "prop_location_score1",
    "prop_location_score2",
    "prop_log_historical_price",
    "position",
    "price_usd",
    "promotion_flag",
    "srch_destination_id",
    "srch_length_of_stay",
    "srch_booking_window",
    "srch_adults_count",
    "srch_children_count",
    "srch_room_count",
    "srch_saturday_night_bool",
    "srch_query_affinity_score",
    "orig_destination_distance",
    "random_bool",
    *(f"comp{k}_{what}" for k in range(1, 9) for what in ("rate", "inv", "rate_percent_diff")),
    "click_bool",
    "gross_bookings_usd",
    "booking_bool",
]
LEFT_OUT = {"srch_id", "date_time", "site_id", "prop_id", "click_bool", "booking_bool"}
LEFT_OUT |= {name for name in COLUMNS if name.endswith("_id")} | {"gross_bookings_usd"}
MOSTLY_MISSING = {name for name in COLUMNS if name.startswith("comp")} | {
    "visitor_hist_starrating",
    "visitor_hist_adr_usd",
    "srch_query_affinity_score",
}
SOMETIMES_MISSING = {"prop_review_score", "prop_location_score2", "orig_destination_distance"}
KEPT = [name for name in COLUMNS if name not in LEFT_OUT | MOSTLY_MISSING | {"position"}]


def searches(sizes, clicked, booked, seed=0):
    """Rows of searches; the hotels clicked and booked are given by positions."""
    rng = np.random.default_rng(seed)
    rows = []
    for search, (size, clicks, books) in enumerate(zip(sizes, clicked, booked, strict=True)):
        for place in range(size):
            row = {name: f"{rng.integers(1, 100)}" for name in COLUMNS}
            row |= {name: "NULL" for name in MOSTLY_MISSING if rng.random() < 0.8}
            row |= {name: "NULL" for name in SOMETIMES_MISSING if rng.random() < 0.3}
            row |= {"srch_id": f"{10 + search}", "date_time": "2013-04-04 08:32:15"}
            row |= {"price_usd": f"{search}.{place:02d}", "position": f"{place + 1}"}
            row |= {"click_bool": f"{int(place in clicks)}", "gross_bookings_usd": "NULL"}
            row |= {"booking_bool": f"{int(place in books)}"}
            rows.append(row)
    return rows


def text(rows):
    lines = [",".join(COLUMNS), *(",".join(row[name] for name in COLUMNS) for row in rows)]
    return "\n".join(lines) + "\n"


SIZES = [5, 12, 25, 31, 5, 38] * 10
CLICKED = [{1}, {2, 3}, {4}, {5, 30}, {0}, {7}] * 10
BOOKED = [{1}, {3}, set(), set(), set(), {7}] * 10


@pytest.fixture
def train_csv(raw_folder):
    path = raw_folder / "expedia" / "train.csv"
    path.parent.mkdir()
    path.write_text(text(searches(SIZES, CLICKED, BOOKED)))
    return path


@pytest.mark.usefixtures("train_csv")
def test_subset_choice_is_what_was_clicked_or_booked():
    tasks = make_dataset("expedia-subset").whole().tasks
    assert tasks.kind is Kind.SUBSET
    assert tasks.sizes.tolist() == SIZES
    for number, clicks in enumerate(CLICKED):
        assert set(np.flatnonzero(tasks[number].chosen).tolist()) == clicks


@pytest.mark.usefixtures("train_csv")
def test_singleton_choice_is_what_was_booked():
    tasks = make_dataset("expedia-singleton").whole().tasks
    assert tasks.kind is Kind.SINGLETON
    assert tasks.sizes.tolist() == [5, 12, 38] * 10
    assert np.flatnonzero(tasks[:3].chosen).tolist() == [1, 5 + 3, 17 + 7]


@pytest.mark.usefixtures("train_csv")
def test_searches_with_a_single_click_are_taken_in_on_request():
    tasks = make_dataset("expedia-singleton", single_clicks=True).whole().tasks
    assert tasks.sizes.tolist() == [5, 12, 25, 5, 38] * 10
    assert np.flatnonzero(tasks[:5].chosen).tolist() == [1, 5 + 3, 17 + 4, 42 + 0, 47 + 7]


@pytest.mark.usefixtures("train_csv")
def test_features_mostly_missing_are_dropped_and_gaps_filled_below_everything():
    rows = searches(SIZES, CLICKED, BOOKED)
    table = make_dataset("expedia-subset").whole().tasks.features
    assert len(KEPT) == table.shape[1] == 16
    for column, name in enumerate(KEPT):
        gaps = np.array([row[name] == "NULL" for row in rows])
        numbers = np.array([float(row[name]) for row in rows if row[name] != "NULL"])
        np.testing.assert_array_equal(table[~gaps, column], numbers.astype(np.float32))
        if gaps.any():
            assert set(table[gaps, column]) == {-2.0}
    with_position = make_dataset("expedia-subset", position=True).whole().tasks.features
    assert with_position.shape[1] == 17  # the paper's number
    np.testing.assert_array_equal(with_position[:, :-1], table)
    assert with_position[:7, -1].tolist() == [1, 2, 3, 4, 5, 1, 2]


def test_fills_are_below_negative_numbers_too(train_csv):
    rows = searches(SIZES, CLICKED, BOOKED)
    for row in rows[::3]:
        row["prop_location_score2"] = "-7.5"
    train_csv.write_text(text(rows))
    table = make_dataset("expedia-subset").whole().tasks.features
    assert table[:, KEPT.index("prop_location_score2")].min() == -8.5


@pytest.mark.usefixtures("train_csv")
def test_a_fifth_of_each_size_is_for_training_in_samples_of_ten():
    source = make_dataset("expedia-subset")
    train_numbers, test_numbers = source.split(source.whole(), 0, seed=0)
    sizes = np.array(SIZES)
    assert np.unique(sizes[train_numbers], return_counts=True)[1].tolist() == [4, 2, 2, 2, 2]
    train, test = source.fold(0, seed=0)
    assert test == source.whole().tasks[test_numbers]
    # Small ones whole, the others as often as ten fits into them and once more.
    assert np.unique(train.sizes, return_counts=True)[1].tolist() == [4, 2 * (2 + 3 + 4 + 4)]
    assert (train, test) == source.fold(0, seed=0)
    assert test != source.fold(1, seed=0)[1]
    for tasks in (train, test):
        assert tasks == ChoiceTasks(
            tasks.table, tasks.items, tasks.offsets, tasks.chosen, tasks.kind, tasks.groups
        )
    train, _ = make_dataset("expedia-singleton").fold(0, seed=0)
    assert np.unique(train.sizes, return_counts=True)[1].tolist() == [2, 2 * (1 + 3)]
    train, test = make_dataset("expedia-singleton", max_train=5, max_test=7).fold(0, seed=0)
    assert (len(train), len(test)) == (5, 7)


def test_searches_may_be_scattered(train_csv):
    expected = make_dataset("expedia-subset").whole().tasks
    rows = searches(SIZES, CLICKED, BOOKED)
    scattered = sorted(rows, key=lambda row: int(row["position"]))
    assert scattered != rows
    train_csv.write_text(text(scattered))
    assert make_dataset("expedia-subset").whole().tasks == expected


def test_packings_and_layouts_that_people_have(train_csv, raw_folder):
    content = train_csv.read_bytes()
    expected = make_dataset("expedia-subset").whole().tasks
    train_csv.unlink()
    other = raw_folder / "titanic" / "train.csv"
    other.parent.mkdir()
    other.write_text("PassengerId,Survived\n1,0\n")
    for name in ("expedia/train.csv.gz", "expedia-personalized-sort.zip", "expedia/data.zip"):
        path = raw_folder / name
        if path.suffix == ".gz":
            path.write_bytes(gzip.compress(content))
        else:
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("train.csv", content)
        assert RAW_DATA["expedia"].find()["train"].path == path
        assert make_dataset("expedia-subset").whole().tasks == expected
        path.unlink()


@pytest.mark.parametrize(
    ("column", "value", "says"),
    [
        ("click_bool", "2", "line 5: click_bool must be 0 or 1, got 2"),
        ("booking_bool", "NULL", "line 5: booking_bool must be an integer, got 'NULL'"),
        ("srch_id", "x", "line 5: srch_id must be an integer, got 'x'"),
        ("price_usd", "cheap", "line 5: price_usd must be a number, got 'cheap'"),
        ("price_usd", "1,2", "line 5: expected 54 columns, got 55"),
        ("comp3_inv", "nan", "line 5: comp3_inv must be a number, got 'nan'"),
    ],
)
def test_a_malformed_line_is_named(train_csv, column, value, says):
    rows = searches(SIZES, CLICKED, BOOKED)
    rows[3][column] = value
    train_csv.write_text(text(rows))
    with pytest.raises(DamagedData) as caught:
        make_dataset("expedia-singleton").fold(0, seed=0)
    assert f"train.csv, {says}" in str(caught.value)


def test_other_tables_are_refused(train_csv):
    train_csv.write_text("PassengerId,Survived\n1,0\n")
    with pytest.raises(DamagedData, match=r"train.csv, line 1: no column visitor_hist_starrating"):
        make_dataset("expedia-singleton").fold(0, seed=0)
    train_csv.write_text(text([]))
    with pytest.raises(DamagedData, match=r"train.csv has no rows"):
        make_dataset("expedia-singleton").fold(0, seed=0)


@pytest.mark.usefixtures("train_csv")
def test_few_searches_are_a_sample_of_the_papers_and_nothing_else_is_blamed():
    assert sample_of("expedia-singleton") == "30 of 390,270 tasks"
    found = {one.what: one for one in checks.check("expedia") if one.data == "expedia-singleton"}
    for what in ("tasks", "training tasks", "test tasks", "training samples"):
        assert found[what].verdict is checks.Verdict.WRONG
        assert found[what].note == "the files are a sample: 30 of 390,270 tasks"


def test_what_is_made_without_files_is_no_sample():
    assert sample_of("medoid") is None
    assert sample_of("imported by someone") is None


def test_parameters_out_of_range_are_refused():
    with pytest.raises(InvalidParameter, match="position must be true or false"):
        make_dataset("expedia-subset", position="first")
    with pytest.raises(InvalidParameter, match="single_clicks must be true or false"):
        make_dataset("expedia-singleton", single_clicks=1)
    with pytest.raises(InvalidParameter, match="unknown parameter of expedia-subset"):
        make_dataset("expedia-subset", single_clicks=True)
