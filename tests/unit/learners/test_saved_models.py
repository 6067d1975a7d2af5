"""Folders of fitted models that were damaged, or made by somebody who means no good."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from cschoice.errors import CschoiceError, FileNotUsable, InvalidFile
from cschoice.learners import make_learner
from cschoice.learners.saving import DESCRIPTION, PREPARATION, WEIGHTS, load
from cschoice.tasks import Kind
from cschoice.testing.learners import easy_tasks


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    make_learner("feta", epochs=1, n_layers=1, n_units=4).fit(easy_tasks(Kind.SUBSET)).save(folder)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def model(saved, tmp_path):
    for name, content in saved.items():
        (tmp_path / name).write_bytes(content)
    return tmp_path


def changed(path: Path, *place: str, value):
    """Change an entry of a document of the model, and make it one without checksums."""
    described = json.loads((path.parent / DESCRIPTION).read_text())
    for key in ("digest", "files"):
        described.pop(key, None)
    (path.parent / DESCRIPTION).write_text(json.dumps(described))
    content = json.loads(path.read_text())
    part = content
    for key in place[:-1]:
        part = part.setdefault(key, {}) if part[key] is None else part[key]
    part[place[-1]] = value
    path.write_text(json.dumps(content))


@pytest.mark.parametrize("name", [WEIGHTS, DESCRIPTION, PREPARATION])
def test_one_flipped_bit_is_found_and_named(model, saved, name):
    rng = np.random.default_rng(0)
    for place in rng.choice(8 * len(saved[name]), 40, replace=False):
        content = bytearray(saved[name])
        content[place // 8] ^= 1 << place % 8
        (model / name).write_bytes(content)
        if name == DESCRIPTION and same_json(content, saved[name]):
            continue
        with pytest.raises(CschoiceError, match=name):
            load(model)


def same_json(one, other):
    try:
        return json.loads(bytes(one)) == json.loads(other)
    except ValueError:
        return False


def test_models_without_checksums_are_read_as_before(model):
    expected = load(model).utilities(easy_tasks(Kind.SUBSET))
    changed(model / PREPARATION, "version", value=1)
    np.testing.assert_array_equal(load(model).utilities(easy_tasks(Kind.SUBSET)), expected)


@pytest.mark.parametrize(
    ("scaling", "problem"),
    [
        ({"mean": [0.0], "deviation": [1.0]}, "3 features, but 1 means"),
        ({"mean": [0.0] * 3, "deviation": [1.0]}, "3 means and 1 deviations"),
        ({"mean": [0.0] * 3, "deviation": [1.0, 1.0, 0.0]}, "deviations positive"),
        ({"mean": [0.0, 0.0, 1e999], "deviation": [1.0] * 3}, "damaged"),
    ],
)
def test_a_scale_of_other_features_is_refused(model, scaling, problem):
    changed(model / PREPARATION, "scaling", value=scaling)
    with pytest.raises(InvalidFile, match=problem):
        load(model)


@pytest.mark.parametrize(
    ("described", "problem"),
    [
        ({"task": []}, "no column says which task"),
        ({"keep": "last"}, "no column says which rows are alike"),
        ({"object": ""}, "a column has no name"),
        ({"kind": "singleton"}, "singleton choice, but"),
        ({"features": {}}, "no column is known for a, b, c"),
        ({"cross": ["income"]}, "nothing is known of 'income'"),
        ({"constants": True}, None),
    ],
)
def test_an_encoding_without_meaning_is_refused(model, described, problem):
    columns = {name: name for name in "abc"}
    description = {"features": columns, "chosen": "chosen", "task": ["task"], "kind": "subset"}
    features = [{"name": "a"}, {"name": "b"}, {"name": "c"}]
    encoding = {"description": description | described, "features": features}
    changed(model / PREPARATION, "encoding", value=encoding)
    if problem is None:
        assert load(model).feature_names == ["a", "b", "c"]
        return
    with pytest.raises(InvalidFile, match=problem):
        load(model)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("parameters", "n_units"), 10**9),
        (("parameters", "n_layers"), 10**7),
        (("parameters", "n_units"), 4096),
        (("parameters", "n_layers"), 50),
        (("parameters", "learning_rate"), "x"),
        (("n_features",), 10**12),
        (("n_features",), 4),
        (("n_features",), True),
        (("learner",), "mnl"),
        (("learner",), "os:system"),
        (("learner",), ["feta"]),
        (("kind",), "neither"),
        (("arrays",), {}),
    ],
)
def test_hostile_descriptions_are_refused_before_anything_is_built(model, place, value):
    changed(model / DESCRIPTION, *place, value=value)
    with pytest.raises(CschoiceError):
        load(model)


def test_arrays_that_are_no_attributes_are_refused(tmp_path):
    make_learner("mnl").fit(easy_tasks(Kind.SINGLETON)).save(tmp_path)
    arrays = load_file(tmp_path / WEIGHTS)
    save_file({**arrays, "utilities": np.zeros(1)}, tmp_path / WEIGHTS)
    shapes = {name: list(array.shape) for name, array in arrays.items()}
    changed(tmp_path / DESCRIPTION, "arrays", value={**shapes, "utilities": [1]})
    with pytest.raises(InvalidFile, match="no array 'utilities'"):
        load(tmp_path)


@pytest.mark.parametrize("name", [WEIGHTS, DESCRIPTION, PREPARATION])
def test_a_pipe_or_a_device_in_place_of_a_file_is_refused(model, name):
    (model / name).unlink()
    os.mkfifo(model / name)
    with pytest.raises(FileNotUsable, match="a pipe or a device"):
        load(model)
    (model / name).unlink()
    (model / name).symlink_to("/dev/zero")
    with pytest.raises(FileNotUsable, match="a pipe or a device"):
        load(model)
