"""A check by its name, and the words in which checks are written."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

# Every limit excludes most of these; NaN is in none of them.
BAD: list[Any] = [
    -3, 0, 1.5, 10**9, "three", "", True, None, math.nan, math.inf, [], [0, 0], [-1], {}, object(),
]  # fmt: skip


@dataclass(frozen=True)
class Check:
    """A promise and the function that fails, with an error, where it is not kept."""

    name: str
    run: Callable[[], None]

    def __call__(self) -> None:
        """Run the check."""
        self.run()


def check_of(function: Callable[..., None], *arguments: Any) -> Check:
    """Return the check of a function with its arguments, named after both."""
    promise = function.__name__.strip("_").replace("_", "-")
    about = "-".join(str(getattr(argument, "value", argument)) for argument in arguments)
    return Check(f"{about}-{promise}", partial(function, *arguments))


@contextmanager
def refused(error: type[Exception], match: str = "") -> Iterator[None]:
    """Expect an error whose message has this pattern."""
    message = None
    try:
        yield
    except error as found:
        message = str(found)
    assert message is not None, f"no {error.__name__} was raised"
    assert re.search(match, message), f"'{message}' does not match '{match}'"
