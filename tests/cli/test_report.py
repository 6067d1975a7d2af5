"""``cschoice report`` as a user types it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import result_examples

from cschoice.report.compute.summary import summarize
from cschoice.report.contents.outline import outline
from cschoice.report.formats import html, latex, text

SVG = b'<svg viewBox="0 0 1 1"></svg>'


@pytest.fixture(autouse=True)
def results(run):  # noqa: ARG001 - it changes to an empty folder
    return result_examples.mixed(Path("results"))


@pytest.fixture
def no_drawing(monkeypatch):
    """Figures are drawn in other tests, and take most of the time."""
    for module in (latex, html, text):
        monkeypatch.setattr(module, "drawn", lambda *_: SVG)


def test_the_terminal_shows_ours_beside_the_papers(run):
    shown = run("report").stdout
    (line,) = (
        line for line in shown.splitlines() if "FATE-Net" in line and "as in the paper" in line
    )
    words = "FATE-Net ‡ 0.879 ± 0.004 * 0.881 ± 0.007 −0.002 as in the paper 30 min 5 folds, stale"
    assert line.split() == words.split()
    assert "[2] skipped: 50 % of <files> & {more}" in shown
    assert "more than noise" in shown
    assert "13 of the paper's 17 datasets were not run" in shown
    assert not Path("results/report").exists()
    alone = run("report --against none").stdout
    assert "Paper" not in alone
    assert "0.881" not in alone


@pytest.mark.parametrize(
    ("name", "first", "beside"),
    [
        ("latex", "report.tex", {"report-preamble.tex", "table-singleton-1.tex",
                                 "table-datasets.tex", "table-ranges.tex",
                                 "figure-bars-singleton.pdf", "figure-tasks.pdf"}),
        ("markdown", "report.md", {"figure-bars-singleton.svg"}),
        ("csv", "results.csv", {"pairs.csv", "ranks.csv", "tables.csv", "table-winners.csv"}),
        ("html", "report.html", set()),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("no_drawing")
def test_each_format_writes_its_files_and_says_which_to_open(run, name, first, beside):
    assert run(f"report --format {name}").stdout == f"results/report/{first}\n"
    files = {path.name for path in Path("results/report").iterdir()}
    assert {first} | beside <= files
    assert len(files) > 1 or name == "html"


@pytest.mark.parametrize(("name", "suffix"), [("latex", "tex"), ("csv", "csv")])
@pytest.mark.usefixtures("no_drawing")
def test_other_results_leave_nothing_of_the_last_report(run, name, suffix):
    run(f"report --format {name}")
    mine = Path(f"results/report/table-mine.{suffix}")
    mine.write_text("not of the report")
    assert Path(f"results/report/table-subset.{suffix}").exists()
    run(f"report --format {name} --profile smoke")  # medoid only
    assert not Path(f"results/report/table-subset.{suffix}").exists()
    assert mine.exists()


def test_the_terminal_shows_the_tables_of_the_other_formats(run):
    shown = run("report").stdout
    for section in outline(summarize(Path("results"), "laptop")):
        for table in section.tables:
            assert table.caption[:60] in shown
    assert "Log-loss ↓" in shown
    assert shown.rstrip().splitlines()[-1].startswith("  ")  # what is missing is read last


@pytest.mark.usefixtures("no_drawing")
def test_markdown_links_to_figures_that_exist(run):
    run("report --format markdown")
    text = Path("results/report/report.md").read_text()
    pictures = re.findall(r"!\[.*?\]\((.*?)\)", text)
    assert pictures
    assert all((Path("results/report") / name).exists() for name in pictures)
    assert "| **0.879 ± 0.004** |" in text
    assert r"trips\_to & fro" in text


ELSEWHERE = """
import sys
from cschoice_cli.main import app
app(["report", "--format", "all", "--results", "other"], standalone_mode=False)
app(["report", "--results", "other"], standalone_mode=False)
heavy = {"skopt", "matplotlib.pyplot"} & set(sys.modules)
assert not heavy, heavy
"""


def test_the_same_tables_give_the_same_bytes_elsewhere_and_pyplot_is_not_loaded(run, tmp_path):
    run("report --format all")
    first = {path.name: path.read_bytes() for path in Path("results/report").iterdir()}
    (tmp_path / "matplotlibrc").write_text("font.size: 20\naxes.facecolor: red\n")
    result_examples.mixed(tmp_path / "other")
    elsewhere = {"TZ": "Asia/Tokyo", "PYTHONHASHSEED": "7", "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", ELSEWHERE], cwd=tmp_path, env=os.environ | elsewhere,
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    second = {path.name: path.read_bytes() for path in (tmp_path / "other/report").iterdir()}
    assert set(first) == set(second)
    assert [name for name in first if first[name] != second[name]] == []


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("report --profile paper", "no results with profile 'paper' (there are those of laptop"),
        ("report --experiment stduy", "did you mean 'study'"),
        ("report --format htlm", "unknown format 'htlm': did you mean 'html'? Known: terminal"),
        ("report --against nobody", "--against must be paper or none, got 'nobody'"),
    ],
)
def test_mistakes_get_one_line_and_write_nothing(run, line, says):
    result = run(line, code=2)
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert says in result.stderr
    assert not Path("results/report").exists()
