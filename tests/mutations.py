"""Files as they are after somebody edited them, a merge went wrong, or a disk lost something: seeded mutations."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

JUNK: tuple[Any, ...] = (
    float("nan"), float("inf"), 1e999, -1, 0, 10**400, 10**18, 2.5, True, None, "x", "", "\ud800", [], [1], [None], {},
    {"a": 1}, {"": []}, "[1, NaN]", "{}", "[]", '"x"', "[[]]", "null", [[[[[]]]]], [{}], ["a", 1], [1, "a"],
)  # fmt: skip
"""Values that nothing of ours writes at most places."""


def tries(usual: int, all_in_all: int) -> pytest.MarkDecorator:
    """Run a test with the number of mutations of every run and, marked slow, with that of the long one."""
    return pytest.mark.parametrize("tries", [usual, pytest.param(all_in_all, marks=pytest.mark.slow)])


def places(node: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every container with every key of it."""
    for key in node if isinstance(node, dict) else range(len(node)):
        yield node, key
        if isinstance(node[key], (dict, list)):
            yield from places(node[key])


def mutated(text: str, pick: Random) -> str:
    """Return JSON with one value exchanged, removed or doubled, or one key renamed."""
    raw = [json.loads(text)]
    node, key = pick.choice(list(places(raw)))
    kind = pick.random()
    if kind < 0.2 and node is not raw:
        del node[key]
    elif kind < 0.3 and isinstance(node, dict):
        node[f"{key}x"] = node.pop(key)
    elif kind < 0.4 and isinstance(node, list) and node is not raw:
        node.insert(key, node[key])
    else:
        node[key] = pick.choice(JUNK)
    return json.dumps(raw[0])


def damaged(raw: bytes, pick: Random) -> bytes:
    """Return *raw* with a few bytes exchanged, or cut."""
    made = bytearray(raw)
    for _ in range(pick.randrange(1, 4)):
        if made:
            made[pick.randrange(len(made))] = pick.randrange(256)
    return bytes(made[: pick.randrange(len(made) + 1)] if pick.random() < 0.2 else made)


def edited(text: str, pick: Random) -> str:
    """Return a text with a few characters or lines exchanged, removed or doubled, as a slip of the hand does."""
    for _ in range(pick.randrange(1, 4)):
        lines = text.split("\n")
        at = pick.randrange(len(lines))
        match pick.randrange(5):
            case 0:
                del lines[at]
            case 1:
                lines.insert(at, pick.choice(lines))
            case 2:
                lines[at] = pick.choice(("  ", "\t", "- ", "  - ", "")) + lines[at].lstrip()
            case _:
                line = lines[at]
                place = pick.randrange(len(line) + 1)
                lines[at] = line[:place] + pick.choice(SLIPS) + line[place + pick.randrange(3) :]
        text = "\n".join(lines)
    return text


SLIPS = (
    ":", ": ", "- ", "#", "'", '"', "[", "]", "{", "}", ",", "&a ", "*a", "!!int ", "|", ">", "?", "@", "%", "`", "\t",
    "\x00", "\u2028", "\ud7ff", "~", "null", "yes", "1:30", "190:20:30", "1e999", ".nan", ".inf", "-.inf", "0x1f",
    "1_0", "0o17", "2024-13-45", "9" * 5000, "x" * 1100, "[" * 200, "<<: ", "---", "...", "\r", "é", "😀", "recall@",
    "=", "!!binary ",
)  # fmt: skip
