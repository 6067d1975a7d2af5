"""Random choice tasks for property tests."""

import numpy as np
from hypothesis import strategies as st

from cschoice.tasks import ChoiceTasks, Kind


@st.composite
def choice_tasks(draw, kind=None, max_tasks=8, max_objects=6):
    """Ragged tasks over a shared table, both kinds, with some items used by several tasks."""
    kind = kind or draw(st.sampled_from(list(Kind)))
    sizes = draw(st.lists(st.integers(1, max_objects), min_size=1, max_size=max_tasks))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_items = draw(st.integers(1, 12))
    chosen = []
    for size in sizes:
        choice = np.zeros(size, dtype=bool)
        n_chosen = 1 if kind is Kind.SINGLETON else rng.integers(1, size + 1)
        choice[rng.permutation(size)[:n_chosen]] = True
        chosen.append(choice)
    return ChoiceTasks(
        table=rng.standard_normal((n_items, draw(st.integers(1, 3)))),
        items=rng.integers(0, n_items, sum(sizes)),
        offsets=np.concatenate([[0], np.cumsum(sizes)]),
        chosen=np.concatenate(chosen),
        kind=kind,
    )


def utilities_for(tasks, rng, distinct=False):
    """Utilities with many ties, or none."""
    if distinct:
        return rng.permutation(tasks.n_entries).astype(np.float64)
    return rng.integers(-2, 3, tasks.n_entries).astype(np.float64)
