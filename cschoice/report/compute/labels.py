"""Labels and order of datasets, learners and measures: the paper's first, then others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cschoice.datasets import DATASETS
from cschoice.evaluation.metrics import METRICS
from cschoice.learners import LEARNERS
from cschoice.report.compute import paper
from cschoice.tasks import Kind

PARAMETERS = {
    "n_set_units": "Set units",
    "n_reference_units": "Set units",  # SDA's: reference and weight take the places of set
    "n_set_layers": "Set layers",  # and joint in the paper's table
    "n_reference_layers": "Set layers",
    "n_units": "Joint units",
    "n_weight_units": "Joint units",
    "n_layers": "Joint layers",
    "n_weight_layers": "Joint layers",
    "l2": "Regularizer strength",
    "learning_rate": "Learning rate",
    "batch_size": "Batch size",
    "epochs_drop": "Epochs drop",
    "drop": "Drop",
    "tol": "tol",
    "C": "C",
}


def dataset_label(name: str) -> str:
    """Return the paper's name of a dataset; an imported one keeps its own name."""
    info = DATASETS.written.get(name)
    return info.label if info else name


def learner_label(name: str, kind: Kind | None = None) -> str:
    """Return the paper's name of a learner for a kind of choice; variants have their own.

    >>> learner_label("mnl", Kind.SINGLETON), learner_label("mnl", Kind.SUBSET)
    ('MNL', 'GenLinearModel')
    """
    printed = paper.learner_labels().get((kind, name)) if kind else None
    info = LEARNERS.written.get(name)
    return printed or (info.label if info else name)


def is_the_papers(learner: str) -> bool:
    """Tell whether a learner is one of the paper's; a study's own variants are not."""
    info = LEARNERS.written.get(learner)
    return info is not None and info.in_paper


def extent(low: float, high: float) -> str:
    """Write a range in brackets.

    >>> extent(1e-10, 0.1), extent(4, 1024)
    ('[1e-10, 0.1]', '[4, 1024]')
    """
    texts = (f"{end:.0f}" if float(end).is_integer() else f"{end:.3g}" for end in (low, high))
    return f"[{', '.join(texts)}]"


def metric_label(name: str, direction: bool = False) -> str:
    """Return the label of a measure; one that is of no metric here keeps its own name.

    >>> metric_label("log-loss"), metric_label("log-loss", direction=True)
    ('Log-loss', 'Log-loss ↓')
    """
    if name not in METRICS:
        return name
    found = METRICS[name]
    return f"{found.label} ↓" if direction and not found.higher_is_better else found.label


def datasets_in_order(names: Iterable[str]) -> list[str]:
    """Sort datasets as the paper's tables do; others follow, by registry and by name."""
    return _in_order(names, [*paper.DATASETS_IN_ORDER, *DATASETS.written])


def learners_in_order(names: Iterable[str]) -> list[str]:
    """Sort learners as the paper's tables do; variants follow by name."""
    return _in_order(names, list(LEARNERS.written))


def metrics_in_order(names: Iterable[str]) -> list[str]:
    """Sort measures as their columns are: by METRICS; others follow by name."""
    return _in_order(names, list(METRICS))


def _in_order(names: Iterable[str], known: Sequence[str]) -> list[str]:
    places = {name: place for place, name in reversed(list(enumerate(known)))}
    return sorted(set(names), key=lambda name: (places.get(name, len(known)), name))
