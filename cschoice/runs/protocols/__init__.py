"""The protocols, ways to do a job: one file per protocol, one row per name."""

from __future__ import annotations

from cschoice.registry import Registry

# Each is a ``protocol.Protocol``.
PROTOCOLS: Registry[str] = Registry(
    "protocol",
    {
        "nested": "cschoice.runs.protocols.cross_validation:NestedCrossValidation",
        "generalization": "cschoice.runs.protocols.generalization:Generalization",
        "stream": "cschoice.runs.protocols.stream:Stream",
        "whole": "cschoice.runs.protocols.whole:Whole",
        "convergence": "cschoice.runs.protocols.convergence:Convergence",
    },
)
