"""Where a result comes from: commit, version, node and processor."""

import shutil
import subprocess

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from job_examples import make_job, make_record

from cschoice.runs.collect import collect
from cschoice.runs.environment import UNKNOWN, commit, environment
from cschoice.runs.store import ResultStore
from cschoice.runs.tables import FOLDER, read, read_arrow


def git(folder, *words):
    named = ["-c", "user.name=nobody", "-c", "user.email=nobody@example.org"]
    done = subprocess.run(
        ["git", "-C", folder, *named, *words], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def package(tmp_path):
    """A package under version control."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    folder = tmp_path / "repository" / "package"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    git(tmp_path, "init", "--quiet", "repository")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "first")
    return folder


def test_the_commit_is_that_of_the_packages_files(package):
    commit.cache_clear()
    head = git(package, "rev-parse", "HEAD")
    (package.parent / "elsewhere.txt").write_text("not of the package")
    assert commit(package) == head
    commit.cache_clear()
    (package / "__init__.py").write_text("changed = True")
    assert commit(package) == f"{head}+changes"


def test_a_package_installed_inside_another_repository_does_not_take_its_commit(package):
    installed = package / "site-packages"
    installed.mkdir()
    (installed / "__init__.py").write_text("")
    commit.cache_clear()
    assert commit(installed) != git(package, "rev-parse", "HEAD")


def test_every_row_tells_where_it_comes_from(tmp_path):
    store, job = ResultStore(tmp_path), make_job()
    store.begin(job)
    here = environment("cpu")
    store.finish(job, make_record(job, environment=here, n_train=60, n_test=20))
    collect(store, [job])
    (row,) = read_arrow(tmp_path, "folds").to_pylist()
    assert row["commit"] == here["commit"]
    assert (row["version"], row["node"]) == (here["cschoice"], here["host"])
    assert row["processor"] == here["cpu"]
    assert (row["n_train"], row["n_test"], row["sample"]) == (60, 20, None)


def test_rows_from_before_are_read_as_unknown(tmp_path):
    store, job = ResultStore(tmp_path), make_job()
    store.begin(job)
    before = {"cschoice": "0.1.0", "cpu": "an old one"}
    store.finish(job, make_record(job, kind="singleton", environment=before))
    collect(store, [job])
    for path in (tmp_path / FOLDER).iterdir():  # without checksums
        pq.write_table(pq.read_table(path).replace_schema_metadata({"cschoice": "1"}), path)
    path = tmp_path / FOLDER / "folds.parquet"
    table = pq.read_table(path)
    added = ["commit", "version", "node", "processor", "n_train", "n_test", "sample"]
    pq.write_table(table.drop_columns(added), path)
    (row,) = read_arrow(tmp_path, "folds").to_pylist()
    assert (row["commit"], row["version"], row["node"]) == (UNKNOWN, "0.1.0", UNKNOWN)
    assert row["processor"] == "an old one"
    assert row["sample"] is None
    shutil.rmtree(tmp_path / "runs")  # only the tables are left, and are written again
    assert store.tables.record(job.name) == make_record(job, kind="singleton", environment=before)
    collect(ResultStore(tmp_path), [])
    assert pq.read_schema(path).field("n_test").type == pa.int64()
    assert read(tmp_path, "folds")["commit"].tolist() == [UNKNOWN]
