"""Studies that nobody would write, except by a slip of the hand or on purpose."""

import time

import pytest

from cschoice.errors import ConfigError, CschoiceError
from cschoice.io.plain_yaml import read_yaml
from cschoice.study.config import load

STUDY = """
experiments:
  study: {protocol: nested, datasets: [medoid], learners: [mnl]}
profiles:
  smoke: {folds: 1, trials: 1}
"""


def bomb(width=9, depth=9):
    """Lists of lists: each takes one line, all of them width to the depth values."""
    lines = ["a0: &a0 [mnl]"]
    lines += [f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * width)}]" for k in range(1, depth)]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: .nan", "line 1: .*numbers are finite"),
        ("a:\n  b: -.inf", "line 2: .*numbers are finite"),
        ("a: 1.0e+999", "numbers are finite"),
        ("a: 2026-01-31", "type 'timestamp' is not allowed"),
        ("a: !!binary aGVsbG8=", "type 'binary' is not allowed"),
        ("a: !!set {x, y}", "type 'set' is not allowed"),
        ("a: !!python/object/apply:os.system [ls]", "is not allowed"),
        ("a: !mine x", "type '!mine' is not allowed"),
        (f"a: {'9' * 5_000}", "a number of more than 30 characters"),
        (f"a: 0x{'f' * 5_000}", "a number of more than 30 characters"),
        ("a: " + "[" * 900 + "]" * 900, "nested more than 40 deep"),
        ("{a: " * 900 + "1" + "}" * 900, "nested more than 40 deep"),
        ("a: &x [*x]", "an alias that contains itself"),
        ("a: &x {b: *x}", "an alias that contains itself"),
        (bomb(), "more than 100,000 values"),
        ("a: 1\nb: 2\na: 3", "line 3: .*the key 'a' is given twice"),
        ("a: {x: 1, x: 1}", "the key 'x' is given twice"),
        ("? [a, b]\n: 1", "a key must be a text"),
        ("a: *nobody", "undefined alias"),
        ("a: !!int x", "not YAML: invalid literal"),
        ("\x00", "not YAML"),
        ("a: 1\n---\nb: 2", "found another document"),
        ("<<: 3", "expected a mapping"),
    ],
)
def test_what_is_no_plain_value_is_one_clean_error(tmp_path, text, problem):
    path = tmp_path / "study.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=problem) as caught:
        read_yaml(path)
    assert len(str(caught.value)) < 500


def test_aliases_in_moderation_are_allowed(tmp_path):
    path = tmp_path / "study.yaml"
    path.write_text("a: &a {x: 1}\nb: {<<: *a, y: 2}\nc: [*a, *a]")
    assert read_yaml(path) == {"a": {"x": 1}, "b": {"x": 1, "y": 2}, "c": [{"x": 1}] * 2}


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("folds: 1", "folds: 1000000000"),
        ("folds: 1", "folds: 1.5"),
        ("trials: 1", "trials: 1000000000000"),
        ("trials: 1", "trials: 1, inner_splits: 1000000"),
        ("trials: 1", "trials: 1, threads: 1000000"),
        ("trials: 1", "trials: 1, seed: 9223372036854775808"),
        ("trials: 1", "trials: 1, frugal: {ensemble: {n_members: 1000000}}"),
        ("trials: 1", "trials: 1, settings: {sizes: [2, 1000000000]}"),
        ("trials: 1", "trials: 1, settings: {n_test: 1000000000000}"),
        ("profiles:", "executor: {name: slurm, time: '99999999999999999999:00:00'}\nprofiles:"),
        ("profiles:", "executor: {name: slurm, gpus: 1000000000}\nprofiles:"),
    ],
)
def test_what_would_never_end_is_refused(tmp_path, place, value):
    path = tmp_path / "study.yaml"
    path.write_text(STUDY.replace(place, value))
    began = time.process_time()
    with pytest.raises(ConfigError):
        load(path)
    assert time.process_time() - began < 20  # and not for ever


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".", "x\n", "x\x1b[2J", "a" * 300])
def test_names_that_lead_elsewhere_are_refused(tmp_path, name):
    text = STUDY.replace("smoke:", f"{name!r}:" if "\\" not in repr(name) else f'"{name!r}":')
    (tmp_path / "study.yaml").write_text(text)
    with pytest.raises(CschoiceError):
        load(tmp_path / "study.yaml")
