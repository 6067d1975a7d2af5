"""FETA's pair encoder: hidden units of pairs of objects, averaged over the other objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from cschoice.nets.devices import floats_at_once
from cschoice.nets.kernels import library
from cschoice.nets.kernels import pairs as kernel
from cschoice.nets.layers import Hidden, Layers, Mask, Mirrored, linear
from cschoice.nets.pairs.groups import in_groups
from cschoice.nets.pairs.sums import PairSettings, PairSums, Workspace


def mean_over_others(sums: Tensor, mask: Mask) -> Tensor:
    """Divide sums over the other objects by their number (by 1 in a set of one object)."""
    return sums / _n_others(sums, mask).clamp(min=1)


def _n_others(sums: Tensor, mask: Mask) -> Tensor:
    """Return the number of other objects in each task, (tasks or 1, 1, 1)."""
    n_objects = sums.new_tensor([sums.shape[1]]) if mask is None else mask.sum(1).to(sums.dtype)
    return (n_objects - 1)[:, None, None]


def subset_means(power_sums: Sequence[Tensor], mask: Mask) -> list[Tensor]:
    """Average the products of factors over all subsets of 2, 3, … other objects (eq. agg).

    ``power_sums`` are the sums of factors q(x, y), of their squares, … over the others y. By
    Newton's identities, e_k = (e_{k−1} p_1 − e_{k−2} p_2 + …) / k, they give the sums over all
    subsets of k, at no more than the cost of pairs.

    >>> q = torch.tensor([1.0, 2.0, 3.0, 5.0])  # of four others; five objects, one of them shown
    >>> powers = [(q**k).sum().view(1, 1, 1).expand(1, 5, 1) for k in (1, 2, 3)]
    >>> pairs, triples = subset_means(powers, None)  # (2+3+5+6+10+15) / 6, (6+10+15+30) / 4
    >>> [round(float(mean[0, 0, 0]), 4) for mean in (pairs, triples)]
    [6.8333, 15.25]
    """
    n_others = _n_others(power_sums[0], mask)
    n_subsets = n_others
    sums = [torch.ones_like(power_sums[0]), power_sums[0]]
    means = []
    for k in range(2, len(power_sums) + 1):
        terms = [(-1) ** (j - 1) * sums[k - j] * power_sums[j - 1] for j in range(1, k + 1)]
        sums.append(torch.stack(terms).sum(0) / k)
        n_subsets = n_subsets * (n_others - k + 1).clamp(min=0) / k
        # With fewer than k others there is no subset, and the sum is only rounding error.
        means.append(sums[k] * (n_subsets > 0) / n_subsets.clamp(min=1))
    return means


def sums_over_others(pairs: Tensor, mask: Mask) -> Tensor:
    """Sum values of pairs over the second object, without (x, x) and padding.

    (tasks, objects, objects, units) -> (tasks, objects, units).
    """
    return (pairs * other_pairs(pairs.shape[1], mask, pairs.device).unsqueeze(-1)).sum(2)


def other_pairs(n_objects: int, mask: Mask, device: torch.device) -> Tensor:
    """Return a mask of the pairs of two different real objects, (tasks or 1, objects, objects)."""
    different = ~torch.eye(n_objects, dtype=torch.bool, device=device).unsqueeze(0)
    return different if mask is None else different & mask.unsqueeze(2) & mask.unsqueeze(1)


def swapped(units: Tensor) -> Tensor:
    """Swap the mirrored halves of (..., units)."""
    first, second = units.chunk(2, dim=-1)
    return torch.cat([second, first], dim=-1)


class PairEncoder(nn.Module):
    """Hidden units of all pairs (x, y) of a task, averaged over y ≠ x (eq. fetapair).

    Weights are mirrored (CmpNN): a pair in swapped order has the same units with their halves
    swapped, so one evaluation serves both objects.

    An ``order`` above 2 adds averages over sub-contexts of two and more objects (eq. agg), with
    utilities that factorize: U2(x, {y, z}) = Σ_i w_i q_i(x, y) q_i(x, z), q linear in the units.

    With ``sigmoid`` the units of each pair become one number between 0 and 1, and these are
    averaged. With ``n_partners`` averages are over at most so many others, see ``groups``.
    """

    def __init__(
        self,
        n_inputs: int,
        layers: Layers,
        order: int = 2,
        *,
        sigmoid: bool = False,
        n_partners: int | None = None,
    ) -> None:
        super().__init__()
        n_half = (layers.n_units + 1) // 2  # an odd number of units becomes the next even one
        self.n_units = 2 * n_half
        self.n_outputs = self.n_units * (order - 1)
        self.of_first = linear(n_inputs, n_half, layers.gain / 2)
        self.of_second = linear(n_inputs, n_half, layers.gain / 2, bias=False)
        self.hidden = Hidden(replace(layers, n_units=self.n_units), mirrored=True)
        self.factors = Mirrored(n_half, 1.0, bias=False) if order > 2 else None
        self.largest_power = order - 1
        self.of_pair: nn.Module | None = None
        if sigmoid:
            self.of_pair = nn.Sequential(linear(self.n_units, 1, 1.0), nn.Sigmoid())
            self.n_outputs = 1
        self.n_partners = n_partners
        self.workspace = Workspace()

    def forward(self, x: Tensor, mask: Mask = None) -> Tensor:
        """Map (tasks, objects, inputs) to (tasks, objects, outputs)."""
        if self.n_beside(x.shape[1]) < x.shape[1] and self.n_partners is not None:
            return in_groups(self._means, x, mask, self.n_partners)
        return self._means(x, mask)

    def _means(self, x: Tensor, mask: Mask) -> Tensor:
        """Average over all other objects."""
        # W [x; y] = left of x + right of y; by the mirrored weights, right is left, swapped.
        first, second = self.of_first, self.of_second
        weight = torch.cat([first.weight, second.weight])  # one product is faster than two
        left = F.linear(x, weight, F.pad(first.bias, (0, len(first.bias))))  # (…, objects, units)
        units, *powers = self._sums(left, mask)  # (tasks, objects, units) each
        means = mean_over_others(units, mask)
        if self.factors is None:
            return means
        return torch.cat([means, *subset_means([self.factors(units), *powers], mask)], -1)

    def n_beside(self, n_objects: int) -> int:
        """Return how many objects of a task are seen beside one another."""
        return n_objects if self.n_partners is None else min(n_objects, self.n_partners + 1)

    @property
    def fused(self) -> bool:
        """Tell whether compiled code does the work, which keeps no pairs in memory."""
        fits = library.fits(self.hidden.activation.kernel, self.of_first.weight)
        return fits and not self._of_all_pairs

    @property
    def _of_all_pairs(self) -> bool:
        """Tell whether all pairs of a batch are needed at once."""
        return bool(self.hidden.norms) or self.of_pair is not None

    def _sums(self, left: Tensor, mask: Mask) -> list[Tensor]:
        """Return sums over the other objects: of the units, then of each power of the factors."""
        if self.fused:
            return self._fused_sums(left, mask)
        right = swapped(left)
        if self._of_all_pairs:
            return self._sums_of_all_pairs(left, right, mask)
        settings = PairSettings(
            self.hidden.activation, floats_at_once(left.device), self.workspace, self.largest_power
        )
        factors = None if self.factors is None else self.factors.weight
        layers = self.hidden.layers
        parameters = [parameter for layer in layers for parameter in (layer.weight, layer.bias)]
        sums: tuple[Tensor, ...] = PairSums.apply(  # type: ignore[no-untyped-call]
            left, right, mask, settings, factors, *parameters
        )
        as_first, as_second = sums[::2], sums[1::2]
        return [first + swapped(second) for first, second in zip(as_first, as_second, strict=True)]

    def _fused_sums(self, left: Tensor, mask: Mask) -> list[Tensor]:
        mirrored: Any = self.hidden.layers
        factors = None if self.factors is None else self.factors.parts
        return kernel.sums(
            left,
            mask,
            [layer.parts for layer in mirrored],
            factors,
            self.hidden.activation.number,
            self.largest_power,
        )

    def _sums_of_all_pairs(self, left: Tensor, right: Tensor, mask: Mask) -> list[Tensor]:
        """Return the same sums, with all pairs of the batch at once.

        The statistics of batch normalization are not mirrored, nor is what is computed of a pair,
        so each pair is evaluated in both orders.
        """
        present = other_pairs(left.shape[1], mask, left.device)
        pairs = left.unsqueeze(2) + right.unsqueeze(1)  # (tasks, objects, objects, units)
        h = self.hidden(pairs, present.expand(pairs.shape[:-1]))
        values = [h if self.of_pair is None else self.of_pair(h)]
        if self.factors is not None:
            factors = self.factors(h)
            values += [factors**power for power in range(2, self.largest_power + 1)]
        return [sums_over_others(value, mask) for value in values]
