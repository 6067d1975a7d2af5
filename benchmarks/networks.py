"""Compare CPU time and memory of the networks with plain implementations of the same.

Plain means: every ordered pair of a whole batch through one dense network on concatenated
inputs (FETA), the representative copied beside every object (FATE), tasks padded and gathered
the same way. Both sides are the same function of the same weights, which is checked, with the
same batch and optimizer; one thread; medians of interleaved runs.

    python benchmarks/networks.py [--repeats 3] [--only feta-30x2]
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from cschoice.learners import make_learner
from cschoice.learners.fate import FateNet
from cschoice.learners.feta import FetaNet
from cschoice.nets.layers import ContextMLP, Hidden, Layers, SetEncoder
from cschoice.nets.losses import loss_for
from cschoice.tasks import ChoiceTasks, Kind

Run = Callable[[ChoiceTasks, int], None]  # tasks and number of epochs
EPOCHS = 2
ACTIVATION = "relu"


def activate(z: Tensor) -> Tensor:
    """Apply the nonlinearity, out of place."""
    return {"relu": F.relu, "gelu": F.gelu}[ACTIVATION](z)


def plain_hidden(hidden: Hidden, z: Tensor) -> Tensor:
    """Go through hidden layers one operation after the other."""
    h = activate(z)
    for layer in hidden.layers:
        h = activate(layer(h))
    return h


class PlainFeta(nn.Module):
    """FETA's own network, the obvious way: all ordered pairs of the batch, concatenated."""

    def __init__(self, n_features: int, n_units: int, n_layers: int) -> None:
        super().__init__()
        layers = Layers(n_units, n_layers, ACTIVATION)
        self.network = FetaNet(n_features, layers, layers)

    def forward(self, x: Tensor) -> Tensor:
        """Map (tasks, objects, features) to utilities (tasks, objects)."""
        n, pairs = x.shape[1], self.network.pairs
        first, second = (torch.tensor(side) for side in zip(*_ordered_pairs(n), strict=True))
        both = torch.cat([x[:, first], x[:, second]], dim=-1)  # (tasks, n (n-1), 2 features)
        same, cross = pairs.of_first.weight, pairs.of_second.weight
        weight = torch.cat([torch.cat([same, cross], 1), torch.cat([cross, same], 1)])
        z = F.linear(both, weight, torch.cat([pairs.of_first.bias] * 2))
        scores = self.network.last(plain_hidden(pairs.hidden, z)).view(len(x), n, n - 1)
        return self.network.inherent(x).squeeze(-1) + scores.mean(2)


def _ordered_pairs(n: int) -> list[tuple[int, int]]:
    return [(i, j) for i in range(n) for j in range(n) if i != j]


class PlainFate(nn.Module):
    """FATE's own network, the obvious way: the representative beside every object."""

    def __init__(self, n_features: int, n_units: int, n_layers: int) -> None:
        super().__init__()
        layers = Layers(n_units, n_layers, ACTIVATION)
        encoder = SetEncoder(n_features, n_units, layers)
        self.network = FateNet(encoder, ContextMLP(n_features, n_units, layers), 1)

    def forward(self, x: Tensor) -> Tensor:
        """Map (tasks, objects, features) to utilities (tasks, objects)."""
        utility = self.network.utility
        h = x
        for layer in self.network.encoder.layers:
            h = activate(layer(h))
        context = h.mean(1, keepdim=True).expand(-1, x.shape[1], -1)
        weight = torch.cat([utility.of_object.weight, utility.of_context.weight], 1)
        z = F.linear(torch.cat([x, context], dim=-1), weight, utility.of_object.bias)
        return utility.last(plain_hidden(utility.hidden, z)).squeeze(-1)


def check_same(plain: type[PlainFeta | PlainFate]) -> None:
    """Make sure that the plain way computes the same numbers."""
    network, x = plain(3, 8, 2), torch.randn(4, 5, 3)
    torch.testing.assert_close(network(x), network.network(x, None))


def plain_epochs(network: nn.Module, tasks: ChoiceTasks, batch_size: int, n_epochs: int) -> None:
    """Train the obvious way."""
    x = torch.tensor(tasks.features).view(len(tasks), -1, tasks.n_features)
    chosen = torch.tensor(tasks.chosen).view(len(tasks), -1)
    loss = loss_for("binary-cross-entropy", Kind.SUBSET)
    optimizer = torch.optim.AdamW(network.parameters(), 1e-3)
    for _ in range(n_epochs):
        for numbers in torch.randperm(len(tasks)).split(batch_size):
            optimizer.zero_grad()
            loss(network(x[numbers]), chosen[numbers], None).mean().backward()
            optimizer.step()


