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


def _estimate(
    frame: pd.DataFrame, log_probability: Any, panel: str | None = None, **options: Any
) -> float:
    from biogeme.biogeme import BIOGEME
    from biogeme.database import Database

    here = os.getcwd()  # noqa: PTH109
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # it writes files where it runs
        try:
            data = Database("choices", frame)
            if panel is not None:
                data.panel(panel)
            if panel is not None:  # its fastest way: exact Hessians take twice as long
                options["calculating_second_derivatives"] = "never"
            model = BIOGEME(
                data, log_probability, generate_html=False,
                generate_yaml=False, save_iterations=False,
                **options,
            )  # fmt: skip
            model.model_name = "model"
            model.use_flatten_database = panel is not None  # the quick way forgets it
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


def _halton(n_people: int, n_draws: int, n_random: int) -> dict[str, Any]:
    """Return the draws that the others take, as types of draws of its own."""
    from biogeme.draws import RandomNumberGeneratorTuple
    from scipy.special import ndtri
    from scipy.stats import qmc

    points = qmc.Halton(n_random, scramble=False).fast_forward(100).random(n_people * n_draws)
    normal = ndtri(points).reshape(n_people, n_draws, n_random)

    def sequence(k: int) -> Any:
        def draws(sample_size: int, number_of_draws: int) -> NDArray[Any]:
            assert (sample_size, number_of_draws) == normal.shape[:2]
            return normal[:, :, k]

        return RandomNumberGeneratorTuple(draws, f"the sequence of number {k}")

    return {f"HALTON_{k}": sequence(k) for k in range(n_random)}


def panel(
    x: NDArray[Any],
    y: NDArray[Any],
    people: NDArray[Any],
    n_draws: int,
    *,
    correlated: bool = False,
) -> float:
    """Return the simulated log-likelihood of the panel mixed logit, all coefficients normal."""
    from biogeme.expressions import (
        Beta,
        Draws,
        MonteCarlo,
        PanelLikelihoodTrajectory,
        Variable,
        log,
    )
    from biogeme.models import logit

    n_random = x.shape[2]
    z = [Draws(f"z{k}", f"HALTON_{k}") for k in range(n_random)]
    coefficients = []
    for k, mean in enumerate(_betas(x)):
        first = 0 if correlated else k
        parts = [
            Beta(f"l{k}_{n}", 0.1 if n == k else 0.0, None, None, 0) * z[n]
            for n in range(first, k + 1)
        ]
        coefficients.append(mean + sum(parts))
    probability = logit(_utilities(x, coefficients), None, Variable("choice"))
    return _estimate(
        _frame(x, y).assign(person=people),
        log(MonteCarlo(PanelLikelihoodTrajectory(probability))),
        panel="person",
        number_of_draws=n_draws,
        random_number_generators=_halton(len(set(people.tolist())), n_draws, n_random),
    )


def latent_class(
    x: NDArray[Any], y: NDArray[Any], people: NDArray[Any], starts: NDArray[Any]
) -> float:
    """Return the log-likelihood of the latent class logit; ``starts`` is (classes, features)."""
    from biogeme.expressions import Beta, PanelLikelihoodTrajectory, Variable, exp, log
    from biogeme.models import logit

    sizes = [exp(Beta(f"p{c}", 0, None, None, int(c == 0))) for c in range(len(starts))]
    parts = []
    for c, start in enumerate(starts.tolist()):
        betas = [Beta(f"b{c}_{k}", value, None, None, 0) for k, value in enumerate(start)]
        probability = logit(_utilities(x, betas), None, Variable("choice"))
        parts.append(sizes[c] / sum(sizes) * PanelLikelihoodTrajectory(probability))
    return _estimate(_frame(x, y).assign(person=people), log(sum(parts)), panel="person")
