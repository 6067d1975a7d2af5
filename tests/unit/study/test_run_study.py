"""A study from Python: run, then read its results."""

import pytest

from cschoice import load_results, run_study
from cschoice.errors import FileNotUsable, UnknownName


def test_a_study_runs_and_its_results_are_tables(tmp_path):
    ended = []
    asked = {"profile": "smoke", "learners": ["mnl"], "datasets": ["medoid"], "results": tmp_path}
    run = run_study(**asked, on_outcome=lambda outcome, _: ended.append(outcome.ended))
    assert ended == ["finished", "finished"]
    assert len(run.jobs) == 2
    metrics = load_results(tmp_path)
    assert set(metrics["fold"]) == {0, 1}
    assert "accuracy" in set(metrics["metric"])
    assert list(load_results(tmp_path, "folds")["state"]) == ["done", "done"]
    assert run_study(**asked).left == []


def test_executor_and_predictions_are_asked_for_as_on_the_command_line(tmp_path):
    asked = {"profile": "smoke", "learners": ["mnl"], "datasets": ["medoid"], "folds": 1}
    places = set()
    run_study(
        **asked,
        results=tmp_path,
        executor="inline",
        keep_predictions=True,
        on_event=lambda _, place, __: places.add(place),
    )
    assert places == {"cpu"}  # a process of its own would have a number
    assert list(tmp_path.glob("runs/*/*/medoid/mnl/fold-0/predictions.parquet"))
    with pytest.raises(UnknownName, match="did you mean 'inline'"):
        run_study(**asked, results=tmp_path / "other", executor="inlin")
    assert not (tmp_path / "other").exists()


def test_results_that_are_not_there_are_named(tmp_path):
    with pytest.raises(FileNotUsable, match="run 'cschoice run' first"):
        load_results(tmp_path)
    with pytest.raises(UnknownName, match="did you mean 'metrics'"):
        load_results(tmp_path, "metric")
