"""The package as it is built, and the modules it loads."""

import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import cschoice

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def packages_on_disk():
    found = {"cschoice_cli"}
    for init in (ROOT / "cschoice").rglob("__init__.py"):
        found.add(".".join(init.parent.relative_to(ROOT).parts))
    return found


def test_every_package_is_listed():
    assert set(PROJECT["tool"]["setuptools"]["packages"]) == packages_on_disk()


def test_the_wheel_holds_every_module_and_runs(tmp_path):
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE", "experiments.yaml"):
        shutil.copy(ROOT / name, source)
    for name in ("cschoice", "cli"):
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, source / name, ignore=ignore, symlinks=True)
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    offline = ["--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, "wheel", *offline, "-w", str(tmp_path), str(source)], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    for pattern in (
        "datasets/raw/*.npz",
        "report/compute/data/*.csv",
        "report/formats/html/page.*",
        "experiments.yaml",
        "py.typed",
    ):
        beside = {str(path.relative_to(ROOT)) for path in (ROOT / "cschoice").glob(pattern)}
        assert beside
        assert beside <= names
    packed = {name for name in names if name.endswith(".py")}
    expected = {str(path.relative_to(ROOT)) for path in (ROOT / "cschoice").rglob("*.py")}
    expected |= {f"cschoice_cli/{path.name}" for path in (ROOT / "cli").glob("*.py")}
    assert packed == expected
    subprocess.run([*pip, "install", *offline, "--target", str(target), str(wheel)], check=True)
    check = (
        f"import sys; sys.path.insert(0, {str(target)!r}); "
        "from cschoice.study.config import load; import cschoice; "
        f"assert cschoice.__file__.startswith({str(target)!r}); "
        "assert 'study' in load().experiments"
    )
    subprocess.run([sys.executable, "-c", check], cwd=tmp_path, check=True)


@pytest.mark.parametrize("name", cschoice.__all__)
def test_public_names_exist(name):
    assert getattr(cschoice, name) is not None


@pytest.mark.parametrize("name", cschoice.LEARNERS.written)
def test_learners_are_public_names(name):
    learner = cschoice.LEARNERS[name].learner
    assert getattr(cschoice, learner.__name__) is learner


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        cschoice.nonsense  # noqa: B018


HEAVY = ("torch", "skopt", "sklearn", "scipy", "matplotlib", "pandas", "pyarrow", "requests")


@pytest.mark.parametrize(
    "code",
    [
        "import cschoice",
        "from cschoice_cli.main import app; app(['--help'], standalone_mode=False)",
        "from cschoice_cli.main import app; app(['show', 'datasets'], standalone_mode=False)",
        "from cschoice_cli.main import app; app(['data', 'list'], standalone_mode=False)",
    ],
)
def test_nothing_heavy_is_loaded_without_need(code):
    check = f"import sys; heavy = set({HEAVY}) & set(sys.modules); assert not heavy, heavy"
    subprocess.run([sys.executable, "-c", f"{code}; {check}"], check=True, capture_output=True)


def test_the_help_loads_no_command():
    code = "from cschoice_cli.main import app; app(['--help'], standalone_mode=False)"
    check = (
        "import sys; assert not {'numpy', 'pydantic', 'yaml', 'cschoice_cli.run'} & {*sys.modules}"
    )
    subprocess.run([sys.executable, "-c", f"{code}; {check}"], check=True, capture_output=True)
