"""Other tasks in the form that a model was estimated on."""

from __future__ import annotations

from cschoice.estimates.designs import design_of
from cschoice.estimates.estimates import Estimates
from cschoice.estimates.samples import sample_of
from cschoice.estimates.structures import structure_of
from cschoice.tasks import ChoiceTasks


def as_seen(estimates: Estimates, tasks: ChoiceTasks) -> ChoiceTasks:
    """Return tasks with the terms of the utility as their features."""
    made = design_of(sample_of(tasks), estimates.specification, estimates.terms)
    return structure_of(estimates.model, made, estimates.specification).tasks
