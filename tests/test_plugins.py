"""Learners, datasets, metrics, executors and tables of other packages, without a fork."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from cschoice_cli.main import app
from job_examples import make_job
from trips_example import trips
from typer.testing import CliRunner

from cschoice.errors import InvalidPlugin
from cschoice.learners import LEARNERS, make_learner, name_of
from cschoice.models.predictor import Predictor
from cschoice.origins import origin
from cschoice.registry import LeftOutWarning
from cschoice.runs.sources import check_sources
from cschoice.testing import check_learner, learner_checks

EXAMPLE = Path(__file__).parent.parent / "examples" / "plugin"
GROUPS = ("learners", "datasets", "metrics", "executors", "report_tables")


@pytest.fixture(scope="session")
def example(tmp_path_factory):
    """The example package, installed in a folder of its own."""
    source = tmp_path_factory.mktemp("source") / "plugin"
    shutil.copytree(EXAMPLE, source)
    target = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    words = [*pip, "--no-deps", "--no-build-isolation", "--no-index", "--target", target, source]
    subprocess.run(words, check=True)
    return target


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder, with the command line in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CSCHOICE_DATA", "")
    monkeypatch.setattr(sys, "path", [*sys.path])  # the current folder is added to it
    return tmp_path


def use(monkeypatch, folder):
    """Let this process and its workers find packages in a folder."""
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv(
        "PYTHONPATH", os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    )


def run(line, code=0):
    result = CliRunner().invoke(app, line.split())
    assert result.exit_code == code, result.output
    return result


def declare(folder, name, **rows):
    """Make a package that declares rows and nothing else."""
    about = folder / f"{name}-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = [f"[cschoice.{group}]\n{row}\n" for group, row in rows.items()]
    (about / "entry_points.txt").write_text("\n".join(lines))


def test_a_study_of_another_package_from_planning_to_the_report(example, here, monkeypatch):
    use(monkeypatch, example)
    listed = {group: json.loads(run(f"show {group} --json").stdout) for group in GROUPS[:4]}
    foreign = {group: [row["name"] for row in rows if row["from"] == "cschoice-example 1.0"]
               for group, rows in listed.items()}  # fmt: skip
    assert foreign == {"learners": ["example-deep-sets"], "datasets": ["knapsack"],
                       "metrics": ["ndcg"], "executors": ["threads"]}  # fmt: skip
    run("run --profile smoke --folds 1 --trials 1 --dataset knapsack "
        "--learner example-deep-sets --learner mnl --executor threads")  # fmt: skip
    folder = here / "results/runs/smoke/study/knapsack"
    sources = json.loads((folder / "example-deep-sets/fold-0/job.json").read_text())["sources"]
    assert sources["learner"].startswith(
        "cschoice_example.deep_sets:DeepSets, cschoice-example 1.0, "
    )
    assert json.loads((folder / "mnl/fold-0/job.json").read_text())["sources"].keys() == {"dataset"}
    folds = pd.read_parquet("results/tables/folds.parquet").set_index("learner")
    recorded = json.loads(folds.loc["example-deep-sets", "environment"])
    assert {name: recorded[name] for name in sources} == sources
    metrics = pd.read_parquet("results/tables/metrics.parquet")
    assert metrics.query("metric == 'ndcg'")["value"].between(0.5, 1).all()
    model = Predictor.load(folder / "example-deep-sets/fold-0/model")
    assert name_of(model.learner) == "example-deep-sets"
    shown = run("report --profile smoke").stdout
    assert "NDCG" in shown
    assert "How far apart the learners are" in shown
    run("report --profile smoke --format all")
    for name in ("report.html", "report.md", "table-subset-other.tex", "table-subset-other.csv"):
        assert "NDCG" in Path("results/report", name).read_text(), name
    for name in ("report.html", "report.md", "table-difficulty.tex", "tables.csv"):
        assert "How far apart the learners are" in Path("results/report", name).read_text(), name
    assert run("run --profile smoke --folds 1 --trials 1 --dataset knapsack --learner mnl").stderr\
        .startswith("nothing is left to run")  # fmt: skip


def test_the_example_package_passes_its_own_tests(example, tmp_path):
    shutil.copy(EXAMPLE / "test_plugin.py", tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_plugin.py"],
        cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(example)}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 40


WRONG = """
import numpy as np
from cschoice.learners.logit.multinomial import MultinomialLogit
from cschoice.learners.logit.multinomial import MultinomialLogit as Right

