"""The origin of code that is not ours: its place, its package and a hash of its source.

The hash is of the module and of all modules of the same package that it imports, directly or
not: a change there may change results, a change elsewhere in the package does not.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import packages_distributions, version
from pathlib import Path

from cschoice.errors import InvalidPlugin
from cschoice.registry import load_foreign


@dataclass(frozen=True)
class Origin:
    """A place, ``module:name``, with the package that it is in and the hash of its source."""

    target: str
    package: str  # name and version; empty for a module that is in no installed package
    source: str

    def __str__(self) -> str:
        return ", ".join(part for part in (self.target, self.package, self.source) if part)


def origin(target: str) -> Origin:
    """Return the origin of an object, whose module is imported."""
    load_foreign(target)
    module = target.partition(":")[0]
    return Origin(target, _package(module.partition(".")[0]), _hash(module))


@cache
def _package(top: str) -> str:
    """Return name and version of the package that has this top-level module."""
    names = packages_distributions().get(top, ())
    return ", ".join(f"{name} {version(name)}" for name in dict.fromkeys(names))


def _hash(module: str) -> str:
    digest = hashlib.blake2b(digest_size=8)
    files = _modules(module)
    if not files:
        raise InvalidPlugin(f"module '{module}' has no file: its source cannot be recorded")
    for name in sorted(files):
        digest.update(f"{name}\0".encode() + files[name].read_bytes())
    return digest.hexdigest()


def _modules(module: str) -> dict[str, Path]:
    """Return the files of a module and of all that it imports from its own package, by name."""
    found: dict[str, Path] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        path = _file(name)
        if name not in found and path is not None:
            found[name] = path
            top = module.partition(".")[0]
            waiting += [one for one in _imports(name, path) if one.partition(".")[0] == top]
    return found


def _file(module: str) -> Path | None:
    """Return the file of a module; None if there is no such module, or no file of it."""
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError, AttributeError):  # no module; one without a spec
        return None
    return Path(spec.origin) if spec and spec.origin and spec.has_location else None


def _imports(module: str, path: Path) -> Iterator[str]:
    """Yield the names of modules that a module imports, wherever in its text."""
    if path.suffix != ".py":
        return
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            base = importlib.util.resolve_name(base, package) if node.level else base
            for alias in node.names:
                inside = f"{base}.{alias.name}"
                yield inside if _file(inside) else base
