"""The things that people give where tasks are wanted: tasks, tables, arrays."""

from __future__ import annotations

from os import PathLike

from cschoice.errors import InvalidTasks
from cschoice.tasks.container import ChoiceTasks


def is_table(given: object) -> bool:
    """Return whether this is a data frame or the path of a file."""
    return isinstance(given, str | PathLike) or hasattr(given, "columns")


def check_tasks(given: object) -> ChoiceTasks:
    """Return choice tasks as they are; of a table or an array, tell how to make them of it."""
    if isinstance(given, ChoiceTasks):
        return given
    if is_table(given):
        way = "ChoiceTasks.from_frame(table, task='…', chosen='…', features='…')"
    else:
        way = "ChoiceTasks.from_dense(x, chosen, kind), with x of (tasks, objects, features)"
    raise InvalidTasks([f"got {type(given).__name__}, make tasks of it by {way}"])
