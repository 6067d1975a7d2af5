"""The raw data of the paper: which files, where from, under which terms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from cschoice.datasets.rawfiles import RawFile, Wanted, find
from cschoice.registry import Registry


@dataclass(frozen=True)
class Download:
    """A file that may be fetched by a program."""

    url: str
    sha256: str

    @property
    def name(self) -> str:
        """Return what the file is called."""
        return self.url.rsplit("/", 1)[1]


@dataclass(frozen=True)
class RawData:
    """What a set of raw files consists of, and how to come by it."""

    title: str
    layouts: tuple[Mapping[str, Wanted], ...]  # the first that is complete is used
    home: str
    terms: str
    steps: str  # what to do by hand
    downloads: tuple[Download, ...] = ()

    def find(self, folders: Iterable[Path] | None = None) -> dict[str, RawFile]:
        """Return the files by what they are, or say what is missing and where it was sought."""
        return find(self.title, self.layouts, folders)


def _letor(name: str) -> RawData:
    folder = name.replace("-", "").lower()
    # LETOR's own fold k tests on part k − 1 (fold 1 on part 5).
    parts = {
        f"S{k}": Wanted((f"S{k}.txt", f"Fold{k % 5 + 1}/test.txt"), folder) for k in range(1, 6)
    }
    return RawData(
        title=f"LETOR 4.0 {name}",
        layouts=(parts,),
        home="https://www.microsoft.com/en-us/research/project/"
        "letor-learning-rank-information-retrieval/letor-4-0/",
        terms="Microsoft Research, for research; cite Qin and Liu, arXiv 1306.2597",
        steps=f"accept the terms, download {name}.rar, unpack it to DATA/{name} "
        "(S1.txt … S5.txt, or Fold1 … Fold5)",
    )


def _mnist() -> RawData:
    server = "https://ossci-datasets.s3.amazonaws.com/mnist"
    sha256 = {
        "train-images-idx3-ubyte": (
            "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"
        ),
        "train-labels-idx1-ubyte": (
            "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"
        ),
        "t10k-images-idx3-ubyte": (
            "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"
        ),
        "t10k-labels-idx1-ubyte": (
            "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"
        ),
    }
    keys = ("train-images", "train-labels", "test-images", "test-labels")
    files = {
        # As in the original archives, or with the dot that some tools make of the hyphen.
        key: Wanted((name, name.replace("-idx", ".idx")), never=("fashionmnist", "kmnist"))
        for key, name in zip(keys, sha256, strict=True)
    }
    return RawData(
        title="MNIST",
        layouts=(files,),
        home="https://yann.lecun.com/exdb/mnist/",
        terms="LeCun, Cortes and Burges; freely redistributed, cite LeCun et al. 1998",
        steps="put the four idx files, plain or as .gz, into DATA/mnist",
        downloads=tuple(Download(f"{server}/{name}.gz", sha256[name]) for name in sha256),
    )


RAW_DATA: Registry[RawData] = Registry(
    "raw data",
    {
        "mnist": _mnist(),
        "letor-mq2007": _letor("MQ2007"),
        "letor-mq2008": _letor("MQ2008"),
        "letor-mq2007-list": _letor("MQ2007-list"),
        "letor-mq2008-list": _letor("MQ2008-list"),
    },
)
