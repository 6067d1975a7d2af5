"""The specification that is kept with a dataset: said at import, used by all that estimates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from cschoice.datasets.imported import FOLDER, SPECIFICATION, is_imported
from cschoice.estimates.designs import design
from cschoice.estimates.limits import limits
from cschoice.estimates.samples import sample_of
from cschoice.estimates.specification import Specification
from cschoice.tasks import ChoiceTasks

_WORDS = ("fixed", "bounds", "start")  # of import: they name coefficients


def specification_for(source: str, path: Path | None = None, **words: Any) -> Specification:
    """Return the specification of a file, or that of the dataset; words replace its sections."""
    if path is None and is_imported(source) and (FOLDER / source / SPECIFICATION).exists():
        path = FOLDER / source / SPECIFICATION
    return Specification.read(path, **words) if path else Specification.of(**words)


def text_to_keep(tasks: ChoiceTasks, path: Path | None, **words: Any) -> str:
    """Return the YAML to keep with tasks: a file's sections, some replaced; refuse mistakes."""
    import yaml

    specification = Specification.read(path, **words) if path else Specification.of(**words)
    sections = yaml.safe_load(path.read_text(encoding="utf-8")) if path else {}
    sections = sections | {name: value for name, value in words.items() if value}
    if not sections:
        return ""
    names = design(sample_of(tasks), specification).names
    said = Specification.of(**{name: words.get(name) for name in _WORDS})
    free = np.full(len(names), np.inf)
    limits(said, names, (-free, free), np.zeros(len(names)))
    return str(yaml.safe_dump(sections, sort_keys=False, allow_unicode=True))