class OfPlaces(MultinomialLogit):  # it prefers what stands first
    def _utilities(self, tasks):
        return super()._utilities(tasks) - np.arange(tasks.n_entries)

class Unlimited(MultinomialLogit):
    limits = {}
"""


@pytest.mark.parametrize(
    ("name", "promise"),
    [("OfPlaces", "permuting-objects-permutes-utilities"),
     ("Unlimited", "search-lies-within-limits"), ("Right", None)],
)  # fmt: skip
def test_the_checks_find_what_is_wrong(tmp_path, monkeypatch, name, promise):
    (tmp_path / "wrong_learners.py").write_text(WRONG)
    monkeypatch.syspath_prepend(tmp_path)
    failed = []
    for check in learner_checks(f"wrong_learners:{name}"):
        try:
            check()
        except (AssertionError, KeyError):
            failed.append(check.name)
    if promise is None:  # under another name it is not known by it, and all else is right
        assert failed == ["wrong_learners:Right-clone-round-trips"]
    else:
        assert any(promise in check for check in failed)
        with pytest.raises((AssertionError, KeyError)) as caught:
            check_learner(f"wrong_learners:{name}")
        assert "in the check" in caught.value.__notes__[0]


MINE = """
from cschoice.learners.logit.multinomial import MultinomialLogit
from mine_helpers import STRENGTH

class Mine(MultinomialLogit):
    def _utilities(self, tasks):
        return STRENGTH * super()._utilities(tasks)
"""
STUDY = """
experiments:
  study: {protocol: nested, datasets: [medoid], learners: [scaled, "mine:Mine"]}
learners:
  scaled: {learner: "mine:Mine", parameters: {l2: 0.1}}
profiles:
  laptop: {folds: 1, trials: 1, inner_splits: 1, datasets: {n_train: 60, n_test: 50}}
