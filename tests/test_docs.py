"""What the documents say is true: links lead somewhere, code runs and prints what it says."""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import typer
import yaml
from cschoice_cli.main import app
from documents import DOCUMENTS, PAGES, ROOT, blocks, commands
from trips_example import trips

from cschoice.study.config import check

# The commands are those of the pages; only what the default profile spends is less.
LITTLE = """
experiments: {study: {protocol: nested, datasets: [medoid], learners: [mnl]}}
profiles:
  laptop: &little {folds: 2, trials: 1, inner_splits: 1, learners: {epochs: 2},
                   datasets: {n_train: 100, n_test: 100, max_train: 100, max_test: 100}}
  smoke: *little
"""
# That of estimates needs a file which need not be here: test_estimates_page.py runs it.
RUNNABLE = [page for page in PAGES if page.name != "estimates.md"]
IDS = [page.name for page in RUNNABLE]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_to_files(document):
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", document.read_text()):
        assert (document.parent / target).exists(), target


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_bytes()) <= 9_000


@pytest.mark.parametrize("page", RUNNABLE, ids=IDS)
def test_code_and_commands_run_and_print_what_is_said(page, tmp_path):
    trips().to_csv(tmp_path / "trips.csv", index=False)
    trips(2, seed=1).drop(columns="chosen").to_csv(tmp_path / "new.csv", index=False)
    (tmp_path / "experiments.yaml").write_text(LITTLE)
    found = list(blocks(page))
    for number, (language, block) in enumerate(found):
        if language == "python":
            if name := re.match(r"# (\w+\.py)\n", block):
                (tmp_path / name[1]).write_text(block)
            shown = run([sys.executable, "-c", block], tmp_path)
            following = found[number + 1] if number + 1 < len(found) else ("", "")
            if following[0] == "text":
                assert_same_but_for_last_digits(shown, following[1])
        elif language == "sh":
            for line in commands(block):
                run([*command(), *shlex.split(line)[1:], *small(line)], tmp_path)


def command():
    return [str(Path(sys.executable).parent / "cschoice")]


def small(line):
    return ["--n-train", "5", "--n-test", "5"] if line.startswith("cschoice generate") else []


def run(words, folder):
    done = subprocess.run(
        words, cwd=folder, capture_output=True, text=True,
        env=os.environ | {"CSCHOICE_DATA": "", "CSCHOICE_CACHE": str(folder / "cache")},
    )  # fmt: skip
    assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
    return done.stdout


def assert_same_but_for_last_digits(shown, said):
    """Compare words one by one; networks learn a little differently on other processors.

    The level and the unit of utilities are a network's own: of those, the probabilities tell.
    """
    for one_line, other_line in zip(shown.splitlines(), said.splitlines(), strict=True):
        words = list(zip(one_line.split(), other_line.split(), strict=True))
        if "utility" in one_line:
            place = one_line.split().index("utility") + 1  # after the number of the row
        elif "place" in locals() and len(words) > place:
            del words[place]
        for one, other in words:
            if "." in one and one.replace(".", "").lstrip("-").isdigit():
                assert float(one) == pytest.approx(float(other), abs=0.05), said
            else:
                assert one == other, said


COMMANDS = [
    pytest.param(line, id=f"{page.name}-{line}")
    for page in PAGES
    for language, block in blocks(page)
    if language in ("sh", "console")
    for line in commands(block, "$ " if language == "console" else "")
]


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_are_understood(line, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))  # where ~/data is
    (tmp_path / "data").mkdir()
    monkeypatch.delenv("CSCHOICE_DATA", raising=False)
    _, name, *words = [str(Path(word).expanduser()) for word in shlex.split(line)]
    group = typer.main.get_command(app)
    while name in getattr(group, "commands", {}):
        group = group.commands[name]
        if hasattr(group, "commands"):
            name, *words = words
    assert group.name != "cschoice", f"there is no such command: {line}"
    with group.make_context(group.name, words):
        pass


def test_commands_between_the_lines_exist():
    known = set(typer.main.get_command(app).commands)
    for page in DOCUMENTS:
        named = re.findall(r"`cschoice ([a-z]+)", page.read_text())
        assert set(named) <= known, page.name


@pytest.mark.parametrize("page", RUNNABLE, ids=IDS)
def test_parts_of_studies_are_valid(page):
    for language, block in blocks(page):
        if language == "yaml":
            part = yaml.safe_load(LITTLE) | yaml.safe_load(block)
            check(part, page)


def test_the_makefile_has_the_readmes_targets():
    makefile = (ROOT / "Makefile").read_text()
    named = re.findall(r"^make (\w+)|`make (\w+)", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert len(named) >= 3
    for first, second in named:
        assert re.search(rf"^{first or second}:", makefile, re.MULTILINE), first or second


def test_the_architectures_files_and_folders_exist():
    text = (ROOT / "ARCHITECTURE.md").read_text()
    names = re.findall(r"`((?:[\w.]+/)*\w+\.py|(?:\w+/)+)`", text)
    assert len(names) > 30
    for name in names:
        assert any(ROOT.glob(name)) or any((ROOT / "cschoice").rglob(name)), name


def test_the_architectures_rooms_are_the_layers():
    layers = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    rooms = re.findall(r"^\| (`.*?) \|", (ROOT / "ARCHITECTURE.md").read_text(), re.MULTILINE)
    named = [[name.strip("/") for name in re.findall("`(.*?)`", room)] for room in rooms]
    assert named == [["cli", "cschoice_cli"]] + [
        [module.removeprefix("cschoice.") for module in layer.split(" | ")]
        for layer in layers["contracts"][0]["layers"][1:]
    ]
