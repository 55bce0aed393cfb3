"""What a key of a golden file may hold: each kind reads a value and describes itself as JSON Schema.

``read`` returns the value in the form the rest of the package uses, or `BAD` after complaining.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ...errors import did_you_mean
from ..source import Source, describe


class _Bad:
    def __repr__(self) -> str:
        return "BAD"


BAD: Any = _Bad()
"""What reading returns when the value was complained about."""

MAX_FREE_DEPTH = 50


class Kind:
    """Reads one value; ``expected`` says in a few words what belongs here."""

    expected: str = ""
    choices: Sequence[str] = ()

    def read(self, value: Any, holder: Any, key: Any, source: Source) -> Any:
        """Return the value read, or `BAD` after complaining; *holder* and *key* say where it stands."""
        made = self.take(value)
        return self.refuse(value, holder, key, source) if made is BAD else made

    def take(self, value: Any) -> Any:
        """Return what *value* is read as, or `BAD`, where that needs no other complaint than what is expected."""
        raise NotImplementedError

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of what is accepted."""
        raise NotImplementedError

    def refuse(self, value: Any, holder: Any, key: Any, source: Source) -> Any:
        """Complain that *value* is not what belongs here."""
        if value is None:
            source.bad(holder, key, f"{name_of(key)}has no value; write {self.expected}, or leave the key out")
            return BAD
        written = "" if isinstance(value, (str, list, dict)) else source.written(holder, key)
        got = describe(value, written)
        quote = ""
        if self.expected.startswith("text") and isinstance(value, (bool, int, float, datetime.date)):
            quote = f'; quote it: "{written or value}"'
        near = did_you_mean(value, self.choices) if isinstance(value, str) else ""
        source.bad(holder, key, f"{name_of(key)}expected {self.expected}, got {got}{near}{quote}")
        return BAD


def name_of(key: Any) -> str:
    """How a complaint about the value at *key* begins."""
    return f"{key}: " if isinstance(key, str) else ""


class Text(Kind):
    """A text that is not blank."""

    expected = "text"

    def take(self, value: Any) -> Any:
        return value if type(value) is str and value and not value.isspace() else BAD

    def schema(self) -> dict[str, Any]:
        return {"type": "string", "pattern": r"\S"}


class Choice(Kind):
    """One of a few words."""

    def __init__(self, *choices: str) -> None:
        self.choices = choices
        self.expected = f"one of {', '.join(choices)}"

    def take(self, value: Any) -> Any:
        return value if isinstance(value, str) and value in self.choices else BAD

    def schema(self) -> dict[str, Any]:
        return {"enum": list(self.choices)}


class Flag(Kind):
    """True or false."""

    expected = "true or false"

    def take(self, value: Any) -> Any:
        return value if isinstance(value, bool) else BAD

    def schema(self) -> dict[str, Any]:
        return {"type": "boolean"}


class Whole(Kind):
    """A whole number within bounds, both included."""

    def __init__(self, least: int, most: int = 1_000_000) -> None:
        self.least, self.most = least, most
        self.expected = f"a whole number from {least} to {most}"

    def take(self, value: Any) -> Any:
        return value if type(value) is int and self.least <= value <= self.most else BAD

    def schema(self) -> dict[str, Any]:
        return {"type": "integer", "minimum": self.least, "maximum": self.most}


class Number(Kind):
    """A finite number above (or from) one limit, up to (or below) another."""

    def __init__(self, least: float, below: float = math.inf, *, above: bool = False) -> None:
        self.least, self.below, self.above = least, below, above
        words = f"above {least:g}" if above else f"from {least:g}"
        self.expected = f"a number {words}" + (f" and below {below:g}" if math.isfinite(below) else "")

    def take(self, value: Any) -> Any:
        if type(value) not in (int, float) or not (value > self.least if self.above else value >= self.least):
            return BAD
        try:
            made = float(value)
        except OverflowError:
            return BAD
        return made if made < self.below else BAD

    def schema(self) -> dict[str, Any]:
        out: dict[str, Any] = {"type": "number", "exclusiveMinimum" if self.above else "minimum": self.least}
        if math.isfinite(self.below):
            out["exclusiveMaximum"] = self.below
        return out


