"""Choice tasks: sets of objects of any size, with the choice made from each."""

from cschoice.tasks.container import ChoiceTasks
from cschoice.tasks.kind import Kind

__all__ = ["ChoiceTasks", "Kind"]