def random_tasks(n_tasks: int, n_objects: int, n_features: int) -> ChoiceTasks:
    """Return subset choice tasks without meaning; about one in seven objects is chosen."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n_tasks, n_objects, n_features)).astype(np.float32)
    chosen = rng.random((n_tasks, n_objects)) < 1 / 7
    chosen[:, 0] = True
    return ChoiceTasks.from_dense(x, chosen, Kind.SUBSET)


@dataclass(frozen=True)
class Case:
    """Two ways to spend an epoch on the same tasks."""

    n_tasks: int
    n_objects: int
    n_features: int
    ours: Run
    plain: Run
    target: str


def _learner(name: str, **parameters: object) -> Run:
    def run(tasks: ChoiceTasks, n_epochs: int) -> None:
        common = {"epochs": n_epochs, "batch_size": 1024, "activation": ACTIVATION}
        make_learner(name, **common, **parameters).fit(tasks)

    return run


def _plain(network: type[nn.Module], n_units: int, n_layers: int) -> Run:
    def run(tasks: ChoiceTasks, n_epochs: int) -> None:
        plain_epochs(network(tasks.n_features, n_units, n_layers), tasks, 1024, n_epochs)  # type: ignore[call-arg]

    return run


def _pointwise(tasks: ChoiceTasks, n_epochs: int) -> None:
    parameters = {"epochs": n_epochs, "batch_size": 1024, "activation": ACTIVATION, **_FETA}
    make_learner("ranknet", loss="binary-cross-entropy", **parameters).fit(tasks)


_FETA = {"n_layers": 2, "n_units": 64}
_FATE = {"n_layers": 2, "n_units": 64, "n_set_layers": 2, "n_set_units": 64, "n_embedding": 64}
CASES = {
    "feta-30x2": Case(
        10_000, 30, 2, _learner("feta", **_FETA), _plain(PlainFeta, 64, 2), "5x, memory 1/3"
    ),
    "feta-10x128": Case(10_000, 10, 128, _learner("feta", **_FETA), _plain(PlainFeta, 64, 2), "4x"),
    "feta-10x1128": Case(
        2_048, 10, 1128, _learner("feta", **_FETA), _plain(PlainFeta, 64, 2), "8x"
    ),
    "fate-30x2": Case(10_000, 30, 2, _learner("fate", **_FATE), _plain(PlainFate, 64, 2), "1.5x"),
    "fate-10x128": Case(
        10_000, 10, 128, _learner("fate", **_FATE), _plain(PlainFate, 64, 2), "1.5x"
    ),
    "ranknet-30x2": Case(
        10_000, 30, 2, _learner("ranknet", **_FETA), _pointwise, "at least 1/1.3 of pointwise"
    ),
}


def cpu_seconds(run: Run, tasks: ChoiceTasks) -> float:
    """Return the CPU time of one more epoch: the work done once per fit cancels out."""
    seconds = []
    for n_epochs in (1, 1 + EPOCHS):
        start = time.process_time()
        run(tasks, n_epochs)
        seconds.append(time.process_time() - start)
    return (seconds[1] - seconds[0]) / EPOCHS


def extra_megabytes(name: str, side: str) -> float:
    """Return how much a batch adds to the peak memory, in a process of its own."""
    command = [sys.executable, __file__, "--activation", ACTIVATION, "--memory", name, side]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def _print_memory(name: str, side: str) -> None:
    case = CASES[name]
    tasks = random_tasks(1024, case.n_objects, case.n_features)
    tiny = random_tasks(2, case.n_objects, case.n_features)
    getattr(case, side)(tiny, 1)  # what the libraries themselves need
    before = _peak_megabytes()
    getattr(case, side)(tasks, 1)
    print(_peak_megabytes() - before)


def _peak_megabytes() -> float:
    """Return this process's own peak; the counter of getrusage starts at the parent's."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def main() -> None:
    """Print one line per case."""
    global ACTIVATION
    torch.set_num_threads(1)
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", choices=CASES)
    parser.add_argument("--memory", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--activation", choices=("relu", "gelu"), default=ACTIVATION)
    options = parser.parse_args()
    ACTIVATION = options.activation
    if options.memory:
        _print_memory(*options.memory)
        return
    for plain in (PlainFeta, PlainFate):
        check_same(plain)
    print(f"{'case':14} {'ours s':>8} {'plain s':>8} {'times':>6} {'ours MB':>8} {'plain MB':>9}")
    for name, case in CASES.items():
        if options.only not in (None, name):
            continue
        tasks = random_tasks(case.n_tasks, case.n_objects, case.n_features)
        pairs = [
            (cpu_seconds(case.ours, tasks), cpu_seconds(case.plain, tasks))
            for _ in range(options.repeats)
        ]
        ours, plain = (statistics.median(side) for side in zip(*pairs, strict=True))
        memory = [extra_megabytes(name, side) for side in ("ours", "plain")]
        print(
            f"{name:14} {ours:8.2f} {plain:8.2f} {plain / ours:6.2f} {memory[0]:8.0f} "
            f"{memory[1]:9.0f}   target: {case.target}",
            flush=True,
        )


if __name__ == "__main__":
    main()
