"""Tables as text: by column, in bounded memory, with the line that is wrong."""

import gzip

import numpy as np
import pytest

from cschoice.datasets.raw import text_tables
from cschoice.datasets.raw.files import RawFile
from cschoice.datasets.raw.text_tables import TableFile, repeated
from cschoice.errors import DamagedData

COLUMNS = {"a": int, "b": float}


def table(folder, text, columns=COLUMNS, **options):
    path = folder / "table.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return TableFile(RawFile(path), columns, **options)


def read(one):
    batches = list(one.batches())
    return {name: np.concatenate([b[name] for b in batches]).tolist() for name in one.columns}


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("a,b\n1,2\n3,4.5\n", {}),
        ("c,b,a\nx,2,1\ny,4.5,3", {}),
        ("\ufeffa,b\r\n1,2\r\n\r\n3,4.5\r\n", {}),
        ('a,b,c\n1,2,"x,y"\n3,4.5,"say ""no"""\n', {}),
        ("1\t2\n3\t4.5\n", {"names": ("a", "b"), "delimiter": "\t", "quote": None}),
        ('1\t"x\t2\n3\ty\t4.5\n', {"names": "acb", "delimiter": "\t", "quote": None}),
        ("Id\tScore\n1\t2\n3\t4.5\n", {"names": ("a", "b"), "delimiter": "\t", "quote": None}),
    ],
)
def test_columns_are_found_by_name_or_place(tmp_path, text, options):
    assert read(table(tmp_path, text, **options)) == {"a": [1, 3], "b": [2.0, 4.5]}


def test_missing_numbers_are_nan_and_texts_stay(tmp_path):
    one = table(tmp_path, "b,c\nNULL,NULL\n2,\n", {"b": float, "c": str}, missing=("NULL",))
    values = read(one)
    assert np.isnan(values["b"][0])
    assert values["b"][1] == 2
    assert values["c"] == ["NULL", ""]


def test_quoted_texts_may_go_over_lines(tmp_path):
    one = table(tmp_path, 'a,c\n1,"two\nlines"\n3,one\n', {"a": int, "c": str})
    assert read(one) == {"a": [1, 3], "c": ["two\nlines", "one"]}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a,c\n1,2\n", "table.csv, line 1: no column b"),
        ("a,b\n1,2\n3,x\n", "table.csv, line 3: b must be a number, got 'x'"),
        ("a,b\n1,2\n\n3,nan\n", "table.csv, line 4: b must be a number, got 'nan'"),
        ("a,b\n1,-inf\n", "table.csv, line 2: b must be a number, got '-inf'"),
        ("a,b\n1,\n", "table.csv, line 2: b must be a number, got ''"),
        ("a,b\n1.5,2\n", "table.csv, line 2: a must be an integer, got '1.5'"),
        ("a,b\nNULL,2\n", "table.csv, line 2: a must be an integer, got 'NULL'"),
        ("a,b\n1,2\n3\n", "table.csv, line 3: expected 2 columns, got 1"),
        ("a,b\n" + "1,2\n" * 50_000 + "1,2,3\n", "line 50,002: expected 2 columns, got 3"),
        ("", "table.csv is empty"),
        (b"a,b\n1,\x00\n", "table.csv, line 2: b must be a number"),
    ],
)
def test_the_line_that_is_wrong_is_named(tmp_path, monkeypatch, text, says):
    monkeypatch.setattr(text_tables, "_BYTES_AT_ONCE", 2**16)
    with pytest.raises(DamagedData) as caught:
        read(table(tmp_path, text, missing=("NULL",)))
    assert says in str(caught.value)


def test_a_problem_of_the_reader_is_found_by_line(tmp_path):
    one = table(tmp_path, "a,b\n1,2\n3,2\n\n1,2\n")
    assert "line 5: a 1 for the second time" in str(one.first_error(repeated("a")))
    assert "line 3: a 3, too much" in str(
        one.first_error(lambda row: "a 3, too much" if row["a"] > 2 else None)
    )


def test_what_is_cut_short_is_named(tmp_path):
    path = tmp_path / "table.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 100_000)[:-9])
    with pytest.raises(DamagedData, match=r"table.csv.gz is damaged"):
        read(TableFile(RawFile(path), COLUMNS))


def test_a_file_comes_in_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr(text_tables, "_BYTES_AT_ONCE", 2**16)
    one = table(tmp_path, "a,b\n" + "12345,0.5\n" * 100_000)
    sizes = [len(batch["a"]) for batch in one.batches()]
    assert sum(sizes) == 100_000
    assert max(sizes) <= 2**16 // 10 + 1
