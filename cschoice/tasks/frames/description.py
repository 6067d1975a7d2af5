"""The meaning of the columns of a table, as the user gives it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from cschoice.errors import InvalidTable
from cschoice.registry import nearest
from cschoice.tasks.kind import Kind

HOLE = "{}"  # stands for the alternative's name in a column of a wide table
FILLED = "filled"  # as ``available``: an alternative is on offer where its features are filled in
CONSTANTS = "constants"  # in ``cross``: the constants of the alternatives
SVMLIGHT = "svmlight"


@dataclass(frozen=True)
class Description:
    """The meaning of columns; a table with ``alternatives`` is wide, one row per task.

    In a wide table columns are patterns: ``{}_COST`` is TRAIN_COST for the alternative TRAIN, and
    ``{}_COST|0`` is 0 for alternatives that have no such column.
    """

    features: Mapping[str, str]  # name -> column
    chosen: str
    task: tuple[str, ...] = ()
    object: str | None = None
    alternatives: Mapping[str, str] | None = None  # name -> its code in ``chosen``
    available: str | None = None
    group: str | None = None
    context: tuple[str, ...] = ()  # of the chooser, appended to the features of each object
    # Of the chooser, multiplied with the features of each object: "income" with all of them,
    # "income:cost" with one, "income:constants" with the constants.
    cross: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    constants: bool = False
    reference: str | None = None  # the alternative without a constant; None: the first
    specific: tuple[str, ...] = ()  # features with a coefficient for each alternative
    kind: Kind = Kind.SINGLETON
    weight: str | None = None  # how much a task counts
    chosen_at_least: float | None = None  # the grade in ``chosen`` from which on it means yes
    fold: str | None = None  # in which a task is tested
    keep: str | None = None  # "first" or "last": that row only of those alike in ``by``
    by: tuple[str, ...] = ()
    format: str | None = None  # SVMLIGHT, or None: CSV or Parquet, as the file begins

    @property
    def crossings(self) -> list[tuple[str, str | None]]:
        """Return the columns of ``cross`` and the feature that each is multiplied with."""
        pairs = [part.rpartition(":") for part in self.cross]
        return [(column, target) if colon else (target, None) for column, colon, target in pairs]

    @property
    def answers(self) -> list[str]:
        """Return the columns of the choice."""
        return self.of_alternatives(self.chosen)

    @property
    def of_chooser(self) -> tuple[str, ...]:
        """Return the columns that are the same for all objects of a task."""
        return tuple(dict.fromkeys([*self.context, *(column for column, _ in self.crossings)]))

    @property
    def feature_columns(self) -> frozenset[str]:
        """Return the columns of features, objects' and choosers'."""
        columns = [c for pattern in self.features.values() for c in self.of_alternatives(pattern)]
        return frozenset([*columns, *self.of_chooser])

    @property
    def measured(self) -> frozenset[str]:
        """Return the columns that are features and nothing else, unless they are categories."""
        codes = [
            column
            for name in self.categorical
            for column in self.of_alternatives(self.features.get(name, name))
        ]
        return self.feature_columns - self.with_a_role - set(codes)

    @property
    def with_a_role(self) -> frozenset[str]:
        """Return the columns that are more than features: of tasks, objects and choices."""
        named = [*self.task, *self.by, self.object, self.group, self.weight, self.fold]
        patterns = [p for p in (self.chosen, self.available) if p]
        columns = [column for pattern in patterns for column in self.of_alternatives(pattern)]
        return frozenset([*columns, *(name for name in named if name)])

    def among(self, known: Sequence[str]) -> Description:
        """Return the description of a table that may lack columns which only learning needs."""
        return replace(
            self,
            group=self.group if self.group in known else None,
            weight=self.weight if self.weight in known else None,
            fold=self.fold if self.fold in known else None,
        )

    def columns(self, known: Sequence[str], learning: bool = True) -> list[str]:
        """Return the columns to read from a table with the ``known`` ones; refuse missing ones."""
        needed: dict[str, None] = {}
        problems = []
        for option, column, optional in self._needed(learning):
            if column in known:
                needed[column] = None
            elif not optional:
                problems.append(_missing(option, column, known, self.alternatives is not None))
        if problems:  # the list of columns may be long: once is enough
            problems[-1] += f"Known: {', '.join(known)}"
        elif self.alternatives is not None:
            problems += self._columns_of_nobody(known)
        problems += self._answers_among_features()
        if problems:
            raise InvalidTable(list(dict.fromkeys(problems)))
        return list(needed)

    def _needed(self, learning: bool) -> Iterator[tuple[str, str, bool]]:
        """Yield the option, the column, and whether a table may lack it."""
        plain = [("task", name) for name in self.task] + [("by", name) for name in self.by]
        plain += [("context or cross", name) for name in self.of_chooser]
        if self.object:
            plain.append(("object", self.object))
        if learning:
            of_task = (("group", self.group), ("weight", self.weight), ("fold", self.fold))
            plain += [(option, name) for option, name in of_task if name]
        yield from ((option, name, False) for option, name in plain)
        patterns = [("features", pattern) for pattern in self.features.values()]
        if self.available and self.available != FILLED:
            patterns.append(("available", self.available))
        if learning:
            patterns.append(("chosen", self.chosen))
        for option, pattern in patterns:
            for column in self.of_alternatives(pattern):
                yield option, column, self.default(pattern) is not None

    def of_alternatives(self, pattern: str) -> list[str]:
        """Return the column of each alternative; in a long table the one column."""
        if self.alternatives is None:
            return [pattern]
        column = pattern if self.default(pattern) is None else pattern.rpartition("|")[0]
        if HOLE not in column:
            return [column]
        return [column.replace(HOLE, name) for name in self.alternatives]

    def default(self, pattern: str) -> float | None:
        """Return the value of an alternative that does not have the column, if one is given."""
        _, bar, value = pattern.rpartition("|")
        if self.alternatives is None or not bar:
            return None
        try:
            return float(value)
        except ValueError:
            return None

    def _columns_of_nobody(self, known: Sequence[str]) -> Iterator[str]:
        """Find patterns whose default hides that no alternative has such a column."""
        for name, pattern in self.features.items():
            if not set(self.of_alternatives(pattern)) & set(known):
                yield f"no alternative has a column '{pattern}' (feature {name})"

    def _answers_among_features(self) -> Iterator[str]:
        """Find features that would tell a model the choice."""
        for column in self.answers:
            if column in self.feature_columns:
                yield f"column '{column}' says what was chosen: it cannot be a feature"


def _missing(option: str, column: str, known: Sequence[str], wide: bool) -> str:
    text = f"unknown column '{column}' ({option}): {nearest(column, known)}"
    hint = "(an alternative without it: write the pattern as '{}_NAME|0') "
    return text + (hint if wide and option in ("features", "available") else "")