class Day(Kind):
    """A date; read as ISO text."""

    expected = "a date such as 2026-01-31"

    def take(self, value: Any) -> Any:
        if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
            return value.isoformat()
        if isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", value):
            with suppress(ValueError):
                return datetime.date.fromisoformat(value).isoformat()
        return BAD

    def schema(self) -> dict[str, Any]:
        return {"type": "string", "pattern": r"^\d{4}-\d\d-\d\d$", "format": "date"}


class Reason(Kind):
    """True, or better a reason; read as the reason, or None for false."""

    expected = "a reason in words, or true"

    def __init__(self, default: str) -> None:
        self.default = default

    def take(self, value: Any) -> Any:
        if isinstance(value, bool):
            return self.default if value else None
        return value if isinstance(value, str) and value.strip() else BAD

    def schema(self) -> dict[str, Any]:
        return {"anyOf": [{"type": "boolean"}, {"type": "string", "pattern": r"\S"}]}


class Free(Kind):
    """A mapping that is the user's own; its keys are text, and it can be written as JSON."""

    expected = "a mapping"

    def read(self, value: Any, holder: Any, key: Any, source: Source) -> Any:
        if not isinstance(value, dict):
            return self.refuse(value, holder, key, source)
        return value if self._plain(value, source, 0) else BAD

    def _plain(self, value: Any, source: Source, depth: int) -> bool:
        good = True
        for name, part in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(value, dict) and not isinstance(name, str):
                written = describe(name)
                source.bad_key(value, name, f"the key {written} is no text; quote it")
                good = False
            elif isinstance(part, (dict, list)):
                if depth >= MAX_FREE_DEPTH:
                    source.bad(value, name, f"nests more than {MAX_FREE_DEPTH} deep")
                    return False
                good = self._plain(part, source, depth + 1) and good
            elif not isinstance(part, (str, int, float, bool, datetime.date, type(None))):
                source.bad(value, name, f"{name_of(name)}a {type(part).__name__} cannot be stored as JSON")
                good = False
        return good

    def schema(self) -> dict[str, Any]:
        return {"type": "object"}


class ListOf(Kind):
    """A list of one kind of thing.

    With ``one_ok`` a single thing stands for a list of it.  ``unique`` refuses repeats, ``least`` short lists.
    """

    def __init__(self, kind: Kind, *, one_ok: bool = False, least: int = 0, unique: bool = False) -> None:
        self.kind, self.one_ok, self.least, self.unique = kind, one_ok, least, unique
        self.expected = f"{kind.expected} or a list of these" if one_ok else f"a list ({kind.expected} in each place)"

    def read(self, value: Any, holder: Any, key: Any, source: Source) -> Any:
        if type(value) is not list:
            if not self.one_ok or value is None:
                return self.refuse(value, holder, key, source)
            one = self.kind.read(value, holder, key, source)
            return BAD if one is BAD else [one]
        if len(value) < self.least:
            source.bad(holder, key, f"{name_of(key)}expected {self.expected}, got an empty list")
            return BAD
        read, before = self.kind.read, len(source.problems)
        out = [read(part, value, i, source) for i, part in enumerate(value)]
        if len(source.problems) > before and any(part is BAD for part in out):
            return BAD
        if self.unique and len(out) > 1 and self._repeats(out, value, source):
            return BAD
        return out

    def _repeats(self, out: list[Any], value: Any, source: Source) -> bool:
        if all(type(part) is str for part in out) and len(set(out)) == len(out):
            return False
        repeats = [i for i, part in enumerate(out) if part in out[:i]] if not source.is_full else [len(out) - 1]
        for i in repeats:
            source.bad(value, i, f"{describe(value[i])} is listed twice")
        return bool(repeats)

    def schema(self) -> dict[str, Any]:
        out: dict[str, Any] = {"type": "array", "items": self.kind.schema()}
        if self.least:
            out["minItems"] = self.least
        if self.unique:
            out["uniqueItems"] = True
        return {"anyOf": [self.kind.schema(), out]} if self.one_ok else out


