"""A fitted model in a folder, ready to predict tables."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from cschoice.learners import saving
from cschoice.learners.learner import Learner, Table
from cschoice.learners.prediction import encoding_of, predict_table
from cschoice.learners.preparation import Preparation
from cschoice.tasks.frames.encoding import Encoding

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Predictor:
    """A model that predicts tables like the one it was learned from."""

    learner: Learner

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Read a model that ``Learner.save``, ``cschoice fit`` or ``cschoice run`` wrote."""
        return cls(saving.load(folder))

    @property
    def preparation(self) -> Preparation:
        """Return the encoding, the scale and the rule of subset choice of the model."""
        return self.learner.preparation_

    @property
    def encoding(self) -> Encoding:
        """Return how tables become tasks of the model."""
        return encoding_of(self.learner)

    def predict(self, source: Table) -> pd.DataFrame:
        """Predict a data frame or file, one row per object on offer; see ``Learner.predict``."""
        return predict_table(self.learner, source)
