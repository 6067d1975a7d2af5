"""The next hyperparameters to try, as a pure function of the trials so far.

scikit-optimize is reached through this module only. A fresh optimizer is told the whole history
and asked once, so that resuming equals not having stopped.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from statistics import fmean, median, stdev
from typing import Any

from cschoice.errors import InvalidParameter
from cschoice.runs.records import Budget, Rung, Trial, TrialState
from cschoice.seeding import seed_for
from cschoice.space import Categorical, Dimension, Integer, Real

Params = dict[str, Any]


def next_trial(
    space: Mapping[str, Dimension],
    defaults: Params,
    trials: Sequence[Trial],
    budget: Budget,
    *,
    seed: int,
    costly: bool,
    confirm: bool = True,
) -> tuple[Params, Rung] | None:
    """Return the next parameters to try and the cost of the trial; None when the budget is spent.

    A frugal budget screens all trials cheaply, the defaults first. If a screen is clearly better
    than theirs, both are fitted in full, unless screens are full fits already (``confirm``):
    parameters that suit a short training, large steps above all, may not suit a long one. Cheap
    learners take evenly spread points all along: a Gaussian process would cost more than it saves.
    With a ``least_gain`` the search ends before its number of trials where the Gaussian process
    expects no more of the next one than what the choice of inner splits does by chance.
    """
    if not space:
        return None
    rung = Rung.FULL if budget.frugal is None else Rung.SCREEN
    tried = [trial for trial in trials if trial.rung is rung]
    if len(tried) < budget.n_trials:
        if not tried and budget.frugal is not None:
            return {name: defaults[name] for name in space}, rung
        history = [(dict(trial.params), _comparable_loss(trial, tried)) for trial in tried]
        n_spread = min(budget.n_spread, budget.n_trials // 2) if costly else None
        least = budget.least_gain * _noise(tried) if costly else 0.0
        params = propose(space, history, seed=seed, n_spread=n_spread, least=least)
        if params is not None:
            return params, rung
    leader = _leader(tried, budget.frugal.clear_gain) if budget.frugal and confirm else None
    if leader is None:
        return None
    n_fitted = len(trials) - len(tried)
    contestants = (tried[0], leader)
    return (dict(contestants[n_fitted].params), Rung.FULL) if n_fitted < 2 else None


def best_trial(trials: Sequence[Trial]) -> Trial | None:
    """Return the trial with the smallest loss among those that had the most spent on them."""
    full = _ranked([trial for trial in trials if trial.rung is Rung.FULL])
    return next(iter(full or _ranked(trials)), None)


def chosen_trial(trials: Sequence[Trial], budget: Budget) -> Trial | None:
    """Return the trial whose parameters are taken: the best, or the defaults if in doubt.

    Full fits count as they are, screens must be clearly better than the defaults. None if nothing
    could be fitted.
    """
    full = [trial for trial in trials if trial.rung is Rung.FULL]
    if _ranked(full) or not trials or trials[0].state is not TrialState.COMPLETE:
        return best_trial(trials)
    if full or budget.frugal is None:
        return trials[0]
    return _leader(trials, budget.frugal.clear_gain) or trials[0]


def _leader(screens: Sequence[Trial], clear_gain: float) -> Trial | None:
    """Return the best of the screens that are clearly better than that of the defaults.

    A screen is a small and noisy copy of the fit that follows. It must beat the defaults, which
    are the first trial, by more than twice the standard error over the same inner splits, and by
    more than ``clear_gain``: smaller gains seldom carry over to the whole fit.
    """
    if not screens or screens[0].state is not TrialState.COMPLETE:
        return None
    defaults = screens[0]
    ranked = _ranked(screens)
    return next((trial for trial in ranked if _clearly_better(trial, defaults, clear_gain)), None)


def _comparable_loss(trial: Trial, trials: Sequence[Trial]) -> float | None:
    """Return a trial's mean loss over the inner splits, comparable with other trials.

    One that was given up after the first split is taken to be as far on the others from a trial
    that was not: splits differ by more than trials do.
    """
    whole = next((one for one in trials if one.state is TrialState.COMPLETE), None)
    if trial.state is not TrialState.HOPELESS or whole is None:
        return trial.loss
    return fmean(whole.losses) + trial.losses[0] - whole.losses[0]


def _clearly_better(trial: Trial, than: Trial, clear_gain: float) -> bool:
    gains = [other - loss for loss, other in zip(trial.losses, than.losses, strict=True)]
    error = stdev(gains) / math.sqrt(len(gains)) if len(gains) > 1 else 0.0
    return fmean(gains) > max(2 * error, clear_gain)


def _noise(trials: Sequence[Trial]) -> float:
    """Return the median standard error by which trials differ from the best, over the splits."""
    ranked = _ranked(trials)
    if len(ranked) < 2 or len(ranked[0].losses) < 2:
        return 0.0
    best = ranked[0].losses
    differences = [
        [ours - other for ours, other in zip(best, trial.losses, strict=True)]
        for trial in ranked[1:]
    ]
    return median(stdev(each) for each in differences) / math.sqrt(len(best))


def _ranked(trials: Sequence[Trial]) -> list[Trial]:
    """Sort the trials that ended well by their loss; the earlier one first if equal."""
    complete = [trial for trial in trials if trial.state is TrialState.COMPLETE]
    return sorted(complete, key=lambda trial: (trial.loss, trial.number))


def propose(
    space: Mapping[str, Dimension],
    history: Sequence[tuple[Params, float | None]],
    *,
    seed: int,
    n_spread: int | None = 10,
    least: float = 0.0,
) -> Params | None:
    """Propose the next point from the points tried so far and their losses.

    The first ``n_spread`` points, or all if it is None, are spread evenly. A failed trial has no
    loss and counts as the worst one seen. None if the point is expected to improve the smallest
    loss by less than ``least``.
    """
    seen = [params for params, _ in history]
    losses = [loss for _, loss in history if loss is not None and math.isfinite(loss)]
    if n_spread is not None and len(history) >= n_spread and len(set(losses)) > 1:
        filled = [max(losses) if loss is None else loss for _, loss in history]
        number = seed_for(seed, "gp", n=len(seen))
        proposed, gain = _by_gaussian_process(space, seen, filled, number)
        if gain < least:
            return None
        if proposed not in seen:
            return proposed
    # Small spaces repeat themselves: look a little further, then accept the repetition.
    for further in range(20):
        spread = _spread(space, len(seen) + further, seed)
        if spread not in seen:
            break
    return spread


def _spread(space: Mapping[str, Dimension], number: int, seed: int) -> Params:
    """Return a point of an additive recurrence: even from the first points on, in any dimension.

    The steps are powers of the generalized golden ratio, the root of x^(d+1) = x + 1; the seed
    shifts them. (A Halton sequence would leave gaps for as long as its largest prime.)
    """
    ratio = 2.0
    for _ in range(60):
        ratio = (1 + ratio) ** (1 / (len(space) + 1))
    shifts = random.Random(seed_for(seed, "spread"))
    return {
        name: _at(dimension, (shifts.random() + (number + 1) / ratio ** (k + 1)) % 1)
        for k, (name, dimension) in enumerate(space.items())
    }


def _at(dimension: Dimension, u: float) -> Any:
    """Return the value at a share 0 ≤ u < 1 of the dimension; integers are equally probable."""
    if isinstance(dimension, Categorical):
        return dimension.options[int(u * len(dimension.options))]
    low, high = dimension.low, dimension.high
    if isinstance(dimension, Integer):
        if dimension.log:
            return min(high, int(low * ((high + 1) / low) ** u))
        return low + int(u * (high + 1 - low))
    return low * (high / low) ** u if dimension.log else low + u * (high - low)


def _by_gaussian_process(
    space: Mapping[str, Dimension], points: Sequence[Params], losses: Sequence[float], seed: int
) -> tuple[Params, float]:
    """Return the next point and by how much it is expected to be better than the best so far."""
    import numpy as np
    from skopt import Optimizer
    from skopt.acquisition import gaussian_ei
    from threadpoolctl import threadpool_limits

    optimizer = Optimizer(
        [_skopt_dimension(dimension) for dimension in space.values()],
        base_estimator="GP",
        acq_func="EI",
        n_initial_points=0,
        random_state=seed,
        model_queue_size=1,
    )
    # Expected improvement's margin is in units of the loss: standardize it.
    deviation = np.std(losses)
    y = (np.asarray(losses) - np.mean(losses)) / deviation
    with threadpool_limits(1):  # more threads make the small matrices slower
        optimizer.tell([[point[name] for name in space] for point in points], y.tolist())
        asked = optimizer.ask()
        place = optimizer.space.transform([asked])
        gain = float(gaussian_ei(place, optimizer.models[-1], y.min(), xi=0.0)[0] * deviation)
    values = [value.item() if hasattr(value, "item") else value for value in asked]
    return dict(zip(space, values, strict=True)), gain


def _skopt_dimension(dimension: Dimension) -> Any:
    from skopt import space as skopt_space

    if isinstance(dimension, Categorical):
        return skopt_space.Categorical(list(dimension.options))
    prior = "log-uniform" if dimension.log else "uniform"
    kind = skopt_space.Integer if isinstance(dimension, Integer) else skopt_space.Real
    return kind(dimension.low, dimension.high, prior=prior)


def narrowed(
    space: Mapping[str, Dimension], limits: Mapping[str, Sequence[Any]]
) -> tuple[dict[str, Dimension], Params]:
    """Cut a space down to limits, [low, high] or the options that remain.

    Returns what is left to tune, and the parameters that have one value left. Limits outside
    the space are moved to its border; those of parameters it does not have are for other
    learners.
    """
    left: dict[str, Dimension] = {}
    fixed: Params = {}
    for name, dimension in space.items():
        limit = limits.get(name)
        if limit is None:
            left[name] = dimension
        elif isinstance(dimension, Categorical):
            options = tuple(option for option in dimension.options if option in limit)
            if not options:
                raise InvalidParameter(
                    f"{name} must be among {', '.join(dimension.options)}, got {limit}"
                )
            if len(options) > 1:
                left[name] = Categorical(options)
            else:
                fixed[name] = options[0]
        else:
            low, high = (min(max(end, dimension.low), dimension.high) for end in limit)
            if isinstance(dimension, Integer):
                low, high = math.ceil(low), math.floor(high)
            if low < high:
                kind = Integer if isinstance(dimension, Integer) else Real
                left[name] = kind(low, high, dimension.log)
            else:
                fixed[name] = low
    return left, fixed
