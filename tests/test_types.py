"""The types of the public names, as a type checker sees them in a user's own file."""

import ast
import re
from pathlib import Path

import pytest
from mypy import api

import cschoice

ROOT = Path(__file__).parent.parent

REVEALED = {
    "cschoice.Feta(epochs=3)": "cschoice.learners.feta.Feta",
    "cschoice.Feta().fit(tasks)": "cschoice.learners.feta.Feta",
    "cschoice.MultinomialLogit().fit(tasks, seed=1)": "MultinomialLogit",
    "cschoice.make_learner('feta')": "cschoice.learners.learner.Learner",
    "cschoice.LatentClassLogit().fit(tasks)": "LatentClassLogit",
    "cschoice.explain(cschoice.Feta().fit(tasks), tasks)": "explanation.Explanation",
    "cschoice.estimate(tasks, 'mnl')": "cschoice.estimates.estimates.Estimates",
    "cschoice.elasticities('model', 'trips.csv', 'cost')": "pandas.core.frame.DataFrame",
    "cschoice.LEARNERS['feta'].learner": "type[cschoice.learners.learner.Learner]",
    "cschoice.DATASETS['medoid']": "cschoice.datasets.DatasetInfo",
    "cschoice.METRICS['f1']": "cschoice.evaluation.metrics.Metric",
    "tasks": "cschoice.tasks.container.ChoiceTasks",
    "tasks[:3]": "cschoice.tasks.container.ChoiceTasks",
    "tasks.kind": "cschoice.tasks.kind.Kind",
    "tasks.feature_names": "list[str]",
    "cschoice.Predictor.load('model').predict('new.csv')": "pandas.core.frame.DataFrame",
    "cschoice.Feta().fit(tasks).predict(tasks)": "numpy.dtype[numpy.bool[bool]]]",
    "cschoice.Feta().fit(tasks).predict('new.csv')": "pandas.core.frame.DataFrame",
    "cschoice.cross_validate(cschoice.Feta(), tasks)": "CrossValidation",
    "cschoice.run_study(profile='smoke')": "cschoice.study.run.StudyRun",
    "cschoice.load_results('results')": "pandas.core.frame.DataFrame",
    "cschoice.__version__": "str",
}
WRONG = {
    "cschoice.no_such_name": "Module has no attribute",
    "from cschoice import NoSuchLearner": "has no attribute",
    "cschoice.Feta(no_such_parameter=3)": "Unexpected keyword argument",
    "cschoice.Feta().fit([[1.0, 2.0]])": "incompatible type",
    "cschoice.load_results('results', table=3)": "incompatible type",
}


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """Return mypy's words about each line of a user's file, which is not in the project."""
    lines = [
        "import cschoice",
        "tasks = cschoice.ChoiceTasks.from_frame('trips.csv')",
        *(f"reveal_type({expression})" for expression in REVEALED),
        *WRONG,
    ]
    path = tmp_path_factory.mktemp("user") / "user.py"
    path.write_text("\n".join(lines) + "\n")
    # With the project's options, and so with its cache: torch and pandas are read once.
    configured = ["--config-file", str(ROOT / "pyproject.toml")]
    out, err, _ = api.run([*configured, "--cache-dir", str(ROOT / ".mypy_cache"), str(path)])
    assert not err
    found = dict.fromkeys(lines, "")
    for number, text in re.findall(r"user\.py:(\d+): (.*)", out):
        found[lines[int(number) - 1]] += text + "\n"
    return found


@pytest.mark.parametrize("expression", REVEALED)
def test_public_names_have_real_types(said, expression):
    text = said[f"reveal_type({expression})"]
    assert re.search(rf'Revealed type is "[^"]*{re.escape(REVEALED[expression])}"', text), text
    assert "error" not in text


@pytest.mark.parametrize("line", WRONG)
def test_mistakes_are_errors(said, line):
    assert re.search(f"error: .*{WRONG[line]}", said[line]), said[line]


def test_what_a_type_checker_sees_is_what_there_is():
    tree = ast.parse(Path(cschoice.__file__).read_text())
    (block,) = [node for node in tree.body if isinstance(node, ast.If)][:1]
    seen = {
        alias.asname: (node.module, alias.name)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    loaded = {
        name: (f"cschoice.{place}", name)
        for place, names in cschoice._PLACES.items()
        for name in names
    }
    assert seen == loaded
    assert sorted(cschoice.__all__) == dir(cschoice) == sorted(["__version__", *loaded])
