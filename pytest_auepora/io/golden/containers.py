"""Lists and mappings in golden files: made of the kinds of `kinds`, read and described as those are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...errors import did_you_mean
from ..source import Source, describe
from .kinds import BAD, Kind, name_of


class ListOf(Kind):
    """A list of one kind of thing.

    With ``one_ok`` a single thing stands for a list of it.  ``unique`` refuses repeats, ``least`` short lists.
    """

    def __init__(self, kind: Kind, *, one_ok: bool = False, least: int = 0, unique: bool = False) -> None:
        self.kind, self.one_ok, self.least, self.unique = kind, one_ok, least, unique
        self.expected = f"{kind.expected} or a list of these" if one_ok else f"a list ({kind.expected} in each place)"

    def read(self, value: Any, holder: Any, key: Any, source: Source) -> Any:
        if type(value) is not list:
            if not self.one_ok or value is None or isinstance(value, tuple):
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


@dataclass(eq=False, repr=False)
class Record(Kind):
    """A mapping with known keys; read as a dict of what was read, without the keys complained about."""

    what: str
    fields: Mapping[str, Field]
    hints: Mapping[str, str] = field(default_factory=dict)
    """For keys that are not known: what to say beyond the near names."""

    expected: str = "a mapping"

    def __post_init__(self) -> None:
        self.required = [f.name for f in self.fields.values() if f.required]
        self._readers = {name: f.kind.read for name, f in self.fields.items()}

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
