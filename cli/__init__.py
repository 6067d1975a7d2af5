"""The command line of cschoice, installed as ``cschoice_cli``."""

from __future__ import annotations

import sys


def start() -> None:
    """Run the command line; Ctrl-C while it is loading gets no traceback either."""
    try:
        from .main import app
    except KeyboardInterrupt:
        sys.stderr.write("error: interrupted\n")
        sys.exit(130)
    app()
