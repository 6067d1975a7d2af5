"""A fitted model as a folder that predicts tables: learner, encoding, scale and threshold.

model/
  weights.safetensors, learner.json  the learner; see ``learners.saving``
  preparation.json                   how tables become its tasks, and utilities its choices
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cschoice.errors import FileNotUsable, InvalidFile
from cschoice.evaluation.decisions import choose, probabilities
from cschoice.io.documents import from_json
from cschoice.io.files import replacing
from cschoice.learners.learner import Learner
from cschoice.models import saving
from cschoice.tasks import ChoiceTasks, frames
from cschoice.tasks.frames.encoding import Encoding, Feature
from cschoice.tasks.scaling import Scaling

if TYPE_CHECKING:
    import pandas as pd

FILE = "preparation.json"
VERSION = 1


@dataclass(frozen=True)
class Preparation:
    """The steps before and after the learner: from a table to tasks, from utilities to choices."""

    threshold: float | None = None  # of subset choice
    scaling: Scaling | None = None
    encoding: Encoding | None = None  # None: features are the columns x0, x1, …
    version: int = VERSION


def save(folder: Path, learner: Learner, preparation: Preparation) -> None:
    """Write a learner and its preparation as a folder."""
    saving.save(learner, folder)
    with replacing(folder / FILE) as (temporary,):
        temporary.write_text(
            json.dumps(asdict(preparation), indent=2, allow_nan=False) + "\n", encoding="utf-8"
        )


@dataclass(frozen=True)
class Predictor:
    """A model that predicts tables like the one it was learned from."""

    learner: Any
    preparation: Preparation

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Read a model, for example ``results/runs/…/fold-0/model``."""
        folder = Path(folder)
        learner = saving.load(folder)
        path = folder / FILE
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            raise InvalidFile(f"{path} is not there: run the job again to make it") from None
        except (OSError, UnicodeDecodeError) as error:
            raise FileNotUsable(f"cannot read {path}: {error}") from error
        preparation: Preparation = from_json(Preparation, text, path)
        if preparation.version != VERSION:
            version = preparation.version
            raise InvalidFile(f"{path} is of version {version}, this program reads {VERSION}")
        return cls(learner, preparation)

    @property
    def encoding(self) -> Encoding:
        """Return how tables become tasks; without an import, as in the Parquet format."""
        if self.preparation.encoding is not None:
            return self.preparation.encoding
        names = [f"x{k}" for k in range(self.learner.n_features_in_)]
        described = frames.describe(
            task="task", chosen="chosen", features=names, kind=self.learner.kind_
        )
        return Encoding(described, tuple(Feature(name) for name in names))

    def predict(self, source: Any) -> pd.DataFrame:
        """Predict a data frame or file: one row per object on offer.

        Columns: what names the task and the object, ``utility``, ``probability`` if the learner
        defines one, and ``chosen``, 1 or 0.
        """
        import pandas as pd

        table = frames.encode(source, self.encoding)
        tasks = ChoiceTasks.from_table(table, self.learner.kind_)
        if self.preparation.scaling is not None:
            tasks = tasks.scaled(self.preparation.scaling)
        utilities = self.learner.utilities(tasks)
        columns = table.labels() | {"utility": utilities}
        if self.learner.probabilistic:
            columns["probability"] = probabilities(tasks, utilities)
        chosen = choose(tasks, utilities, self.preparation.threshold)
        predicted = pd.DataFrame(columns | {"chosen": chosen.astype(np.int8)})
        return predicted.iloc[table.in_order].reset_index(drop=True)
