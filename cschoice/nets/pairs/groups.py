"""Large tasks in groups: each object beside some of the others, not beside all of them.

The objects of a task are dealt into groups of about the same size, by their places and always in
the same way; what is computed of pairs is computed within each group. Time and memory then grow
with the number of objects, not with its square.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from cschoice.nets.layers import Mask


def in_groups(
    encode: Callable[[Tensor, Mask], Tensor], x: Tensor, mask: Mask, n_partners: int
) -> Tensor:
    """Encode the objects, (tasks, objects, …), group by group."""
    groups = list(_groups(x, mask, n_partners))
    sizes = torch.tensor([len(group) for group in groups], device=x.device)
    places = pad_sequence(groups, batch_first=True)  # (groups, objects)
    present = torch.arange(places.shape[1], device=x.device) < sizes.unsqueeze(1)
    made = encode(x.flatten(0, 1)[places], present)
    total = made.new_zeros(x.shape[0] * x.shape[1], made.shape[-1])
    return total.index_put((places[present],), made[present]).view(*x.shape[:2], -1)


def _groups(x: Tensor, mask: Mask, n_partners: int) -> Iterator[Tensor]:
    """Yield the places of each group's objects among those of all tasks.

    They depend on the task alone, not on the tasks and the padding beside it.
    """
    n_tasks, n_objects = x.shape[:2]
    for task in range(n_tasks):
        there = x.new_ones(n_objects, dtype=torch.bool) if mask is None else mask[task]
        places = there.nonzero().flatten() + task * n_objects
        n_places = len(places)
        order = torch.randperm(n_places, generator=torch.Generator().manual_seed(n_places))
        n_groups = -(-n_places // (n_partners + 1))
        shuffled = places[order.to(x.device)]
        yield from (shuffled[number::n_groups] for number in range(n_groups))
