"""Ways in which files go wrong: by a disk, a copy, an editor, or on purpose."""

import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

Change = Callable[[bytes, random.Random], bytes]


def flip_bit(content: bytes, rng: random.Random) -> bytes:
    place = rng.randrange(8 * len(content))
    changed = bytearray(content)
    changed[place // 8] ^= 1 << place % 8
    return bytes(changed)


def other_byte(content: bytes, rng: random.Random) -> bytes:
    place = rng.randrange(len(content))
    return content[:place] + bytes([rng.randrange(256)]) + content[place + 1 :]


def other_digit(content: bytes, rng: random.Random) -> bytes:
    """Change a digit: what stays readable is the hardest to notice."""
    places = [place for place, byte in enumerate(content) if 48 <= byte <= 57]
    if not places:
        return flip_bit(content, rng)
    place = rng.choice(places)
    digit = 48 + (content[place] - 48 + rng.randint(1, 9)) % 10
    return content[:place] + bytes([digit]) + content[place + 1 :]


def cut_short(content: bytes, rng: random.Random) -> bytes:
    return content[: rng.randrange(len(content))]


def hole(content: bytes, rng: random.Random) -> bytes:
    """Zeros, as after a crash of the system."""
    start = rng.randrange(len(content))
    length = min(rng.choice([1, 16, 512, 4_096]), len(content) - start)
    return content[:start] + bytes(length) + content[start + length :]


def left_out(content: bytes, rng: random.Random) -> bytes:
    start = rng.randrange(len(content))
    return content[:start] + content[start + rng.randint(1, 64) :]


def doubled(content: bytes, rng: random.Random) -> bytes:
    start = rng.randrange(len(content))
    part = content[start : start + rng.randint(1, 64)]
    return content[:start] + part + content[start:]


def inserted(content: bytes, rng: random.Random) -> bytes:
    place = rng.randrange(len(content) + 1)
    return content[:place] + rng.randbytes(rng.randint(1, 16)) + content[place:]


def appended(content: bytes, rng: random.Random) -> bytes:
    return content + rng.choice([b"\0" * 100, b"garbage", b"{}\n", content])


def without_a_line(content: bytes, rng: random.Random) -> bytes:
    lines = content.splitlines(keepends=True)
    del lines[rng.randrange(len(lines))]
    return b"".join(lines)


def swapped_lines(content: bytes, rng: random.Random) -> bytes:
    lines = content.splitlines(keepends=True)
    one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return b"".join(lines)


def empty(content: bytes, rng: random.Random) -> bytes:  # noqa: ARG001
    return b""


CHANGES: list[Change] = [
    flip_bit, flip_bit, other_byte, other_digit, other_digit, cut_short, hole, left_out, doubled,
    inserted, appended, without_a_line, swapped_lines, empty,
]  # fmt: skip


def mutate(path: Path, rng: random.Random, changes: list[Change] = CHANGES) -> str:
    """Damage a file in some way; return how."""
    special = rng.random()
    if special < 0.01:
        path.unlink()
        return "removed"
    if special < 0.02:
        path.unlink()
        path.mkdir()
        return "a folder"
    if special < 0.03:
        path.unlink()
        os.mkfifo(path)
        return "a pipe"
    if special < 0.04:
        path.unlink()
        path.symlink_to(rng.choice(["/dev/zero", "nowhere", path.name]))
        return "a link elsewhere"
    change = rng.choice(changes)
    path.write_bytes(change(path.read_bytes(), rng) if path.stat().st_size else b"x")
    return change.__name__


_VALUES = [
    None, True, -1, 0, 3, 10**9, 10**30, 1e308, -0.5, "", "x", "../../x", "\x1b[2J", "=1+1", [], {},
    [[]], [0] * 50, ["a", "b"], {"a": 1}, "a" * 10_000, [[[[[]]]]],
]  # fmt: skip


def other_value(path: Path, rng: random.Random) -> str:
    """Put another value somewhere into a document, and take its checksums away, as if they fit."""
    content = json.loads(path.read_text())
    for key in ("digest", "files"):
        content.pop(key, None)
    places = list(_places(content))
    parent, key = rng.choice(places)
    action = rng.random()
    if action < 0.1:
        del parent[key]
    elif action < 0.2 and isinstance(parent, dict):
        parent[rng.choice(["x", "", "a.b", "version"])] = rng.choice(_VALUES)
    else:
        parent[key] = rng.choice(_VALUES)
    path.write_text(json.dumps(content))
    return f"another value of {key}"


def _places(content):
    items = content.items() if isinstance(content, dict) else enumerate(content)
    for key, value in list(items):
        yield content, key
        if isinstance(value, dict | list):
            yield from _places(value)


def clear(path: Path) -> None:
    """Remove whatever there is."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
