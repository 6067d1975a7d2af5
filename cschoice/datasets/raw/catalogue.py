"""The raw data of the paper: which files, where from, under which terms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cschoice.datasets.raw.files import FilePattern, RawFile, find
from cschoice.errors import DataUnavailable
from cschoice.registry import Registry


@dataclass(frozen=True)
class Download:
    """A file that may be fetched by a program."""

    url: str
    sha256: str

    @property
    def name(self) -> str:
        """Return the name of the file."""
        return self.url.rsplit("/", 1)[1]


@dataclass(frozen=True)
class RawData:
    """A set of raw files: which ones, their source, their terms."""

    title: str
    layouts: tuple[Mapping[str, FilePattern], ...]  # the first that is complete is used
    home: str
    terms: str
    steps: str  # how to get it by hand
    downloads: tuple[Download, ...] = ()
    sha256: Mapping[str, str] = field(default_factory=dict)  # of contents, unpacked; where known

    def find(self) -> dict[str, RawFile]:
        """Return the files by their role; ``DataUnavailable`` lists missing files and folders."""
        return find(self.title, self.layouts)

    def present(self) -> bool:
        """Return whether all files are there."""
        try:
            self.find()
        except DataUnavailable:
            return False
        return True


def _letor(name: str, sha256: Mapping[str, str] | None = None) -> RawData:
    folder = name.replace("-", "").lower()
    # LETOR's own fold k tests on part k − 1 (fold 1 on part 5). Listwise parts are called I1 …
    parts = {
        f"S{k}": FilePattern((f"S{k}.txt", f"I{k}.txt", f"Fold{k % 5 + 1}/test.txt"), (folder,))
        for k in range(1, 6)
    }
    return RawData(
        title=f"LETOR 4.0 {name}",
        layouts=(parts,),
        home="https://www.microsoft.com/en-us/research/project/"
        "letor-learning-rank-information-retrieval/letor-4-0/",
        terms="Microsoft Research, for research; cite Qin and Liu, arXiv 1306.2597",
        steps=f"accept the terms, download {name}.rar, unpack it to DATA/{name} "
        "(S1.txt … S5.txt, or Fold1 … Fold5)",
        sha256=sha256 or {},
    )


_MQ2008_PARTS = {
    "S1": "cbd42504549a2388f6c0aefdb506f22074225b574c7a5df10194174c9b00e4e0",
    "S2": "055ac792cb8f7d5a029090b8acbfb6c57323339d1371251bf2465ac182aa8605",
    "S3": "a03fe2b6e76479de60fecdb37d560a40a4e899b0cd685553d2da31ea205af1ab",
    "S4": "a239850bc6fe960ad08c2b7b0d99db90fe976dd93a15358e98036591b4e7a2ac",
    "S5": "c68c52feb1ecae7f17b64c8e2fda2098302681bbd4ea5fad8c73a1d32a1cf2b2",
}


def _mnist() -> RawData:
    server = "https://ossci-datasets.s3.amazonaws.com/mnist"
    names = {
        "train-images": "train-images-idx3-ubyte",
        "train-labels": "train-labels-idx1-ubyte",
        "test-images": "t10k-images-idx3-ubyte",
        "test-labels": "t10k-labels-idx1-ubyte",
    }
    packed = {
        "train-images": "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
        "train-labels": "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
        "test-images": "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
        "test-labels": "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
    }
    files = {
        # As in the original archives, or with the dot that some tools make of the hyphen.
        key: FilePattern((name, name.replace("-idx", ".idx")), never=("fashionmnist", "kmnist"))
        for key, name in names.items()
    }
    return RawData(
        title="MNIST",
        layouts=(files,),
        home="https://yann.lecun.com/exdb/mnist/",
        terms="LeCun, Cortes and Burges; freely redistributed, cite LeCun et al. 1998",
        steps="put the four idx files, plain or as .gz, into DATA/mnist",
        downloads=tuple(Download(f"{server}/{names[key]}.gz", packed[key]) for key in names),
        sha256={
            "train-images": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
            "train-labels": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
            "test-images": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
            "test-labels": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
        },
    )


_SUSHI = RawData(
    title="SUSHI",
    layouts=(
        {
            "items": FilePattern(("sushi3.idata",)),
            "orders-a": FilePattern(("sushi3a.5000.10.order",)),
            "orders-b": FilePattern(("sushi3b.5000.10.order",)),
        },
    ),
    home="https://www.kamishima.net/sushi/",
    terms="for research, no redistribution; cite Kamishima, KDD 2003",
    steps="download sushi3-2016.zip and put it, or what is in it, into DATA",
)


_GROUPLENS = "https://files.grouplens.org/datasets"

_TAG_GENOME = RawData(
    title="Tag Genome",
    layouts=(
        {
            "scores": FilePattern(("genome-scores.csv",)),
            "tags": FilePattern(("genome-tags.csv",)),
            "applied": FilePattern(("tags.csv",)),
        },
        {"scores": FilePattern(("tag_relevance.dat",)), "tags": FilePattern(("tags.dat",))},
    ),
    home="https://grouplens.org/datasets/movielens/",
    terms="GroupLens, for research, no redistribution; cite Vig et al. 2012, Harper and "
    "Konstan 2015",
    steps="download ml-20m.zip, ml-25m.zip or tag-genome.zip and put it, or what is in it, "
    "into DATA",
    downloads=(
        Download(
            f"{_GROUPLENS}/movielens/ml-20m.zip",
            "96f243c338a8665f6bcc89c53edf6ee39162a846940de6b7c8c48aeada765ff3",
        ),
    ),
)


_EXPEDIA = RawData(
    title="Expedia",
    layouts=({"train": FilePattern(("train.csv",), ("expedia", "personalizedsort"))},),
    home="https://www.kaggle.com/c/expedia-personalized-sort/data",
    terms="Kaggle, the rules of the competition 'Personalize Expedia Hotel Searches - ICDM 2013'",
    steps="accept the rules, download the data, unpack train.csv (plain, .gz or .zip) to "
    "DATA/expedia",
)


RAW_DATA: Registry[RawData] = Registry(
    "raw data",
    {
        "mnist": _mnist(),
        "letor-mq2007": _letor("MQ2007"),
        "letor-mq2008": _letor("MQ2008", _MQ2008_PARTS),
        "letor-mq2007-list": _letor("MQ2007-list"),
        "letor-mq2008-list": _letor("MQ2008-list"),
        "sushi": _SUSHI,
        "tag-genome": _TAG_GENOME,
        "expedia": _EXPEDIA,
    },
)
