"""Every error a user can cause; each also is the built-in error a caller would expect.

A message says what is wrong, what was got, what is allowed and what to do.
"""

from __future__ import annotations

from collections.abc import Sequence


class CschoiceError(Exception):
    """The root: the command line shows these as one line, anything else is a bug."""


class UnknownName(CschoiceError, KeyError):
    """A name that is in no registry."""

    def __str__(self) -> str:
        # KeyError would show the message in quotes.
        return str(self.args[0])


class InvalidParameter(CschoiceError, ValueError):
    """A parameter that does not exist or has a value that is not allowed."""


class ConfigError(CschoiceError, ValueError):
    """A study that cannot be run; one line per problem."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


class InvalidTasks(CschoiceError, ValueError):
    """Arrays that do not form choice tasks; lists every problem found."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("these are not valid choice tasks: " + "; ".join(problems))
        self.problems = tuple(problems)


class InvalidTable(CschoiceError, ValueError):
    """A table that cannot be turned into choice tasks; one line per problem."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = tuple(problems)


class InvalidUtilities(CschoiceError, ValueError):
    """Utilities or predicted choices that do not fit the tasks."""


class NotFitted(CschoiceError, AttributeError):
    """A learner that is used before it was fitted."""


class TrainingDiverged(CschoiceError, ArithmeticError):
    """A fit whose loss became NaN or infinite."""


class NotEstimable(CschoiceError, ArithmeticError):
    """A model whose estimates do not exist: a coefficient runs to infinity."""


class InvalidFile(CschoiceError, ValueError):
    """A file that is damaged, foreign, or written by a newer version."""


class FileAlreadyExists(CschoiceError, FileExistsError):
    """A file that would be overwritten."""


class FileNotUsable(CschoiceError, OSError):
    """A file or folder that is missing or cannot be read or written."""


class DataUnavailable(CschoiceError, LookupError):
    """A dataset whose source or raw files are not there; jobs on it are skipped."""


class DamagedData(DataUnavailable, ValueError):
    """Raw data that are there but cannot be read; names file, line and problem."""


class ClusterError(CschoiceError, RuntimeError):
    """A scheduler that is not there, does not answer or refuses; in its own words."""


class InvalidPlugin(CschoiceError, ImportError):
    """A learner, dataset or other row of another package that cannot be used."""


class MissingDependency(CschoiceError, ImportError):
    """An optional package that is needed here and not installed."""
