"""YAML as plain values: texts, finite numbers, lists and tables, within bounds.

What else YAML knows (dates, sets, bytes, objects) is part of no document here. Aliases are
allowed as long as the document stays small when they are written out.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml

from cschoice.errors import ConfigError, FileNotUsable
from cschoice.io.files import read_regular

_MOST_BYTES = 1_000_000
_MOST_NODES = 100_000  # with aliases written out
_DEEPEST = 40
_LONGEST_NUMBER = 30  # characters
_TAGS = {f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null", "seq")}
_TABLE = "tag:yaml.org,2002:map"
_MERGE = "tag:yaml.org,2002:merge"


def read_yaml(path: Path) -> Any:
    """Return the content of a YAML file; the error says in which line something is wrong."""
    try:
        text = read_regular(path, _MOST_BYTES).decode("utf-8")
        loader = _Loader(text)
        try:
            return loader.get_single_data()
        finally:
            loader.dispose()
    except OSError as error:
        raise FileNotUsable(f"cannot read {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ConfigError([f"{path}: not UTF-8 text: {error}"]) from error
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise ConfigError([f"{path}{line}: not as YAML is read here: {error.problem}"]) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ConfigError([f"{path}: not YAML: {' '.join(str(error).split())}"]) from error


class _Loader(yaml.SafeLoader):
    """A loader of plain values that refuses other objects before they are built."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._depth = 0
        self._sizes: dict[int, int] = {}  # nodes below a node, by its identity

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        self._depth += 1
        if self._depth > _DEEPEST:
            event = self.peek_event()  # type: ignore[no-untyped-call]
            raise _problem(event, f"nested more than {_DEEPEST} deep")
        node: yaml.Node | None = super().compose_node(parent, index)
        self._depth -= 1
        return node

    def get_single_node(self) -> yaml.Node | None:
        node: yaml.Node | None = super().get_single_node()
        if node is not None and self._size(node) > _MOST_NODES:
            raise _problem(node, f"more than {_MOST_NODES:,} values, aliases written out")
        return node

    def _size(self, node: yaml.Node) -> int:
        """Count the values in a node, and check each once."""
        if id(node) in self._sizes:
            if self._sizes[id(node)] == 0:
                raise _problem(node, "an alias that contains itself")
            return self._sizes[id(node)]
        self._sizes[id(node)] = 0  # on the way
        if node.tag not in (*_TAGS, _TABLE, _MERGE):
            kind = node.tag.rpartition(":")[2]
            raise _problem(node, f"a value of type '{kind}' is not allowed: put a text in quotes")
        parts: list[yaml.Node] = []
        if isinstance(node, yaml.SequenceNode):
            parts = node.value
        elif isinstance(node, yaml.MappingNode):
            parts = [part for pair in node.value for part in pair]
            _check_keys(node)
        elif node.tag.endswith((":int", ":float")) and len(node.value) > _LONGEST_NUMBER:
            raise _problem(node, f"a number of more than {_LONGEST_NUMBER} characters")
        self._sizes[id(node)] = 1 + sum(self._size(part) for part in parts)
        return self._sizes[id(node)]

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Hashable:
        value: Hashable = super().construct_object(node, deep)
        if isinstance(value, float) and not math.isfinite(value):
            raise _problem(node, f"numbers are finite, got {node.value}")
        return value


def _check_keys(node: yaml.MappingNode) -> None:
    """Refuse keys that are no texts, and one that is given twice."""
    seen: set[str] = set()
    for key, _ in node.value:
        if key.tag == _MERGE:
            continue
        if not isinstance(key, yaml.ScalarNode):
            raise _problem(key, "a key must be a text")
        if key.value in seen:
            raise _problem(key, f"the key '{key.value}' is given twice")
        seen.add(key.value)


def _problem(at: Any, text: str) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=text, problem_mark=at.start_mark)
