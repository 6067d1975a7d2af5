"""The whole campaign: ``python -m tests.faults [TRIES [SEED [KIND]]]``."""

import sys
import tempfile
from pathlib import Path

from .campaign import carry_out

if __name__ == "__main__":
    given = dict(enumerate(sys.argv[1:]))
    n_tries, seed = int(given.get(0, 3_000)), int(given.get(1, 0))
    with tempfile.TemporaryDirectory() as place:
        done = carry_out(Path(place), n_tries, seed, given.get(2, ""))
    sys.stdout.write("\n\n".join([*done.problems, done.report(), ""]))
    sys.exit(bool(done.problems))
