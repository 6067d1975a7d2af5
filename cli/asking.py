"""The words of ``cschoice whatif``: which model is asked, of which data, what, and how shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cschoice.errors import InvalidParameter

from .documents import check_document, check_free

_PLOTS = (".svg", ".pdf")


def source_of(
    data: str,
    given: Sequence[str],
    utility: Sequence[str] | None,
    spec: Path | None,
    seed: int,
    step: Callable[[str], None],
) -> tuple[Any, Any]:
    """Return the model, and the data that it is asked about; estimate a model that has none."""
    from cschoice.learners import LEARNERS

    (first, *others) = given
    if Path(first).exists() or first not in LEARNERS:
        missing = [folder for folder in given if not Path(folder).exists()]
        if missing:
            raise InvalidParameter(
                f"'{missing[0]}' is neither the folder of a model nor a logit model to estimate"
            )
        if utility or spec:
            raise InvalidParameter("--utility and --spec are of a model to estimate: --model mnl")
        return list(given), data
    if others:
        raise InvalidParameter(f"one model is estimated at a time, got {', '.join(given)}")
    from cschoice.datasets import DATASETS
    from cschoice.estimates.estimation import estimate
    from cschoice.estimates.kept import specification_for

    if data not in DATASETS and not data.endswith(".parquet"):
        raise InvalidParameter(
            f"a model is estimated from a dataset, not from the table '{data}': import it first"
        )
    words = {"utility": ", ".join(utility or [])}
    written = specification_for(data, spec, **words)
    step(f"estimating {first}")
    return estimate(data, first, written, seed=seed), None


def name_of(sections: Mapping[str, Sequence[str]]) -> str:
    """Return the name of the scenario that the options describe: its words."""
    words = [*sections.get("change", [])]
    words += [f"without {name}" for name in sections.get("remove", [])]
    words += [f"with {text.partition(':')[0].strip()}" for text in sections.get("add", [])]
    return "; ".join(words)


def revenues_of(text: str | None, assortment: int | None) -> Mapping[str, float] | str:
    """Read revenues by alternative, or the name of a column."""
    if (text is None) != (assortment is None):
        raise InvalidParameter("--assortment and --revenue need each other")
    if text is None or "=" not in text:
        return text or {}
    found = {}
    for part in text.split(","):
        name, _, value = part.rpartition("=")
        try:
            found[name.strip()] = float(value)
        except ValueError:
            raise InvalidParameter(f"--revenue: write 'bus=1, train=6', got '{part}'") from None
    return found


def check_files(format_: str, out: Path | None, plot: Path | None, force: bool) -> None:
    """Refuse words that would fail only after a long computation."""
    check_document(format_, out, force)
    if plot is not None and plot.suffix not in _PLOTS:
        raise InvalidParameter(f"--plot must end in {' or '.join(_PLOTS)}, got '{plot}'")
    check_free("--plot", plot, force)
