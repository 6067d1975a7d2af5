"""Declarations of learners, kept in the cache: the classes' own, or none."""

import os
import subprocess
import sys

import pytest

from cschoice.learners import LEARNERS, declarations, keep_declarations
from cschoice.learners.declarations import Declaration, keep, kept


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("CSCHOICE_CACHE", str(tmp_path))
    kept.cache_clear()
    yield tmp_path
    kept.cache_clear()


def test_what_is_kept_is_what_the_classes_declare(cache):
    assert kept() == {}
    keep_declarations()
    found = kept()
    assert len(found) == len(LEARNERS.written)
    for info in LEARNERS.written.values():
        assert found[info.source] == Declaration.of(info.learner)
        assert list(found[info.source].limits) == info.learner._get_param_names()
    before = (cache / "learners.json").stat().st_mtime_ns
    keep_declarations()
    assert (cache / "learners.json").stat().st_mtime_ns == before


def test_what_is_kept_of_other_source_or_damaged_is_none(cache, monkeypatch):
    keep({"here": Declaration.of(LEARNERS["mnl"].learner)})
    path = cache / "learners.json"
    text = path.read_text()
    assert list(kept()) == ["here"]
    for content in (text[:-20], text.replace('"tuned":true', '"tuned":false'), "[]", "{}"):
        path.write_text(content)
        kept.cache_clear()
        assert kept() == {}
    path.write_text(text)
    kept.cache_clear()
    monkeypatch.setattr(declarations, "_source", lambda: "another")
    assert kept() == {}


def test_a_study_is_planned_without_loading_its_learners(tmp_path):
    check = (
        "import sys; from cschoice_cli.main import app; "
        "app(['status', '--profile', 'smoke', '-d', 'medoid'], standalone_mode=False); "
        "print({'torch', 'sklearn', 'pandas'} & set(sys.modules))"
    )
    environment = {**os.environ, "CSCHOICE_CACHE": str(tmp_path)}
    for expected in (True, False):
        done = subprocess.run(
            [sys.executable, "-c", check],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        assert (done.stdout.splitlines()[-1] != "set()") == expected