"""


@pytest.mark.usefixtures("here")
def test_a_class_in_the_current_folder_is_a_learner_and_its_source_is_part_of_the_job():
    Path("mine.py").write_text(MINE)
    Path("mine_helpers.py").write_text("STRENGTH = 1.0\n")
    Path("experiments.yaml").write_text(STUDY)
    assert "2 of 2 jobs done" in run("run").stdout
    folders = Path("results/runs/laptop/study/medoid")
    assert {folder.name for folder in folders.iterdir()} == {"scaled", "mine.Mine"}
    assert "nothing is left" in run("run").stderr
    Predictor.load(folders / "mine.Mine/fold-0/model")
    assert "1 of 1 jobs done" in run("run --learner mine:Mine --dataset medoid --trials 0").stdout
    learners = set(pd.read_parquet("results/tables/folds.parquet")["learner"])
    assert learners == {"scaled", "mine:Mine"}
    assert "mine:Mine" in run("report").stdout
    assert "cannot be used: AttributeError" in run("run --learner mine:Theirs", 2).stderr
    assert "ModuleNotFoundError" in run("run --learner nowhere:Theirs", 2).stderr
    Path("mine.py").write_text(f"{MINE}# changed\n")
    states = json.loads(run("status --json").stdout)
    assert {row["state"] for row in states} == {"stale"}


def test_the_source_is_hashed_with_what_it_imports_of_its_package(tmp_path, monkeypatch):
    package = tmp_path / "hashed"
    package.mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    files = {
        "__init__": "",
        "learner": "from . import near\nimport json\nclass A: pass\n",
        "near": "from hashed.far import number\n",
        "far": "number = 1\n",
        "other": "number = 2\n",
    }
    for name, text in files.items():
        (package / f"{name}.py").write_text(text)
    first = origin("hashed.learner:A")
    assert (first.target, first.package) == ("hashed.learner:A", "")
    (package / "other.py").write_text("number = 3\n")
    assert origin("hashed.learner:A") == first
    (package / "far.py").write_text("number = 3\n")
    assert origin("hashed.learner:A").source != first.source


def test_keys_of_jobs_without_foreign_parts_are_what_they_were():
    job = make_job()
    assert make_job(sources={}).key == job.key
    assert make_job(sources={"learner": "mine:Mine, 12ab"}).key != job.key


def test_a_job_is_refused_where_the_source_is_another():
    check_sources({}, "medoid", "mnl")
    with pytest.raises(InvalidPlugin, match="the source of this learner changed"):
        check_sources({"learner": "mine:Mine, 12ab"}, "medoid", "mnl")


BROKEN = {group: f"broken = broken_package.{group}:Thing" for group in GROUPS}


def test_damaged_plugins_are_named_and_skipped(tmp_path, here, monkeypatch):
    declare(tmp_path / "site", "broken", **BROKEN)
    use(monkeypatch, tmp_path / "site")
    for group in GROUPS[:4]:
        said = run(f"show {group}").stderr
        noun = group.removesuffix("s")
        assert f"warning: {noun} 'broken' of broken 1.0 cannot be used: ModuleNotFoundError" in said
    assert "1 of 1 jobs done" in run(
        "run --profile smoke --folds 1 --dataset medoid --learner random"
    ).stdout  # fmt: skip
    said = run("report --profile smoke")
    assert "report table 'broken' of broken 1.0 cannot be used" in said.stderr
    for option in ("learner", "dataset", "executor"):
        said = run(f"run --profile smoke --{option} broken", 2).stderr
        assert f"error: {option} 'broken' of broken 1.0 cannot be used: ModuleNotFound" in said
    assert here.joinpath("results").is_dir()


def test_the_help_imports_no_plugin_and_a_taken_name_stays_ours(tmp_path, monkeypatch):
    site = tmp_path / "site"
    declare(site, "loud", **dict.fromkeys(GROUPS, "feta = loud:Feta"))
    (site / "loud.py").write_text("raise SystemError('imported')")
    check = (
        "import sys; from cschoice_cli.main import app; app(['--help'], standalone_mode=False); "
        "app(['run', '--help'], standalone_mode=False); "
        "assert not {'loud', 'torch'} & {*sys.modules}"
    )
    subprocess.run(
        [sys.executable, "-c", check], check=True, capture_output=True,
        env=os.environ | {"PYTHONPATH": str(site)},
    )  # fmt: skip
    use(monkeypatch, site)
    with pytest.warns(LeftOutWarning, match="learner 'feta' of loud 1.0: the name is taken"):
        assert "feta" in list(LEARNERS)
    assert make_learner("feta").name == "feta"


@pytest.mark.usefixtures("here")
def test_what_is_no_learner_is_refused_with_the_reason():
    Path("wrong.py").write_text("class Thing: pass\n")
    for option, reason in (("learner", "no subclass"), ("dataset", "no data class")):
        said = run(f"run --{option} wrong:Thing", 2).stderr
        assert (
            f"error: {option} 'wrong:Thing' cannot be used: TypeError: wrong:Thing is {reason}"
            in said
        )


@pytest.mark.usefixtures("here")
def test_a_damaged_import_is_named_and_skipped():
    folder = Path("data/trips")
    folder.mkdir(parents=True)
    (folder / "cschoice.json").write_text("{")
    shown = run("show datasets")
    assert "medoid" in shown.stdout
    assert "warning: data/trips/cschoice.json is damaged" in shown.stderr
    line = "run --profile smoke --folds 1 --learner random --dataset"
    assert "1 of 1 jobs done" in run(f"{line} medoid").stdout
    assert "error: data/trips/cschoice.json is damaged" in run(f"{line} trips", 2).stderr


@pytest.mark.usefixtures("here")
def test_results_on_a_damaged_import_stop_no_other_command():
    trips(30).to_csv("trips.csv", index=False)
    run("import trips.csv --name trips --task trip --chosen chosen --features cost,time")
    line = "run --profile smoke --folds 1 --learner random --executor inline --dataset"
    run(f"{line} trips")
    Path("data/trips/cschoice.json").write_text("{}")
    assert "1 of 1 jobs done" in run(f"{line} medoid").stdout
    for command in ("report --profile smoke", "collect", "status --profile smoke -d medoid"):
        assert "warning: data/trips/cschoice.json is damaged" in run(command).stderr, command
    assert "error: data/trips/cschoice.json is damaged" in run(f"{line} trips", 2).stderr
