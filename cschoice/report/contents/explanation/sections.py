"""The sections of an explanation in order, the same in every format."""

from __future__ import annotations

from collections.abc import Iterator

from cschoice.explanations.explanation import Explanation
from cschoice.report.contents.explanation import triples
from cschoice.report.contents.explanation.decisions import decisions_section
from cschoice.report.contents.explanation.features import features_section
from cschoice.report.contents.explanation.gain import gain_section, verdict
from cschoice.report.contents.explanation.influences import (
    relations_section,
    structure_section,
    who_section,
)
from cschoice.report.contents.explanation.limits import counts, limits_section
from cschoice.report.contents.outline import Section


def title(explanation: Explanation) -> str:
    """Return the heading of a document."""
    return f"{explanation.about.model} on {explanation.about.dataset}, explained"


def sections(explanation: Explanation) -> list[Section]:
    """Return the sections, first a summary in a few sentences."""
    found = [
        gain_section(explanation),
        who_section(explanation),
        relations_section(explanation),
        triples.triples_section(explanation),
        decisions_section(explanation),
        features_section(explanation),
        structure_section(explanation),
        limits_section(explanation),
    ]
    summary = Section("summary", "In short", tuple(_summary(explanation, found)))
    return [summary, *(section for section in found if section is not None)]


def _summary(explanation: Explanation, found: list[Section | None]) -> Iterator[str]:
    yield counts(explanation)
    if explanation.gain is not None:
        yield verdict(explanation.gain)
    for section in found:
        if section is not None and section.name in ("who", "relations"):
            yield section.text[-1]
    for one in explanation.triples:
        if one.main is not None:
            yield triples.verdict(one, explanation.about.unit)
