"""The partner of a learner: its architecture without context, or with it, to measure the gain."""

from __future__ import annotations

from dataclasses import dataclass

from cschoice.learners import LEARNERS, make_learner, name_of
from cschoice.learners.ensemble import MeanEnsemble
from cschoice.learners.learner import Learner
from cschoice.tasks import Kind

_NETWORK, _LINEAR = "pointwise-net", "mnl"
# Learners with context, and the same without it.
WITHOUT = {
    "feta": _NETWORK,
    "feta3": _NETWORK,
    "fate": _NETWORK,
    "deep-sets": _NETWORK,
    "sda": _NETWORK,
    "lcl": _LINEAR,
    "cdm": _LINEAR,
    "feta-linear": _LINEAR,
    "fate-linear": _LINEAR,
    "nl": _LINEAR,
    "gnl": _LINEAR,
}
# Learners that see each object alone, and the same with context.
WITH = {"pointwise-net": "feta", "ranknet": "feta", "mnl": "lcl"}


@dataclass(frozen=True)
class Pair:
    """Two learners that differ in whether they see the other objects."""

    without: Learner
    with_: Learner


def pair_of(learner: Learner, kind: Kind) -> Pair | None:
    """Return the learner beside its partner, unfitted; None where none is known."""
    name = learner.learner if isinstance(learner, MeanEnsemble) else name_of(learner)
    for partners, has_context in ((WITHOUT, True), (WITH, False)):
        partner = partners.get(name)
        if partner and partner in LEARNERS and kind in LEARNERS[partner].kinds:
            other = _alike(learner, partner)
            return Pair(other, learner) if has_context else Pair(learner, other)
    return None


def sees_context(learner: Learner) -> bool:
    """Tell whether a learner looks at the other objects, as far as its name says."""
    name = learner.learner if isinstance(learner, MeanEnsemble) else name_of(learner)
    return name not in WITH


def _alike(learner: Learner, partner: str) -> Learner:
    """Return the partner with the sizes of the learner and its settings other than defaults."""
    if isinstance(learner, MeanEnsemble):
        inner = make_learner(learner.learner, **learner.parameters)
        other = _alike(inner, partner)
        return MeanEnsemble(partner, other.get_params(deep=False), learner.n_members)
    own = learner.get_params(deep=False)
    defaults = type(learner)().get_params(deep=False)
    known = LEARNERS[partner].parameters
    kept = {
        name: value
        for name, value in own.items()
        if name in known and (value != defaults[name] or name in ("n_layers", "n_units"))
    }
    return make_learner(partner, **kept)
