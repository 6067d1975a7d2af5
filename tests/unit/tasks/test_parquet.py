import json
from contextlib import suppress
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from strategies import choice_tasks

from cschoice.errors import CschoiceError, FileNotUsable, InvalidFile
from cschoice.tasks import ChoiceTasks, Kind
from cschoice.tasks.parquet import FORMAT_VERSION, items_path


@pytest.fixture
def dense():
    x = np.random.default_rng(0).standard_normal((50, 4, 3))
    return ChoiceTasks.from_dense(x, np.arange(50) % 4, Kind.SINGLETON)


@given(tasks=choice_tasks())
def test_round_trip_is_exact(tmp_path_factory, tasks):
    path = tmp_path_factory.mktemp("tasks") / "tasks.parquet"
    tasks.to_parquet(path, {"dataset": "made up"})
    assert ChoiceTasks.from_parquet(path) == tasks
    assert {file.name for file in path.parent.iterdir()} <= {"tasks.parquet", "tasks.items.parquet"}


def test_features_stand_in_the_rows_where_each_entry_has_its_own(dense, tmp_path):
    path = tmp_path / "dense.parquet"
    dense.to_parquet(path)
    frame = pd.read_parquet(path)
    assert list(frame.columns) == ["task", "chosen", "x0", "x1", "x2"]
    assert np.array_equal(frame[["x0", "x1", "x2"]].to_numpy(), dense.features)
    assert frame.groupby("task").size().tolist() == [4] * 50
    assert not items_path(path).exists()


def test_shared_items_are_written_once(tmp_path):
    path = tmp_path / "shared.parquet"
    tasks = ChoiceTasks(np.eye(3), [0, 1, 2, 0], [0, 2, 4], [1, 0, 0, 1], Kind.SINGLETON)
    tasks.to_parquet(path)
    assert list(pd.read_parquet(path).columns) == ["task", "item", "chosen"]
    assert len(pd.read_parquet(items_path(path))) == 3
    assert ChoiceTasks.from_parquet(path) == tasks


def test_a_file_without_shared_items_replaces_one_with(dense, tmp_path):
    path = tmp_path / "tasks.parquet"
    ChoiceTasks(np.eye(2), [0, 1, 0], [0, 2, 3], [1, 0, 1], Kind.SUBSET).to_parquet(path)
    dense.to_parquet(path)
    assert ChoiceTasks.from_parquet(path) == dense
    assert not items_path(path).exists()


def test_files_of_others_are_left_alone(dense, tmp_path):
    path = tmp_path / "mine.parquet"
    items_path(path).write_text("my notes")
    dense.to_parquet(path)
    assert items_path(path).read_text() == "my notes"


def test_sql_reads_it_as_it_is(dense, tmp_path):
    path = tmp_path / "dense.parquet"
    dense.to_parquet(path)
    rows = duckdb.sql(f"SELECT task, avg(chosen) FROM '{path}' GROUP BY task").fetchall()
    assert len(rows) == 50
    assert {share for _, share in rows} == {0.25}


def test_metadata_says_what_it_is(dense, tmp_path):
    path = tmp_path / "dense.parquet"
    dense.to_parquet(path, {"dataset": "medoid", "seed": 3})
    about = json.loads(pq.read_schema(path).metadata[b"cschoice"])
    assert about == {
        "version": FORMAT_VERSION,
        "kind": "singleton",
        "origin": {"dataset": "medoid", "seed": 3},
    }


def test_same_tasks_same_bytes(dense, tmp_path):
    for name in ("a.parquet", "b.parquet"):
        dense.to_parquet(tmp_path / name, {"seed": 1})
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


def written_by_a_newer_version(path: Path, tasks: ChoiceTasks) -> None:
    tasks.to_parquet(path)
    table = pq.read_table(path)
    about = json.loads(table.schema.metadata[b"cschoice"]) | {"version": FORMAT_VERSION + 1}
    pq.write_table(table.replace_schema_metadata({"cschoice": json.dumps(about)}), path)


def truncated(path: Path, tasks: ChoiceTasks) -> None:
    tasks.to_parquet(path)
    path.write_bytes(path.read_bytes()[:-100])


def foreign(path: Path, tasks: ChoiceTasks) -> None:  # noqa: ARG001
    pq.write_table(pa.table({"a": [1]}), path)


def no_parquet(path: Path, tasks: ChoiceTasks) -> None:  # noqa: ARG001
    path.write_text("task,chosen\n0,1\n")


def damaged_inside(path: Path, tasks: ChoiceTasks) -> None:
    tasks.to_parquet(path)
    content = bytearray(path.read_bytes())
    content[4:400] = bytes(396)
    path.write_bytes(content)


def tasks_out_of_order(path: Path, tasks: ChoiceTasks) -> None:
    tasks.to_parquet(path)
    table = pq.read_table(path)
    pq.write_table(table.slice(4).replace_schema_metadata(table.schema.metadata), path)


