"""Formulas over named values: terms of a utility, conditions on tasks, hypotheses."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import UnionType
from typing import Any

import numpy as np

from cschoice.errors import InvalidParameter
from cschoice.registry import unknown_name

_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: np.logical_not,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.And: np.logical_and,
    ast.Or: np.logical_or,
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "log": np.log,
    "exp": np.exp,
    "sqrt": np.sqrt,
    "abs": np.abs,
    "min": np.minimum,
    "max": np.maximum,
}


@dataclass(frozen=True)
class Expression:
    """A formula such as ``cost * (1 - GA) / 100``; names may contain any character.

    >>> Expression.parse("log(cost) + 2 * age of head", ["cost", "age of head"]).value(
    ...     {"cost": 1.0, "age of head": 3.0})
    np.float64(6.0)
    """

    text: str
    tree: ast.expr
    names: tuple[str, ...]  # the names it uses

    @classmethod
    def parse(cls, text: str, known: Sequence[str], *, texts: bool = False) -> Expression:
        """Read a formula; refuse names that are not known and anything but arithmetic.

        With ``texts``, values may be texts, too: ``region == 'north'``.
        """
        hidden, found = hide_names(text, known)
        try:
            tree = ast.parse(hidden.strip(), mode="eval").body
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            raise InvalidParameter(f"'{text}' is not a formula") from None
        used = []
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node.id in found:
                used.append(found[node.id])
        _check(tree, text, found, known, int | float | str if texts else int | float)
        return cls(text.strip(), _restored(tree, found), tuple(dict.fromkeys(used)))

    def value(self, values: Mapping[str, Any]) -> Any:
        """Return the value of the formula, given those of its names."""
        return _value(self.tree, values)


def hide_names(text: str, known: Sequence[str]) -> tuple[str, dict[str, str]]:
    """Replace known names by words that Python can read; return the text and their meaning.

    >>> hide_names("time = constant=car", ["time", "constant=car"])
    ('_0_ = _1_', {'_0_': 'time', '_1_': 'constant=car'})
    """
    found: dict[str, str] = {}
    if not known:
        return text, found
    longest_first = sorted(set(known), key=len, reverse=True)
    pattern = "|".join(re.escape(name) for name in longest_first)

    def word(match: re.Match[str]) -> str:
        for hidden, name in found.items():
            if name == match[0]:
                return hidden
        found[f"_{len(found)}_"] = match[0]
        return f"_{len(found) - 1}_"

    return re.sub(rf"(?<![\w.])(?:{pattern})(?!\w)", word, text), found


def _check(
    tree: ast.expr,
    text: str,
    found: Mapping[str, str],
    known: Sequence[str],
    constants: type | UnionType,
) -> None:
    """Refuse names that are not known and anything but arithmetic."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            if node.id not in found and node.id not in _FUNCTIONS:
                raise InvalidParameter(f"'{text}': " + unknown_name("name", node.id, known))
        elif isinstance(node, ast.Constant):
            if isinstance(node.value, bool) or not isinstance(node.value, constants):
                raise InvalidParameter(f"'{text}': {node.value!r} is not a number")
        elif isinstance(node, ast.Call):
            named = isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS
            if not named or node.keywords:
                raise InvalidParameter(f"'{text}': functions are {', '.join(_FUNCTIONS)}")
        elif isinstance(node, ast.Attribute):
            name = ast.unparse(node)
            for hidden, meant in found.items():
                name = name.replace(hidden, meant)
            raise InvalidParameter(f"'{text}': " + unknown_name("name", name, known))
        elif type(node) not in _ALLOWED:
            raise InvalidParameter(f"'{text}' is not a formula of numbers and names")


_ALLOWED = {
    *_OPERATORS, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.Load, ast.In, ast.NotIn,
    ast.Tuple, ast.List,
}  # fmt: skip


def _restored(tree: ast.expr, found: Mapping[str, str]) -> ast.expr:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in found:
            node.id = found[node.id]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            for hidden, name in found.items():  # in a text they are no names
                node.value = node.value.replace(hidden, name)
    return tree


def _value(node: ast.expr, values: Mapping[str, Any]) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return values[node.id]
    if isinstance(node, ast.UnaryOp):
        return _OPERATORS[type(node.op)](_value(node.operand, values))
    if isinstance(node, ast.BinOp):
        left, right = _value(node.left, values), _value(node.right, values)
        return _OPERATORS[type(node.op)](left, right)
    if isinstance(node, ast.BoolOp):
        parts = [_value(part, values) for part in node.values]
        result = parts[0]
        for part in parts[1:]:
            result = _OPERATORS[type(node.op)](result, part)
        return result
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return _FUNCTIONS[node.func.id](*(_value(part, values) for part in node.args))
    if isinstance(node, ast.Compare):
        return _compared(node, values)
    assert isinstance(node, ast.Tuple | ast.List)
    return [_value(part, values) for part in node.elts]


def _compared(node: ast.Compare, values: Mapping[str, Any]) -> Any:
    """Return the truth of a chain of comparisons, such as ``1 <= age < 3``."""
    result: Any = True
    left = _value(node.left, values)
    for sign, part in zip(node.ops, node.comparators, strict=True):
        right = _value(part, values)
        if isinstance(sign, ast.In | ast.NotIn):
            truth = np.isin(left, right, invert=isinstance(sign, ast.NotIn))
        else:
            truth = _OPERATORS[type(sign)](left, right)
        result, left = np.logical_and(result, truth), right
    return result
