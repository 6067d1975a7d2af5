"""LaTeX that compiles, whatever the results and the words in them are."""

import re
import shutil
import string
import subprocess

import pytest
import result_examples
from hypothesis import given
from hypothesis import strategies as st

from cschoice.report.compute.paper import Score
from cschoice.report.compute.summary import summarize
from cschoice.report.contents.pictures import tasks
from cschoice.report.contents.table import Column, Gap, NumberCell, Row, RowGroup, ScoreCell, Table
from cschoice.report.figures.drawing import drawn
from cschoice.report.formats.latex import latex
from cschoice.report.formats.latex_escapes import escaped
from cschoice.report.formats.latex_tables import preamble, table_tex

needs_pdflatex = pytest.mark.skipif(
    not shutil.which("pdflatex"), reason="pdflatex is needed: install texlive-science"
)
OPTIONS = ["-interaction=nonstopmode", "-halt-on-error"]


def compiled(folder, name="report.tex"):
    """Compile a document, and return the log of pdflatex."""
    done = subprocess.run(
        ["pdflatex", *OPTIONS, name], cwd=folder, capture_output=True, text=True, errors="replace"
    )
    assert done.returncode == 0, done.stdout[-3000:]
    return done.stdout


@needs_pdflatex
def test_the_report_compiles_as_it_stands(tmp_path):
    files = latex(summarize(result_examples.small(tmp_path / "results"), "laptop"))
    said = written_and_compiled(tmp_path, files)
    assert not re.findall(r"Overfull .hbox \((?:[2-9]\d|\d{3,})\.", said)  # nothing off the page
    assert (tmp_path / "report.pdf").stat().st_size > 50_000


@needs_pdflatex
def test_the_report_of_gaps_compiles_too(tmp_path, mixed):
    written_and_compiled(tmp_path, mixed)


def written_and_compiled(folder, files):
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return compiled(folder)


@pytest.fixture
def mixed(tmp_path, monkeypatch):
    """The files of a report with every gap; its figures are all the same one."""
    picture = drawn(tasks(), "pdf")
    monkeypatch.setattr("cschoice.report.formats.latex.drawn", lambda *_: picture)
    return latex(summarize(result_examples.mixed(tmp_path / "results"), "laptop"))


@needs_pdflatex
def test_every_character_compiles(tmp_path):
    nasty = (
        string.printable
        + "–—…±−×∞≤≥₁‘’“”日本😀\u0000\u200b½ﬁ"
        + "".join(map(chr, range(0xA0, 0x250)))
        + result_examples.NASTY
    )
    table = Table(
        "nasty",
        f"[{nasty}]",
        (Column("[a]"), Column("b_1", scores=True), Column("", numeric=True)),
        (
            RowGroup(
                "[1]",
                (
                    Row(
                        (ScoreCell(Score(-0.5, 1.2, 5), best=True), NumberCell("−1", -1)),
                    ),
                ),
            ),
            RowGroup(nasty, (Row((Gap(nasty), "[")), Row((Gap(nasty), "]")))),
        ),
        notes=(nasty,),
    )
    for name, long in (("float", False), ("long", True)):
        tex = table_tex(Table(**{**vars(table), "long": long}))
        assert all(letter in tex for letter in "äöüßéèêñçøłŁåÅœ")
        whole = (
            f"\\documentclass{{article}}\n{preamble()}\\begin{{document}}\n{tex}\\end{{document}}"
        )
        (tmp_path / f"{name}.tex").write_text(whole)
        compiled(tmp_path, f"{name}.tex")


@given(st.text())
def test_escaped_text_is_latin_in_one_line_with_balanced_braces(text):
    found = escaped(text)
    assert max(found, default="") <= "\u017f"
    assert found.isprintable()
    plain = found.replace(r"\{", "").replace(r"\}", "")
    assert plain.count("{") == plain.count("}")


def test_numbers_and_gaps_look_as_in_the_paper(mixed):
    table = mixed["table-singleton-1.tex"].decode()
    assert re.search(r"FETA-Net & 0\.\d{3}\(\d+\) & ", table)
    assert r"& \bestentry 0.879(4) &" in table
    assert r"SDA & {--\textsuperscript{1}} &" in table
    assert r"\textsuperscript{1}~not run" in table
    assert r"S[table-format=1.3(2)]" in table
    assert r"\multirow{7}{*}{Medoid} & FETA-Net &" in table
    whole = mixed["report.tex"].decode()
    named = re.findall(r"\\(?:input|includegraphics\[.*?\])\{(.*?)\}", whole)
    beside = {name.rpartition(".")[0] for name in mixed} - {"report"}
    assert set(named) == beside
