"""The sources of learners and datasets that other packages bring, as part of a job."""

from __future__ import annotations

from collections.abc import Mapping

from cschoice.datasets import DATASETS
from cschoice.errors import InvalidPlugin
from cschoice.learners import LEARNERS
from cschoice.origins import origin


def source_of(noun: str, name: str) -> dict[str, str]:
    """Return place, version and hash of a dataset or learner under its noun; empty for ours."""
    place = (DATASETS if noun == "dataset" else LEARNERS).foreign(name)
    return {noun: str(origin(place))} if place else {}


def check_sources(planned: Mapping[str, str], dataset: str, learner: str) -> None:
    """Refuse to do a job with other source than it was planned with."""
    found = source_of("dataset", dataset) | source_of("learner", learner)
    for noun in sorted(planned.keys() | found.keys()):
        if planned.get(noun) != found.get(noun):
            raise InvalidPlugin(
                f"the source of this {noun} changed after the job was planned: run again "
                f"(planned: {planned.get(noun)}; here: {found.get(noun)})"
            )
