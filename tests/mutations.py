"""Files as they are after somebody edited them, a merge went wrong, or a disk lost something: seeded mutations."""

from __future__ import annotations

import faulthandler
import json
import os
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Literal

import pytest
import yaml

JUNK: tuple[Any, ...] = (
    float("nan"), float("inf"), 1e999, -1, 0, 10**400, 10**18, 2**63, 2.5, -0.0, 1e-320, True, None, "x", "", "\ud800",
    "\x00", "a\nb", "\u0661", "y" * 5000, [], [1], [None], {}, {"a": 1}, {"": []}, {"id": {}}, {"id": [1]},
    {"\ud800": 1}, "[1, NaN]", "{}", "[]", '"x"', "[[]]", "null", "NaN", "1e999", "2024-13-45", "{{x}}", [[[[[]]]]],
    [{}], ["a", 1], [1, "a"], [["a"], ["b"]], ["a", "a"],
)  # fmt: skip
"""Values that nothing of ours writes at most places."""
_DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_ALL = "MUTATIONS"
"""The variable of the environment that says that all mutations are wanted, and not a tenth."""
_LONGEST = 300
"""Seconds after which a file hangs its reader: a thousand times of what any takes, as machines are shared."""
_MOST = 300 * 2**20
"""Bytes that no file of a few kilobytes makes a process take."""


def tries(usual: int, all_in_all: int) -> pytest.MarkDecorator:
    """Run a test with the *usual* number of inputs and, marked slow, a tenth of *all_in_all*; see `main` for them."""
    long = all_in_all if _ALL in os.environ else all_in_all // 10
    return pytest.mark.parametrize(
        "tries", [usual, pytest.param(long, marks=(pytest.mark.slow, pytest.mark.mutations))]
    )


def read_all(tries: int, seed: int, read: Callable[[Random], bool]) -> int:
    """Return how many of so many inputs are refused; *read* makes one of the choices it is given, and reads it.

    A reader that hangs ends the process, with the lines where it does.  Raises AssertionError for one that takes much
    memory, and whatever a reader raises.
    """
    refused, most = 0, max(_MOST, peak() + _MOST // 2)  # of a process that has run other tests
    try:
        for number in range(tries):
            faulthandler.dump_traceback_later(_LONGEST, exit=True, file=2)
            refused += read(Random(f"{seed} {number}"))
            assert peak() <= most, f"input {number} takes {peak() >> 20} MB"
    finally:
        faulthandler.cancel_dump_traceback_later()
    return refused


def peak() -> int:
    """Return the most bytes that the process has held; 0 where the system does not say."""
    if sys.platform == "win32":
        return 0
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


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


def spoilt(text: str, pick: Random, kind: Literal["text", "json", "lines", "yaml"] = "text") -> bytes:
    """Return the bytes of a file after damage, a slip of the hand or, where it has values, a wrong one."""
    chance = pick.random()
    if chance < 0.2:
        return damaged(text.encode(), pick)
    if kind == "text" or chance < 0.4:
        return edited(text, pick).encode()
    if kind == "json":
        return mutated(text, pick).encode()
    if kind == "yaml":
        value = json.loads(mutated(_json_of(text), pick))
        flow, wide = pick.choice((None, False)), pick.random() < 0.5
        how: dict[str, Any] = {"sort_keys": False, "default_flow_style": flow, "allow_unicode": wide}
        try:
            written = yaml.dump(value, Dumper=_DUMPER, **how)
        except UnicodeEncodeError:  # half a character, which libyaml does not write
            written = yaml.safe_dump(value, **how)
        return str(written).encode()
    lines = text.splitlines()
    at = pick.randrange(len(lines))
    lines[at] = mutated(lines[at], pick)
    return "\n".join(lines).encode()


@cache
def _json_of(text: str) -> str:
    return json.dumps(yaml.safe_load(text), default=str)


def damaged(raw: bytes, pick: Random) -> bytes:
    """Return *raw* with a few bytes exchanged, a piece of it removed, doubled or moved, or cut, or encoded anew."""
    made = bytearray(raw)
    start, end = sorted(pick.randrange(len(made) + 1) for _ in range(2))
    match pick.randrange(10):
        case 0:
            return raw[:end]
        case 1:
            return raw[:start] + raw[end:]
        case 2:
            return raw[:end] + raw[start:]
        case 3:
            return raw[end:] + raw[:start] + raw[start:end]
        case 4:
            encoded = raw.decode("utf-8", "replace").encode(pick.choice(("utf-16", "utf-8-sig", "utf-32-le")))
            return pick.choice((encoded, raw + b"\x00", b"\xef\xbb\xbf" + raw[start:], raw.replace(b"\n", b"\r")))
    for _ in range(pick.randrange(1, 4)):
        if made:
            made[pick.randrange(len(made))] = pick.randrange(256)
    return bytes(made)


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
    ":", ": ", "- ", "#", "'", '"', "[", "]", "{", "}", ",", "&a ", "*a", "&a [*a]", "!!int ", "!!set ", "!!omap ",
    "!x ", "!!timestamp ", "!!python/object/apply:os.abort []", "!!binary ", "|", ">", "?", "@", "%", "%YAML 9.9\n",
    "`", "\t", "\x00", "\ufeff", "\u2028", "\x85", "\ud7ff", "~", "null", "yes", "1:30", "190:20:30", "1e999", ".nan",
    ".inf", "-.inf", "0x1f", "1_0", "0o17", "0b1", "2024-13-45", "2024-01-01T00:00:00+99:99", "9" * 5000, "x" * 1100,
    "[" * 200, "<<: ", "<<: *a", "---\n", "...\n", "\r", "\n", "é", "😀", "e\u0301", "recall@", "=", ";", "{{", "}}",
    "{%", "\\", "\\u", "(",
)  # fmt: skip


def main() -> int:
    """Run every test of mutations with all of them, and say how many and how much memory; needs some ten minutes."""
    os.environ[_ALL] = "1"
    tests = Path(__file__).parent / "unit"
    files = [str(path) for path in sorted(tests.rglob("test_*.py")) if "@tries(" in path.read_text(encoding="utf-8")]
    counted = _Counted()
    return int(pytest.main(["-q", "-m", "mutations", *sys.argv[1:], *files], plugins=[counted]))


class _Counted:
    """The sum below the results."""

    inputs = 0

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.inputs = sum(item.callspec.params["tries"] for item in session.items)  # type: ignore[attr-defined]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.write_line(f"{self.inputs:,} inputs, at most {peak() >> 20} MB")


if __name__ == "__main__":
    sys.exit(main())
