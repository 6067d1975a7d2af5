"""Learners with a utility that is written down: what an explanation of them must say is known."""

import numpy as np

from cschoice.learners.learner import Learner
from cschoice.tasks import ChoiceTasks, Kind


class Written(Learner):
    """A learner whose utility is a function of a set's features, (objects, features)."""

    name = "written"

    def __init__(self, utility=None):
        self.utility = utility

    @property
    def probabilistic(self):
        return True

    def check_parameters(self):
        pass

    def _fit(self, tasks, seed, device):
        pass

    def _utilities(self, tasks):
        parts = [self.utility(tasks[i].features.astype(float)) for i in range(len(tasks))]
        return np.concatenate(parts)

    def _state(self):
        return {}

    def _set_state(self, arrays):
        pass


def written(utility, tasks):
    return Written(utility).learn(tasks)


def halo(matrix, own=None):
    """u_j = own_j + Σ of matrix[j, k] over the others; features are one-hot."""
    matrix = np.asarray(matrix, dtype=float)
    own = np.zeros(len(matrix)) if own is None else np.asarray(own, dtype=float)

    def utility(x):
        who = x.argmax(1)
        among = matrix[np.ix_(who, who)]
        return own[who] + among.sum(1) - np.diag(among)

    return utility


def one_hot_tasks(n_items, sets, kind=Kind.SINGLETON):
    """Tasks on items with identity; the first of each set is chosen."""
    sizes = [len(one) for one in sets]
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    chosen = np.zeros(offsets[-1], dtype=bool)
    chosen[offsets[:-1]] = True
    return ChoiceTasks(np.eye(n_items), np.concatenate(sets), offsets, chosen, kind)


def random_tasks(n_tasks, n_objects, n_features, seed=0, kind=Kind.SINGLETON):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n_tasks, n_objects, n_features))
    return ChoiceTasks.from_dense(x, np.arange(n_objects) == np.zeros((n_tasks, 1)), kind)
