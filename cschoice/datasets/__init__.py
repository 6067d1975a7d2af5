"""The datasets: one file per source, one row per name.

A row gives the sizes of the paper's overview (tab:datasets:overview) and where the source is.
To add a dataset, write a frozen dataclass with ``kind`` and ``fold`` (see ``DatasetSource``) and
a row for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from cschoice.datasets.imported import describe_dataset, imported_names, is_imported
from cschoice.datasets.raw.digit_network import FEATURES_SHA256
from cschoice.datasets.source import DatasetSource
from cschoice.errors import CschoiceError, InvalidParameter
from cschoice.registry import Plugins, Registry, leave_out, load, unknown_name
from cschoice.tasks import Kind

__all__ = ["DATASETS", "DatasetInfo", "DatasetSource", "make_dataset"]

Count = int | tuple[int, int]  # a number, or the smallest and largest over folds or tasks


@dataclass(frozen=True)
class DatasetInfo:
    """The properties of a dataset that are known without loading it."""

    label: str  # as the paper writes it
    kind: Kind
    n_train: Count | None  # these four: None where it is not known before
    n_test: Count | None
    n_features: int | None
    n_objects: Count | None
    source: str  # "module:class"
    parameters: Mapping[str, Any] = field(default_factory=dict)  # of the class, for this name
    raw: str | None = None  # the row of RAW_DATA it is made from; None: it is generated
    pinned: Mapping[str, Any] = field(default_factory=dict)  # those that jobs must state
    # Test tasks per training task if folds divide the same tasks or items, 0 if every fold is drawn
    # anew; None: cross-validation, where the number of folds decides.
    test_to_train: float | None = None


def _synthetic(label: str, kind: Kind, n_features: int, n_objects: int, source: str) -> DatasetInfo:
    target = f"cschoice.datasets.generated.{source}"
    parameters = {"n_features": n_features, "n_objects": n_objects}
    return DatasetInfo(
        label, kind, 10_000, 100_000, n_features, n_objects, target, parameters, test_to_train=0.0
    )


def _letor(year: int, kind: Kind, n_train: Count, n_test: Count, n_objects: Count) -> DatasetInfo:
    suffix = "-list" if kind is Kind.SINGLETON else ""
    source = f"cschoice.datasets.raw.letor:Letor{'List' if suffix else 'Subset'}"
    label, raw = f"LETOR-MQ{year}{suffix}", f"letor-mq{year}{suffix}"
    return DatasetInfo(
        label, kind, n_train, n_test, 46, n_objects, source, {"year": year}, raw, test_to_train=0.25
    )


def _mnist(rule: str, kind: Kind) -> DatasetInfo:
    """Return a row; tasks are fresh, but every fold deals the same images, half of them to test."""
    label, source = f"MNIST-{rule}", f"cschoice.datasets.raw.mnist:{rule}{kind.capitalize()}"
    features = {"features": FEATURES_SHA256[:12]}  # of other features, results are stale
    return DatasetInfo(
        label,
        kind,
        10_000,
        100_000,
        128,
        10,
        source,
        raw="mnist",
        pinned=features,
        test_to_train=1.0,
    )


def _tag_genome(which: str) -> DatasetInfo:
    label, source = f"Tag Genome {which} Movie", f"cschoice.datasets.raw.tag_genome:{which}Movie"
    return DatasetInfo(
        label,
        Kind.SINGLETON,
        10_000,
        100_000,
        1_128,
        10,
        source,
        raw="tag-genome",
        test_to_train=0.0,
    )


def _expedia(kind: Kind, n_train: int, n_test: int) -> DatasetInfo:
    source = f"cschoice.datasets.raw.expedia:Expedia{kind.capitalize()}"
    return DatasetInfo(
        "Expedia", kind, n_train, n_test, 17, (5, 38), source, raw="expedia", test_to_train=4.0
    )


def _sushi() -> DatasetInfo:
    source = "cschoice.datasets.raw.sushi:Sushi"
    return DatasetInfo(
        "Sushi", Kind.SINGLETON, 7_000, 3_000, 7, 10, source, raw="sushi", test_to_train=0.25
    )


class _ImportedDatasets(Mapping[str, DatasetInfo]):
    """The rows of the datasets that were imported in this folder, each read when asked for."""

    def __getitem__(self, name: str) -> DatasetInfo:
        if name not in self:
            raise KeyError(name)
        described = describe_dataset(name)
        return DatasetInfo(
            label=name,
            kind=described.kind,
            n_train=described.n_train,
            n_test=described.n_test,
            n_features=described.n_features,
            n_objects=described.n_objects,
            source="cschoice.datasets.imported:ImportedDataset",
            parameters={"name": name},
            pinned={"content": described.content, "n_folds": described.n_folds},
        )

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and is_imported(name)

    def __iter__(self) -> Iterator[str]:
        for name in imported_names():
            try:
                self[name]
            except CschoiceError as error:  # one damaged file is no reason to show no dataset
                leave_out(error)
            else:
                yield name

    def __len__(self) -> int:
        return len(list(iter(self)))


def _of_plugin(name: str, found: Any, target: str) -> DatasetInfo:
    """Return the row of a class of another package; its fields and attributes tell the sizes."""
    if not is_dataclass(found) or not hasattr(found, "fold") or not hasattr(found, "kind"):
        raise TypeError(f"{target} is no data class with 'kind' and 'fold': see DatasetSource")
    return DatasetInfo(
        label=getattr(found, "label", name),
        kind=Kind(found.kind),
        n_train=getattr(found, "n_train", None),
        n_test=getattr(found, "n_test", None),
        n_features=getattr(found, "n_features", None),
        n_objects=getattr(found, "n_objects", None),
        source=target,
        test_to_train=getattr(found, "test_to_train", None),
    )


_SINGLETON, _SUBSET = Kind.SINGLETON, Kind.SUBSET

DATASETS: Registry[DatasetInfo] = Registry(
    "dataset",
    {
        "medoid": _synthetic("Medoid", _SINGLETON, 5, 10, "medoid:Medoid"),
        "hypervolume": _synthetic("Hypervolume", _SINGLETON, 2, 10, "hypervolume:Hypervolume"),
        "mnist-mode-singleton": _mnist("Mode", _SINGLETON),
        "mnist-unique-singleton": _mnist("Unique", _SINGLETON),
        "tag-genome-dissimilar": _tag_genome("Dissimilar"),
        "tag-genome-similar": _tag_genome("Similar"),
        "letor-mq2007-list": _letor(
            2007, _SINGLETON, (1_353, 1_356), (336, 339), n_objects=(257, 1_346)
        ),
        "letor-mq2008-list": _letor(
            2008, _SINGLETON, (627, 628), (156, 157), n_objects=(204, 1_831)
        ),
        "expedia-singleton": _expedia(_SINGLETON, 78_041, 312_229),
        "sushi": _sushi(),
        "unique-onehot": _synthetic(
            "Unique (one-hot)", _SINGLETON, 10, 10, "unique_onehot:UniqueOneHot"
        ),
        "journeys": DatasetInfo(
            "Journeys",
            _SINGLETON,
            4_000,
            4_000,
            5,
            3,
            "cschoice.datasets.generated.journeys:Journeys",
            test_to_train=0.0,
        ),
        "pareto2d": _synthetic("Pareto-front-2D", _SUBSET, 2, 30, "pareto:Pareto"),
        "pareto5d": _synthetic("Pareto-front-5D", _SUBSET, 5, 30, "pareto:Pareto"),
        "mnist-mode-subset": _mnist("Mode", _SUBSET),
        "mnist-unique-subset": _mnist("Unique", _SUBSET),
        "letor-mq2007": _letor(2007, _SUBSET, (1_160, 1_172), (283, 295), n_objects=(6, 147)),
        "letor-mq2008": _letor(2008, _SUBSET, (442, 459), (105, 122), n_objects=(5, 121)),
        "expedia-subset": _expedia(_SUBSET, 79_855, 319_489),
    },
    more=[
        _ImportedDatasets(),
        Plugins("dataset", "cschoice.datasets", _of_plugin, lambda: DATASETS.written),
    ],
)


def make_dataset(name: str, /, **parameters: Any) -> DatasetSource:
    """Return the source of that name, its parameters changed where given.

    >>> train, test = make_dataset("medoid", n_train=100, n_test=20).fold(0, seed=7)
    >>> train
    ChoiceTasks(singleton, 100 tasks of 10 objects, 5 features, 10.0 % chosen)
    """
    info = DATASETS[name]
    source = load(info.source)
    allowed = [parameter.name for parameter in fields(source)]
    for parameter in parameters:
        if parameter not in allowed:
            raise InvalidParameter(unknown_name(f"parameter of {name}", parameter, allowed))
    made: DatasetSource = source(**{**info.parameters, **info.pinned, **parameters})
    return made
