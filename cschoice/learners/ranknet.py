"""RankNet: a context-free utility, learned from pairs (chosen, not chosen)."""

from __future__ import annotations

from dataclasses import dataclass

from cschoice.learners.pointwise import PointwiseNet
from cschoice.tasks import Kind


@dataclass(kw_only=True, eq=False, repr=False)
class RankNet(PointwiseNet):
    """RankNet (Burges et al.): the objects of a task go through once, pairs form in the loss."""

    name = "ranknet"

    def loss_name(self, _: Kind) -> str:
        """Return the name of the loss on pairs, for either kind of choice."""
        return self.loss or "pairwise-logistic"
