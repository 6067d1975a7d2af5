"""Losses on the utilities of padded tasks; each returns one number per task.

``utilities`` and ``chosen`` are (tasks, objects); ``mask`` is True at objects, or None if there
is no padding. Values at padding have no influence.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from cschoice.errors import InvalidParameter
from cschoice.nets.layers import Mask
from cschoice.registry import Registry
from cschoice.tasks import Kind

_LEAST = -1e30  # finite, so that a gradient through it is zero and not NaN


def binary_cross_entropy(utilities: Tensor, chosen: Tensor, mask: Mask) -> Tensor:
    """Return the negative log-likelihood of independent choices (eq. loglosschoice).

    Averaged over the objects of a task, where the paper sums: tasks of any size weigh the same.
    """
    each = F.softplus(utilities) - utilities * chosen  # (tasks, objects)
    if mask is None:
        return each.mean(1)
    return (each * mask).sum(1) / mask.sum(1)


def cross_entropy(utilities: Tensor, chosen: Tensor, mask: Mask) -> Tensor:
    """Return the negative log-likelihood of the softmax (eq. loglosssingletonchoice)."""
    return _hide(utilities, mask).logsumexp(1) - (utilities * chosen).sum(1)


def hinge(utilities: Tensor, chosen: Tensor, mask: Mask) -> Tensor:
    """Return by how much the margin between the chosen and the best other object misses 1.

    This is the paper's eq. categoricalhinge. A set of one object has no other and no loss.
    """
    others = _hide(utilities.masked_fill(chosen, _LEAST), mask).amax(1)  # (tasks,)
    return F.relu(1 + others - (utilities * chosen).sum(1))


def pairwise_logistic(utilities: Tensor, chosen: Tensor, mask: Mask) -> Tensor:
    """Return the logistic loss of (chosen, not chosen) pairs, averaged over them (RankNet).

    Each object was evaluated once; only differences are formed here. On the CPU only chosen
    objects get a row of pairs (on pareto2d one in seven); elsewhere all do, because counting
    them would wait for the device.
    """
    rejected = ~chosen if mask is None else ~chosen & mask  # (tasks, objects)
    n_pairs = (chosen.sum(1) * rejected.sum(1)).clamp(min=1)  # (tasks,)
    if utilities.device.type != "cpu":
        margins = utilities.unsqueeze(2) - utilities.unsqueeze(1)  # (tasks, objects, objects)
        pairs = chosen.unsqueeze(2) & rejected.unsqueeze(1)
        return (F.softplus(-margins) * pairs).sum((1, 2)) / n_pairs
    task, position = chosen.nonzero(as_tuple=True)  # (chosen,)
    margins = utilities[task, position].unsqueeze(1) - utilities[task]  # (chosen, objects)
    each = (F.softplus(-margins) * rejected[task]).sum(1)  # (chosen,)
    return torch.zeros_like(utilities[:, 0]).index_add(0, task, each) / n_pairs


def _hide(utilities: Tensor, mask: Mask) -> Tensor:
    return utilities if mask is None else utilities.masked_fill(~mask, _LEAST)


class Loss(NamedTuple):
    """A loss and the kinds of choice that it is defined for."""

    compute: Callable[[Tensor, Tensor, Mask], Tensor]
    kinds: frozenset[Kind]


LOSSES: Registry[Loss] = Registry(
    "loss",
    {
        "binary-cross-entropy": Loss(binary_cross_entropy, frozenset(Kind)),
        "cross-entropy": Loss(cross_entropy, frozenset({Kind.SINGLETON})),
        "hinge": Loss(hinge, frozenset({Kind.SINGLETON})),
        "pairwise-logistic": Loss(pairwise_logistic, frozenset(Kind)),
    },
)


def loss_for(name: str, kind: Kind) -> Callable[[Tensor, Tensor, Mask], Tensor]:
    """Return the loss of that name; refuse one that is not for this kind of choice."""
    loss = LOSSES[name]
    if kind not in loss.kinds:
        allowed = ", ".join(known for known in LOSSES if kind in LOSSES[known].kinds)
        raise InvalidParameter(f"loss {name} is not for {kind} choice, allowed: {allowed}")
    return loss.compute
