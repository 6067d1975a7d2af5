"""Compare the CPU time of an epoch with the torch networks of cs-ranking, the paper's own code.

Their modules are trained by the plainest loop there is (AdamW, whole batches), so that nothing but
the networks counts. Both sides have two hidden layers of 64 units and batches of 1,024; theirs
evaluates ordered pairs of unmirrored units and embeds a set of d features in d numbers, ours in 64.
One thread; medians of interleaved runs; the processor is printed.

    CSRANK=<folder that holds the package csrank, version 2> python benchmarks/peers_networks.py

Without that folder the plain networks of ``networks.py`` stand in.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import types
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import networks
import torch
from torch import nn

from cschoice.nets.kernels import library


class Peer(NamedTuple):
    """A learner of ours, the sizes of its tasks, and the peer's network of so many features."""

    learner: str
    n_objects: int
    n_features: int
    network: Callable[[int], nn.Module]
    target: str


def csrank_networks() -> dict[str, Callable[[int], nn.Module]] | None:
    """Return the networks of cs-ranking, whose modules need torch and nothing else of it."""
    folder = os.environ.get("CSRANK")
    if not folder:
        return None
    package = types.ModuleType("csrank")  # its own __init__ imports PyMC3 and more
    package.__path__ = [str(Path(folder) / "csrank")]
    sys.modules["csrank"] = package
    from csrank.modules.object_mapping import DenseNeuralNetwork
    from csrank.modules.scoring import FATEScoring, FETAScoring
    from csrank.modules.scoring.ranknet import RankNetScoring

    eye = torch.eye  # masks of bytes, which they use, are masks of booleans in newer torch
    torch.eye = lambda n, dtype=None: eye(n, dtype=torch.bool if dtype == torch.uint8 else dtype)
    dense = partial(DenseNeuralNetwork, hidden_layers=1, units_per_hidden=64, activation=nn.ReLU())
    utility = partial(dense, output_size=1)
    return {
        "feta": lambda n: FETAScoring(n, utility, utility),
        "fate": lambda n: FATEScoring(n, n, utility, dense),
        "ranknet": lambda n: RankNetScoring(n, utility),
    }


def plain_networks() -> dict[str, Callable[[int], nn.Module]]:
    """Return networks of the same sizes, written in the obvious way."""
    return {
        "feta": lambda n: networks.PlainFeta(n, 64, 2),
        "fate": lambda n: networks.PlainFate(n, 64, 2),
        "ranknet": lambda n: nn.Sequential(
            nn.Linear(n, 64),
            nn.ReLU(),
            nn.Linear(64, 64),
            nn.ReLU(),
            nn.Linear(64, 1),
            nn.Flatten(),
        ),
    }


CASES = [
    ("feta", 30, 2, "8 times, 10 tried for"),
    ("feta", 10, 5, "5 times, 6 tried for"),
    ("feta", 10, 128, "5 times, 6 tried for"),
    ("fate", 30, 2, "3 times"),
    ("fate", 10, 128, "3 times"),
    ("ranknet", 30, 2, "2 times"),
]
_PARAMETERS: dict[str, dict[str, Any]] = {"feta": networks._FETA, "fate": networks._FATE}


def processor() -> str:
    """Return the processor's name."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    return next((line.split(": ")[1] for line in lines if line.startswith("model name")), "?")


def main() -> None:
    """Print one line per case."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", default="", help="a part of the name of a case")
    options = parser.parse_args()
    theirs, name = csrank_networks(), "cs-ranking"
    if theirs is None:
        theirs, name = plain_networks(), "plain"
    kernels = "compiled kernels" if library.available() else "no compiled kernels"
    print(f"{processor()}, torch {torch.__version__}, {kernels}")
    print(f"{'case':16} {'ours s':>8} {name + ' s':>13} {'times':>6}")
    for learner, n_objects, n_features, target in CASES:
        case = f"{learner}-{n_objects}x{n_features}"
        if options.only not in case:
            continue
        tasks = networks.random_tasks(10_000, n_objects, n_features)
        ours = networks._learner(learner, **_PARAMETERS.get(learner, networks._FETA))

        def peer(tasks: Any, n_epochs: int, network: Any = theirs[learner]) -> None:
            networks.plain_epochs(network(tasks.n_features), tasks, 1024, n_epochs)

        for run in (ours, peer):
            run(tasks[:100], 1)  # what is loaded at the first use
        pairs = [
            (networks.cpu_seconds(ours, tasks), networks.cpu_seconds(peer, tasks))
            for _ in range(options.repeats)
        ]
        mine, other = (statistics.median(side) for side in zip(*pairs, strict=True))
        print(
            f"{case:16} {mine:8.3f} {other:13.3f} {other / mine:6.1f}   target: {target}",
            flush=True,
        )


if __name__ == "__main__":
    main()
