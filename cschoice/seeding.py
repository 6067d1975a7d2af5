"""Seeds from names: whoever asks with the same names gets the same stream."""

from __future__ import annotations

import hashlib
import json


def seed_for(root: int, purpose: str, **names: str | int) -> int:
    """Return one integer below 2**32 from a root seed, a purpose and names.

    Leave a name out and everything that differs only in it shares the stream: without the
    learner's name all learners see the same data and splits (the paper's "synchronized random
    streams"). 32 bits, because scikit-learn takes no more.

    >>> seed_for(0, "dataset", dataset="medoid", fold=0)
    2227561195
    >>> seed_for(0, "dataset", fold=0, dataset="medoid")
    2227561195
    """
    identity = json.dumps([root, purpose, sorted(names.items())], separators=(",", ":"))
    return int.from_bytes(hashlib.blake2b(identity.encode(), digest_size=4).digest(), "big")
