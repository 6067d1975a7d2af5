"""Learners as folders: arrays in safetensors, everything else in JSON, never pickle.

MODEL/
  weights.safetensors, learner.json  the learner: what it has learned, and its parameters
  preparation.json                   how tables become its tasks, and utilities its choices
"""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from cschoice.errors import CschoiceError, FileNotUsable, InvalidFile, NotFitted
from cschoice.io.documents import from_json
from cschoice.io.files import replacing
from cschoice.learners import make_learner, name_of
from cschoice.learners.ensemble import MeanEnsemble
from cschoice.learners.learner import Learner
from cschoice.learners.preparation import VERSION as PREPARATION_VERSION
from cschoice.learners.preparation import Preparation
from cschoice.tasks import Kind

FORMAT = "cschoice-learner"
VERSION = 1
WEIGHTS, DESCRIPTION, PREPARATION = "weights.safetensors", "learner.json", "preparation.json"
_KEYS = {"format", "version", "learner", "parameters", "kind", "n_features", "arrays"}


def save(learner: Learner, folder: str | Path) -> None:
    """Write a fitted learner; all files appear, or none."""
    if not hasattr(learner, "n_features_in_"):
        raise NotFitted(f"this {learner.name} is not fitted yet: there is nothing to save")
    arrays = {name: np.ascontiguousarray(array) for name, array in learner._state().items()}
    description = {
        "format": FORMAT,
        "version": VERSION,
        "learner": learner.name if isinstance(learner, MeanEnsemble) else name_of(learner),
        "parameters": learner.get_params(deep=False),
        "kind": str(learner.kind_),
        "n_features": learner.n_features_in_,
        "arrays": {name: list(array.shape) for name, array in arrays.items()},
    }
    folder = Path(folder)
    paths = [folder / name for name in (WEIGHTS, DESCRIPTION, PREPARATION)]
    with replacing(*paths) as (weights, about, preparation):
        save_file(arrays, weights)
        about.write_text(json.dumps(description, indent=2) + "\n", encoding="utf-8")
        text = json.dumps(asdict(learner.preparation_), indent=2, allow_nan=False)
        preparation.write_text(text + "\n", encoding="utf-8")


def load(folder: str | Path) -> Learner:
    """Read a learner that ``save`` wrote, after checking that the files belong together."""
    folder = Path(folder)
    described = _read_description(folder / DESCRIPTION)
    arrays = _read_arrays(folder / WEIGHTS)
    shapes = {name: list(array.shape) for name, array in arrays.items()}
    if shapes != described["arrays"]:
        wrong = sorted(
            name
            for name in shapes.keys() | described["arrays"].keys()
            if shapes.get(name) != described["arrays"].get(name)
        )
        raise InvalidFile(f"{folder / WEIGHTS} does not hold the arrays described: {wrong}")
    try:
        name = described["learner"]
        make = MeanEnsemble if name == MeanEnsemble.name else partial(make_learner, name)
        learner: Learner = make(**described["parameters"])
        learner.kind_ = Kind(described["kind"])
        learner.n_features_in_ = described["n_features"]
        learner._set_state(arrays)
    except (CschoiceError, TypeError, ValueError) as error:
        raise InvalidFile(f"{folder} does not describe a learner: {error}") from error
    learner.preparation_ = _read_preparation(folder / PREPARATION)
    return learner


def _read_preparation(path: Path) -> Preparation:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InvalidFile(f"{path} is not there: save the model again to make it") from None
    except (OSError, UnicodeDecodeError) as error:
        raise FileNotUsable(f"cannot read {path}: {error}") from error
    preparation: Preparation = from_json(Preparation, text, path)
    if preparation.version != PREPARATION_VERSION:
        version = preparation.version
        raise InvalidFile(
            f"{path} is of version {version}, this program reads {PREPARATION_VERSION}"
        )
    return preparation


def _read_description(path: Path) -> dict[str, Any]:
    try:
        described = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        hint = "a model is a folder like results/runs/…/fold-0/model"
        raise FileNotUsable(f"cannot read {path}: {error.strerror or error}; {hint}") from error
    except ValueError as error:
        raise InvalidFile(f"{path} is damaged: {error}") from error
    if not isinstance(described, dict) or described.get("format") != FORMAT:
        raise InvalidFile(f"{path} does not describe a learner of cschoice")
    version = described.get("version")
    if version != VERSION:
        raise InvalidFile(f"{path} has format version {version}, this program reads {VERSION}")
    if described.keys() != _KEYS:
        raise InvalidFile(f"{path} must have the keys {sorted(_KEYS)}, got {sorted(described)}")
    for key in ("parameters", "arrays"):
        if not isinstance(described[key], dict):
            raise InvalidFile(f"{path}: {key} must be a table, got {described[key]!r}")
    return described


def _read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    try:
        arrays: dict[str, NDArray[Any]] = load_file(path)
    except OSError as error:
        raise FileNotUsable(f"cannot read {path}: {error.strerror or error}") from error
    except SafetensorError as error:
        raise InvalidFile(f"{path} is damaged: {error}") from error
    return arrays
