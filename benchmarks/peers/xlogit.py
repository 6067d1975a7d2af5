"""The models in xlogit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def _long(x: NDArray[Any], y: NDArray[Any]) -> dict[str, Any]:
    n_tasks, n_objects, n_features = x.shape
    return {
        "X": x.reshape(-1, n_features),
        "y": (y[:, None] == np.arange(n_objects)).ravel(),
        "varnames": [f"x{k}" for k in range(n_features)],
        "ids": np.repeat(np.arange(n_tasks), n_objects),
        "alts": np.tile(np.arange(n_objects), n_tasks),
        "verbose": 0,
    }


def multinomial(x: NDArray[Any], y: NDArray[Any]) -> float:
    """Return the log-likelihood of the fitted multinomial logit."""
    from xlogit import MultinomialLogit

    model = MultinomialLogit()
    model.fit(**_long(x, y))
    return float(model.loglikelihood)


def mixed(x: NDArray[Any], y: NDArray[Any], n_draws: int) -> float:
    """Return the simulated log-likelihood of the fitted mixed logit, all coefficients normal."""
    from xlogit import MixedLogit

    data, model = _long(x, y), MixedLogit()
    model.fit(**data, randvars=dict.fromkeys(data["varnames"], "n"), n_draws=n_draws)
    return float(model.loglikelihood)


def panel(x: NDArray[Any], y: NDArray[Any], people: NDArray[Any], n_draws: int) -> float:
    """Return the simulated log-likelihood of the panel mixed logit, all coefficients normal."""
    from xlogit import MixedLogit

    data, model = _long(x, y), MixedLogit()
    model.fit(
        **data,
        panels=np.repeat(people, x.shape[1]),
        randvars=dict.fromkeys(data["varnames"], "n"),
        n_draws=n_draws,
    )
    return float(model.loglikelihood)