class MapOf(Kind):
    """A mapping whose keys are names and whose values are all of one kind."""

    def __init__(self, kind: Kind, keys: str) -> None:
        self.kind = kind
        self.expected = f"a mapping from {keys} to {kind.expected}"

    def read(self, value: Any, holder: Any, key: Any, source: Source) -> Any:
        if not isinstance(value, dict):
            return self.refuse(value, holder, key, source)
        good = True
        out = {}
        for name, part in value.items():
            if not isinstance(name, str):
                source.bad_key(value, name, f"the key {describe(name)} is no text; quote it")
                good = False
                continue
            out[name] = self.kind.read(part, value, name, source)
            good = good and out[name] is not BAD
        return out if good else BAD

    def schema(self) -> dict[str, Any]:
        return {"type": "object", "additionalProperties": self.kind.schema()}


@dataclass(eq=False, repr=False)
class Field:
    """One key: its name, what it holds, and what it is for."""

    name: str
    kind: Kind
    doc: str
    required: bool = False

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the value, with the description editors show."""
        return {"description": self.doc, **self.kind.schema()}


def table(*fields: Field) -> dict[str, Field]:
    """Return *fields* by their names."""
    return {f.name: f for f in fields}


class Record(Kind):
    """A mapping with known keys; read as a dict of what was read, without the keys complained about.

    For keys that are not known, ``hints`` are what to say beyond the near names.
    """

    expected = "a mapping"

    def __init__(self, what: str, *fields: Field, hints: Mapping[str, str] | None = None) -> None:
        self.what, self.fields, self.hints = what, table(*fields), hints or {}
        self.required = [f.name for f in fields if f.required]
        self._readers = {f.name: f.kind.read for f in fields}

    def read(self, value: Any, holder: Any, key: Any, source: Source) -> Any:
        if not isinstance(value, dict):
            return self.refuse(value, holder, key, source)
        return self.read_mapping(value, source)

    def read_mapping(self, value: dict[Any, Any], source: Source) -> dict[str, Any]:
        """Read every key; complain about unknown and missing ones."""
        out: dict[str, Any] = {}
        readers = self._readers
        hints = ""
        for name, part in value.items():
            if name not in readers:
                hints += self._unknown(value, name, source)
            elif (made := readers[name](part, value, name, source)) is not BAD:
                out[name] = made
        for name in self.required:
            if name not in value and repr(name) not in hints:  # the slip was told already
                source.bad_whole(value, f"{self.what} has no {name}")
        return out

    def read_sound(self, value: dict[Any, Any], source: Source) -> Any:
        """Do the same, and return `BAD` if there was anything to complain about."""
        before = len(source.problems)
        out = self.read_mapping(value, source)
        return out if len(source.problems) == before else BAD

    def _unknown(self, value: Any, name: Any, source: Source) -> str:
        """Complain about a key, and return what was probably meant."""
        if source.is_full:
            source.bad_whole(value, "")
            return ""
        hint = self.hints.get(name, "") if isinstance(name, str) else ""
        hint = hint or did_you_mean(str(name), self.fields)
        there = f"; {self.what} has {', '.join(self.fields)}"
        source.bad_key(value, name, f"unknown key {name!r}{hint or there}")
        return hint

    def schema(self) -> dict[str, Any]:
        out: dict[str, Any] = {
            "type": "object",
            "properties": {name: f.schema() for name, f in self.fields.items()},
            "additionalProperties": False,
        }
        if self.required:
            out["required"] = self.required
        return out
