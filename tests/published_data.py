"""Data sets of the literature with the specifications that others published estimates of."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from cschoice.tasks import ChoiceTasks

SWISSMETRO = {
    "where": "PURPOSE in (1, 3)",
    "utility": "constants, time = time / 100, cost = cost * (1 - GA * (1 - CAR)) / 100",
    "reference": "SM",
}


def read(name: str, **form: Any) -> pd.DataFrame:
    folder = os.environ.get("CSCHOICE_DATA")
    if folder is None:
        pytest.skip("CSCHOICE_DATA does not name a folder with the data")
    path = Path(folder) / name
    if not path.exists():
        pytest.skip(f"{path} does not exist")
    return pd.read_csv(path, **form)


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


def _standardized(features: np.ndarray) -> np.ndarray:
    return (features - features.mean(axis=0)) / features.std(axis=0, ddof=1)


@cache
def sushi_first() -> ChoiceTasks:
    """Return the sushi that 5,000 people like best among ten of a hundred, by six features."""
    about = read("sushi/sushi3.idata", sep="\t", header=None, comment="#", index_col=0)
    about = about.sort_index().to_numpy()[:, [1, 2, 4, 5, 6, 7]].astype(float)
    about[:, :2] = 1 - about[:, :2]
    orders = read("sushi/sushi3b.5000.10.order", sep=" ", header=None, skiprows=1)
    items = orders.iloc[:, 2:].to_numpy().ravel()
    x = _standardized(about[items]).reshape(-1, 10, 6)
    return ChoiceTasks.from_dense(x, np.zeros(len(x), dtype=int), "singleton")


@cache
def car_pairs() -> ChoiceTasks:
    """Return choices between two cars."""
    data = read("car_pairs/car_a.csv.xz")
    features = ["body", "transmission", "displacement", "hybrid"]
    x = data[features].to_numpy(dtype=float) * [1, 1, 1, -1]
    data[features] = _standardized(x)
    return ChoiceTasks.from_frame(data, task="pair", chosen="chosen", features=features)


@cache
def swissmetro_split(part: str) -> ChoiceTasks:
    """Return one part of Sifringer, Lurkin and Alahi's split, with its generic features."""
    data = read(f"swissmetro/lmnl_{part}.csv.xz")
    data = data.query("TRAIN_AV == 1 and SM_AV == 1 and CAR_AV == 1 and CHOICE != 0")
    x = np.zeros((len(data), 3, 9))
    x[:, :, 0] = data[["TRAIN_TT", "SM_TT", "CAR_TT"]] / 100
    x[:, :, 1] = data[["TRAIN_CO", "SM_CO", "CAR_CO"]] / 100
    x[:, :2, 1] *= (data.GA == 0).to_numpy()[:, None]
    x[:, :2, 2] = data[["TRAIN_HE", "SM_HE"]] / 100
    x[:, :2, 3] = data[["GA", "GA"]]
    x[:, 0, 4], x[:, 2, 5], x[:, 1, 6] = data.AGE, data.LUGGAGE, data.SM_SEATS
    x[:, 0, 7] = x[:, 2, 8] = 1
    return ChoiceTasks.from_dense(x, data.CHOICE.to_numpy() - 1, "singleton")


@cache
def sfwork() -> ChoiceTasks:
    """Return the modes of work trips, without features; equal choices once, with their number."""
    data = read("sfwork/sfwork.csv.xz").sort_values(["case", "mode"])
    text = (data["mode"].astype(str) + "=" + data.chosen.astype(str)).groupby(data.case)
    choice = data.case.map(text.agg(" ".join))
    numbers = choice[~data.case.duplicated()].value_counts()
    first = data.case.isin(data.case[~choice.duplicated()])
    return ChoiceTasks.from_frame(
        data[first].assign(number=choice[first].map(numbers)),
        task="case",
        object="mode",
        chosen="chosen",
        features="",
        constants=True,
        weight="number",
    )
