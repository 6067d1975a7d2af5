"""How a job is done: one file per protocol, one row per name."""

from __future__ import annotations

from cschoice.registry import Registry

# Each is a ``base.Protocol``.
PROTOCOLS: Registry[str] = Registry(
    "protocol",
    {
        "nested": "cschoice.protocols.nested:Nested",
        "generalization": "cschoice.protocols.generalization:Generalization",
        "stream": "cschoice.protocols.stream:Stream",
        "convergence": "cschoice.protocols.convergence:Convergence",
    },
)
