"""docs/estimates.md, word for word: from swissmetro.csv.gz to published tables."""

import re
import shlex
import shutil
from pathlib import Path

import pytest
from cschoice_cli.main import app
from typer.testing import CliRunner

PAGE = (Path(__file__).parent.parent / "docs/estimates.md").read_text()
FILE = "swissmetro/swissmetro.csv.gz"
PUBLISHED = ("−5331.252", "−1.2779", "0.1043", "−5236.900", "−5214.049")


def commands():
    """Yield each command of the page with the output that stands below it."""
    for block in re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, output = re.match(r"((?:[^\n]*\\\n)*[^\n]*)\n(.*)", part, re.DOTALL).groups()
            yield command.replace("\\\n", " "), output


@pytest.fixture(scope="module")
def folder(data_folder, tmp_path_factory):
    if not (data_folder / FILE).exists():
        pytest.skip(f"{data_folder / FILE} does not exist")
    folder = tmp_path_factory.mktemp("page")
    shutil.copy(data_folder / FILE, folder)
    for name, text in re.findall(r"```yaml\n# (\S+)\n(.*?)```", PAGE, re.DOTALL):
        (folder / name).write_text(text)
    return folder


def test_commands_print_what_the_page_shows(folder, monkeypatch):
    monkeypatch.chdir(folder)
    shown = ""
    for command, expected in commands():
        result = CliRunner().invoke(app, shlex.split(command)[1:])
        assert result.exit_code == 0, f"{command}\n{result.output}"
        compare(result.stdout, expected, command)
        shown += result.stdout
    for number in PUBLISHED:
        assert number in shown


def test_the_python_of_the_page_prints_what_it_shows(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (expected,) = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    exec(code, {})
    compare(capsys.readouterr().out, expected, "python")


def compare(shown, expected, command):
    """Compare word by word; the last digit of a number may differ by rounding."""
    words, others = shown.split(), expected.split()
    assert len(words) == len(others), command
    for one, other in zip(words, others, strict=True):
        found, said = number(one), number(other)
        if said is None:
            assert one == other, command
        else:
            decimals = len(other.partition(".")[2].rstrip("*)]"))
            assert found == pytest.approx(said, abs=1.01 * 10.0**-decimals, rel=1e-4), command


def number(word):
    """Return the number in a word, if it is one."""
    plain = word.strip("()[]*").replace("−", "-").replace(",", "")
    try:
        return float(plain)
    except ValueError:
        return None


def test_the_sections_of_the_page_are_those_of_a_specification():
    from dataclasses import fields

    from cschoice.estimates.specification import Specification

    table = PAGE.partition("| section |")[2].partition("\n\n")[0]
    named = re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)))
    assert set(named) == {one.name for one in fields(Specification)} - {"nest_column"}