def without_items(path: Path, tasks: ChoiceTasks) -> None:
    ChoiceTasks(np.eye(2), [0, 1, 0], [0, 2, 3], [1, 0, 1], tasks.kind).to_parquet(path)
    items_path(path).unlink()


def one_bit_flipped(path: Path, tasks: ChoiceTasks) -> None:
    tasks.to_parquet(path)
    content = bytearray(path.read_bytes())
    place = pq.ParquetFile(path).metadata.row_group(0).column(2)
    content[place.data_page_offset + place.total_compressed_size - 4] ^= 1
    path.write_bytes(content)


def with_items_of_others(path: Path, tasks: ChoiceTasks) -> None:
    shared = ChoiceTasks(np.eye(2), [0, 1, 0], [0, 2, 3], [1, 0, 1], tasks.kind)
    shared.to_parquet(path, {"seed": 1})
    others = path.with_name("others.parquet")
    shared.to_parquet(others, {"seed": 2})
    items_path(others).replace(items_path(path))


def rewritten(change, about=None):
    """Return a way to spoil a file: change its table, or its metadata."""

    def spoil(path: Path, tasks: ChoiceTasks) -> None:
        tasks.to_parquet(path)
        table = pq.read_table(path)
        metadata = table.schema.metadata if about is None else {"cschoice": about}
        pq.write_table(change(table).replace_schema_metadata(metadata), path)

    return spoil


def with_column(name, values):
    def change(table):
        position = table.schema.names.index(name)
        return table.set_column(position, name, pa.array(values(table.num_rows)))

    return rewritten(change)


def same(table):
    return table


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (written_by_a_newer_version, "format version 2, this cschoice reads up to 1"),
        (truncated, "is not a complete Parquet file"),
        (foreign, "cschoice did not write"),
        (no_parquet, "is not a complete Parquet file"),
        (damaged_inside, "is damaged"),
        (one_bit_flipped, "is damaged"),
        (with_items_of_others, "does not belong to"),
        (tasks_out_of_order, "task numbers are not 0, 1, 2"),
        (without_items, "cannot read"),
        (with_column("chosen", lambda n: [None] + [1] * (n - 1)), "1 values of chosen are missing"),
        (with_column("chosen", lambda n: [2] * n), "chosen has values other than 0 and 1"),
        (with_column("chosen", lambda n: [0.5] * n), "chosen is of type double"),
        (with_column("task", lambda n: [k / 2 for k in range(n)]), "task is of type double"),
        (with_column("x0", lambda n: ["1.5"] * n), "x0 is of type"),
        (rewritten(lambda table: table.drop_columns("x0")), "features must be x0, x1"),
        (rewritten(lambda table: table.drop_columns("chosen")), "is damaged"),
        (rewritten(lambda table: table.append_column("xtra", table["x0"])), "got x0, x1, x2, xtra"),
        (rewritten(lambda t: t.select(["task", "chosen", "x1", "x0", "x2"])), "got x1, x0, x2"),
        (rewritten(same, "not JSON"), "is damaged"),
        (rewritten(same, '{"kind": "singleton", "origin": {}}'), "metadata without 'version'"),
        (rewritten(same, '{"version": "1", "kind": "subset", "origin": {}}'), "version '1'"),
        (rewritten(same, '{"version": 0, "kind": "subset", "origin": {}}'), "version 0"),
        (rewritten(same, '{"version": 1, "kind": "subset", "origin": []}'), "of other types"),
        (rewritten(same, '{"version": 2, "schema": "other"}'), "install a newer cschoice"),
        (rewritten(same, '{"version": 1, "kind": "both", "origin": {}}'), "kind must be singleton"),
    ],
)
def test_files_that_cannot_be_used_say_why(spoil, message, dense, tmp_path):
    path = tmp_path / "tasks.parquet"
    spoil(path, dense)
    with pytest.raises((InvalidFile, FileNotUsable), match=message):
        ChoiceTasks.from_parquet(path)


def test_a_missing_file_says_so(tmp_path):
    with pytest.raises(FileNotUsable, match=r"cannot read .*nothing\.parquet"):
        ChoiceTasks.from_parquet(tmp_path / "nothing.parquet")


@pytest.mark.parametrize("mask", [0x01, 0x40, 0x80])
def test_a_damaged_footer_is_refused_or_changes_nothing_of_the_form(mask, dense, tmp_path):
    path = tmp_path / "tasks.parquet"
    dense.to_parquet(path)
    whole = path.read_bytes()
    for place in range(len(whole) - 8 - int.from_bytes(whole[-8:-4], "little"), len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= mask
        path.write_bytes(damaged)
        with suppress(CschoiceError):
            assert ChoiceTasks.from_parquet(path).n_entries == dense.n_entries
