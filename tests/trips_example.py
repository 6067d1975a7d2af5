"""Trips by bus, car or train, cheap and fast ones preferred, as a table of somebody's own."""

import numpy as np
import pandas as pd


def trips(n_tasks=200, kind="singleton", seed=0):
    """Return one row per trip and mode; each of the persons makes four trips."""
    rng = np.random.default_rng(seed)
    n_rows = 3 * n_tasks
    table = pd.DataFrame(
        {
            "person": np.repeat(np.arange(n_tasks) // 4, 3),
            "trip": np.repeat(np.arange(n_tasks), 3),
            "mode": ["bus", "car", "train"] * n_tasks,
            "cost": rng.gamma(3, 4, n_rows).round(2),
            "time": rng.gamma(4, 10, n_rows).round(1),
        }
    )
    worth = 6 - 0.3 * table["cost"] - 0.05 * table["time"] + rng.gumbel(size=n_rows)
    chosen = worth == worth.groupby(table["trip"]).transform("max")
    if kind == "subset":
        chosen |= worth > 1
    return table.assign(chosen=chosen.astype(int))
