"""The models in Biogeme."""

from __future__ import annotations

import os
import tempfile
from typing import Any

import pandas as pd
from numpy.typing import NDArray


def _frame(x: NDArray[Any], y: NDArray[Any]) -> pd.DataFrame:
    _, n_objects, n_features = x.shape
    columns = {f"x{j}_{k}": x[:, j, k] for j in range(n_objects) for k in range(n_features)}
    return pd.DataFrame({**columns, "choice": y})


def _estimate(frame: pd.DataFrame, log_probability: Any, **options: Any) -> float:
    from biogeme.biogeme import BIOGEME
    from biogeme.database import Database

    here = os.getcwd()  # noqa: PTH109
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # it writes files where it runs
        try:
            model = BIOGEME(
                Database("choices", frame), log_probability, generate_html=False,
                generate_yaml=False, save_iterations=False,
                **options,
            )  # fmt: skip
            model.model_name = "model"
            results = model.quick_estimate()  # without standard errors
        finally:
            os.chdir(here)
    return float(results.final_log_likelihood)


def _utilities(x: NDArray[Any], coefficients: list[Any]) -> dict[int, Any]:
    from biogeme.expressions import Variable

    return {
        j: sum(beta * Variable(f"x{j}_{k}") for k, beta in enumerate(coefficients))
        for j in range(x.shape[1])
    }


def _betas(x: NDArray[Any], name: str = "b", start: float = 0.0) -> list[Any]:
    from biogeme.expressions import Beta

    return [Beta(f"{name}{k}", start, None, None, 0) for k in range(x.shape[2])]


def multinomial(x: NDArray[Any], y: NDArray[Any]) -> float:
    """Return the log-likelihood of the fitted multinomial logit."""
    from biogeme.expressions import Variable
    from biogeme.models import loglogit

    utilities = _utilities(x, _betas(x))
    return _estimate(_frame(x, y), loglogit(utilities, None, Variable("choice")))


def nested(x: NDArray[Any], y: NDArray[Any], nests: NDArray[Any]) -> float:
    """Return the log-likelihood of the fitted nested logit."""
    from biogeme.expressions import Beta, Variable
    from biogeme.models import lognested
    from biogeme.nests import NestsForNestedLogit, OneNestForNestedLogit

    groups = tuple(
        OneNestForNestedLogit(
            nest_param=Beta(f"mu{k}", 1.0, 1.0, 20.0, 0),
            list_of_alternatives=(nests == k).nonzero()[0].tolist(),
            name=f"nest{k}",
        )
        for k in sorted(set(nests.tolist()))
    )
    tree = NestsForNestedLogit(choice_set=list(range(x.shape[1])), tuple_of_nests=groups)
    utilities = _utilities(x, _betas(x))
    return _estimate(_frame(x, y), lognested(utilities, None, tree, Variable("choice")))


def mixed(x: NDArray[Any], y: NDArray[Any], n_draws: int) -> float:
    """Return the simulated log-likelihood of the fitted mixed logit, all coefficients normal."""
    from biogeme.expressions import Draws, MonteCarlo, Variable, log
    from biogeme.models import logit

    means, deviations = _betas(x), _betas(x, "s", 0.5)
    coefficients = [
        mean + deviation * Draws(f"z{k}", "NORMAL_MLHS")  # it has Halton draws for three
        for k, (mean, deviation) in enumerate(zip(means, deviations, strict=True))
    ]
    probability = logit(_utilities(x, coefficients), None, Variable("choice"))
    return _estimate(_frame(x, y), log(MonteCarlo(probability)), number_of_draws=n_draws)
