"""Learners as folders: arrays in safetensors, everything else in JSON, never pickle.

MODEL/
  weights.safetensors, learner.json  the learner: what it has learned, and its parameters
  preparation.json                   how tables become its tasks, and utilities its choices

learner.json carries its own checksum and those of the files beside it. Models of earlier versions
have none; they are taken as far as their files fit one another.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as arrays_of
from safetensors.numpy import save as bytes_of

from cschoice.errors import CschoiceError, FileNotUsable, InvalidFile, NotFitted
from cschoice.io.documents import digest, from_json, sealed, unseal
from cschoice.io.files import read_regular, replacing
from cschoice.learners import make_learner, name_of
from cschoice.learners.ensemble import MeanEnsemble
from cschoice.learners.learner import Learner
from cschoice.learners.preparation import VERSION as PREPARATION_VERSION
from cschoice.learners.preparation import Preparation
from cschoice.tasks import ChoiceTasks, Kind

FORMAT = "cschoice-learner"
VERSION = 1
WEIGHTS, DESCRIPTION, PREPARATION = "weights.safetensors", "learner.json", "preparation.json"
_KEYS = {"format", "version", "learner", "parameters", "kind", "n_features", "arrays"}
_FILES = "files"  # their checksums, which models of earlier versions lack
_MOST_BYTES = 1 << 32
_MOST_FEATURES = 10_000_000


def save(learner: Learner, folder: str | Path) -> None:
    """Write a fitted learner; all files appear, or none."""
    if not hasattr(learner, "n_features_in_"):
        raise NotFitted(f"this {learner.name} is not fitted yet: there is nothing to save")
    arrays = {name: np.ascontiguousarray(array) for name, array in learner._state().items()}
    prepared = json.dumps(asdict(learner.preparation_), indent=2, allow_nan=False)
    contents = {WEIGHTS: bytes_of(arrays), PREPARATION: f"{prepared}\n".encode()}
    description = {
        "format": FORMAT,
        "version": VERSION,
        "learner": learner.name if isinstance(learner, MeanEnsemble) else name_of(learner),
        "parameters": learner.get_params(deep=False),
        "kind": str(learner.kind_),
        "n_features": learner.n_features_in_,
        "arrays": {name: list(array.shape) for name, array in arrays.items()},
        _FILES: {name: digest(content) for name, content in contents.items()},
    }
    contents[DESCRIPTION] = (json.dumps(sealed(description), indent=2) + "\n").encode()
    with replacing(*(Path(folder) / name for name in contents)) as temporaries:
        for temporary, content in zip(temporaries, contents.values(), strict=True):
            temporary.write_bytes(content)


def load(folder: str | Path) -> Learner:
    """Read a learner that ``save`` wrote, after checking that the files are whole and fit."""
    folder = Path(folder)
    described = _read_description(folder / DESCRIPTION)
    digests = described.get(_FILES, {})
    arrays = _read_arrays(folder / WEIGHTS, digests)
    shapes = {name: list(array.shape) for name, array in arrays.items()}
    if shapes != described["arrays"]:
        wrong = sorted(
            name
            for name in shapes.keys() | described["arrays"].keys()
            if shapes.get(name) != described["arrays"].get(name)
        )
        raise InvalidFile(f"{folder / WEIGHTS} does not hold the arrays described: {wrong}")
    try:
        learner = _restored(described, arrays)
    except (CschoiceError, TypeError, ValueError, LookupError, AttributeError) as error:
        raise InvalidFile(f"{folder} does not describe a learner: {error}") from error
    learner.preparation_ = _read_preparation(folder / PREPARATION, digests)
    if problem := learner.preparation_.problem(learner.kind_, learner.n_features_in_):
        raise InvalidFile(f"{folder / PREPARATION} is damaged ({problem})")
    return learner


def _restored(described: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Learner:
    """Return the learner with its arrays, after having it look at two objects."""
    name = described["learner"]
    make = MeanEnsemble if name == MeanEnsemble.name else partial(make_learner, name)
    learner: Learner = make(**described["parameters"])
    learner.check_parameters()
    learner.kind_ = Kind(described["kind"])
    learner.n_features_in_ = n_features = described["n_features"]
    if learner.kind_ not in learner.kinds:
        raise ValueError(f"{name} does not learn {learner.kind_} choice")
    learner._set_state(arrays)
    shapes = {one: np.atleast_1d(array).shape for one, array in learner._state().items()}
    if shapes != {one: array.shape for one, array in arrays.items()}:
        raise ValueError("these are not its arrays")
    two = np.zeros((2, n_features), dtype=np.float32)
    tried = ChoiceTasks(two, np.arange(2), np.array([0, 2]), np.array([True, False]), learner.kind_)
    if learner.utilities(tried).shape != (2,):
        raise ValueError("its arrays do not give one utility per object")
    return learner


def _read(path: Path, digests: Mapping[str, str]) -> bytes:
    """Return the content of a file of the model, which must fit its checksum if there is one."""
    try:
        content = read_regular(path, _MOST_BYTES)
    except FileNotFoundError:
        raise InvalidFile(f"{path} is not there: save the model again to make it") from None
    except OSError as error:
        raise FileNotUsable(f"cannot read {path}: {error.strerror or error}") from error
    if digests and digests.get(path.name) != digest(content):
        raise InvalidFile(f"{path} is damaged (its checksum does not fit)")
    return content


def _read_preparation(path: Path, digests: Mapping[str, str]) -> Preparation:
    preparation: Preparation = from_json(Preparation, _read(path, digests), path)
    if preparation.version != PREPARATION_VERSION:
        version = preparation.version
        raise InvalidFile(
            f"{path} is of version {version}, this program reads {PREPARATION_VERSION}"
        )
    return preparation


def _read_description(path: Path) -> dict[str, Any]:
    try:
        text = read_regular(path)
    except OSError as error:
        hint = "a model is a folder like results/runs/…/fold-0/model"
        raise FileNotUsable(f"cannot read {path}: {error.strerror or error}; {hint}") from error
    described = unseal(text, path)
    if described.get("format") != FORMAT:
        raise InvalidFile(f"{path} does not describe a learner of cschoice")
    version = described.get("version")
    if version != VERSION:
        raise InvalidFile(f"{path} has format version {version}, this program reads {VERSION}")
    if described.keys() - {_FILES} != _KEYS:
        raise InvalidFile(f"{path} must have the keys {sorted(_KEYS)}, got {sorted(described)}")
    for key in ("parameters", "arrays", _FILES):
        if not isinstance(described.get(key, {}), dict):
            raise InvalidFile(f"{path}: {key} must be a table, got {described[key]!r}")
    n_features = described["n_features"]
    if type(n_features) is not int or not 1 <= n_features <= _MOST_FEATURES:
        raise InvalidFile(f"{path}: n_features must be 1 to {_MOST_FEATURES:,}, got {n_features!r}")
    return described


def _read_arrays(path: Path, digests: Mapping[str, str]) -> dict[str, NDArray[Any]]:
    try:
        arrays = arrays_of(_read(path, digests))
    except (SafetensorError, KeyError, ValueError) as error:
        raise InvalidFile(f"{path} is damaged: {error}") from error
    return {name: array.copy() for name, array in arrays.items()}  # else they cannot be written to
