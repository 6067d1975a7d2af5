"""How a job is done: one file per protocol, one row per name."""

from __future__ import annotations

from cschoice.registry import Registry

PROTOCOLS: Registry[str] = Registry("protocol", {"nested": "cschoice.protocols.nested:run"})
