"""How a job is done: one file per protocol, one row per name."""

from __future__ import annotations

from cschoice.registry import Registry

# Each is a ``base.Protocol``.
PROTOCOLS: Registry[str] = Registry(
    "protocol",
    {
        "nested": "cschoice.runs.protocols.cross_validation:Nested",
        "generalization": "cschoice.runs.protocols.generalization:Generalization",
        "stream": "cschoice.runs.protocols.stream:Stream",
        "convergence": "cschoice.runs.protocols.convergence:Convergence",
    },
)
