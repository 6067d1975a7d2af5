"""Data sets of the literature with the specifications that others published estimates of."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pandas as pd
import pytest

from cschoice.tasks import ChoiceTasks

SWISSMETRO = {
    "where": "PURPOSE in (1, 3)",
    "utility": "constants, time = time / 100, cost = cost * (1 - GA * (1 - CAR)) / 100",
    "reference": "SM",
}


def read(name: str) -> pd.DataFrame:
    folder = os.environ.get("CSCHOICE_DATA")
    if folder is None:
        pytest.skip("CSCHOICE_DATA does not name a folder with the data")
    path = Path(folder) / name
    if not path.exists():
        pytest.skip(f"{path} does not exist")
    return pd.read_csv(path)


@cache
def swissmetro() -> ChoiceTasks:
    """Return all choices among train, Swissmetro and car, with the features of the choosers."""
    return ChoiceTasks.from_frame(
        read("swissmetro/swissmetro.csv.gz"),
        alternatives="TRAIN=1,SM=2,CAR=3",
        chosen="CHOICE",
        available="{}_AV",
        features="time={}_TT,cost={}_CO,headway={}_HE|0,seats={}_SEATS|0",
        constants=True,
        context="GA,PURPOSE,SP,AGE,LUGGAGE",
        group="ID",
        drop_invalid=True,
    )


@cache
def mode_canada() -> ChoiceTasks:
    """Return the choices of those with four alternatives among car, train and air."""
    data = read("modecanada/ModeCanada.csv.gz")
    data = data[(data.noalt == 4) & (data.alt != "bus")]
    data = data[data.groupby("case").choice.transform("sum") == 1]
    return ChoiceTasks.from_frame(
        data.assign(time=data.ivt + data.ovt),
        task="case",
        object="alt",
        chosen="choice",
        features="cost,freq,time",
        context="income",
        constants=True,
    )
