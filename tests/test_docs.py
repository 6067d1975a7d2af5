"""Documents are true: links lead somewhere, code runs and prints the output shown."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from trips_example import trips

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted(ROOT.glob("*.md"))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_to_files(document):
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", document.read_text()):
        assert (ROOT / target).exists(), target


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)


def test_the_readmes_python_prints_what_it_says(tmp_path):
    trips().to_csv(tmp_path / "trips.csv", index=False)
    trips(2, seed=1).drop(columns="chosen").to_csv(tmp_path / "new.csv", index=False)
    outputs = blocks("text")
    codes = blocks("python")
    assert len(codes) == len(outputs) > 0
    for code, output in zip(codes, outputs, strict=True):
        shown = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        assert_same_but_for_last_digits(shown.stdout, output)


def assert_same_but_for_last_digits(shown, said):
    """Compare words one by one; networks learn a little differently on other processors."""
    for one, other in zip(shown.split(), said.split(), strict=True):
        if "." in one and one.replace(".", "").lstrip("-").isdigit():
            assert float(one) == pytest.approx(float(other), abs=0.05), said
        else:
            assert one == other, said


def test_the_readmes_commands_exist(tmp_path):
    command = Path(sys.executable).parent / "cschoice"
    lines = [line.split("#")[0] for block in blocks("sh") for line in block.splitlines()]
    calls = [line.split()[1:] for line in lines if line.startswith("cschoice ")]
    assert len(calls) >= 5
    for call in calls:
        small = ["--n-train", "5", "--n-test", "5"] if call[0] == "generate" else []
        subprocess.run([command, *call, *small], cwd=tmp_path, capture_output=True, check=True)


def test_the_makefile_has_the_readmes_targets():
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"^make (\w+)", "\n".join(blocks("sh")), re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


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
