"""Types of the values in a golden file: each reads a value and describes itself as JSON Schema.

``read`` returns the value in the form the rest of the package uses, or `BAD` after reporting a problem.
"""

from __future__ import annotations

import datetime
import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ...base.text import meant_words, near_names
from ..source import KeyPath, Source, describe

BAD: Any = object()
"""Returned instead of a value that was reported as a problem."""

MAX_FREE_DEPTH = 50


class FieldType:
    """Reads one value; ``expected`` says in a few words what belongs here."""

    expected: str = ""
    choices: Sequence[str] = ()
    hints: Mapping[str, str] = MappingProxyType({})
    """Words, or keys, that people often write, each with the one that is meant, or with what follows the message."""
    json_schema: Mapping[str, Any] = MappingProxyType({})
    """The JSON Schema of what is accepted, where no other type is part of it."""

    def read(self, value: Any, path: KeyPath, source: Source) -> Any:
        """Return the value read, or `BAD` after reporting a problem at *path*."""
        result = self.parse(value)
        return self.refuse(value, path, source) if result is BAD else result

    def parse(self, value: Any) -> Any:
        """Return the value to use for *value*, or `BAD` if it is not what is expected."""
        raise NotImplementedError

    def read_record(self, record: Record, value: Any, path: KeyPath, source: Source) -> Any:
        """Return what *record* reads of *value*, for types made of one, or `BAD` if there was any problem."""
        if not isinstance(value, dict):
            return self.refuse(value, path, source)
        problem_count = len(source.problems)
        values = record.read_mapping(value, path, source)
        return values if len(source.problems) == problem_count else BAD

    def meant(self, word: str, known: Collection[str]) -> list[str]:
        """Return which of the *known* words *word* probably stands for."""
        if word in self.hints:
            return [self.hints[word]] if self.hints[word] in known else []
        return near_names(word, known)

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of what is accepted."""
        return dict(self.json_schema)

    def refuse(self, value: Any, path: KeyPath, source: Source) -> Any:
        """Report that *value* is not what is expected here, and return `BAD`."""
        if value is None:
            source.report(path, f"{key_prefix(path)}has no value; write {self.expected}, or leave the key out")
            return BAD
        written = "" if isinstance(value, (str, list, dict)) else source.written(path)
        got = describe(value, written)
        quote = ""
        if self.expected.startswith("text") and isinstance(value, (bool, int, float, datetime.date)):
            quote = f'; quote it: "{written or value}"'
        hint = meant_words(self.meant(value, self.choices)) if isinstance(value, str) else ""
        source.report(path, f"{key_prefix(path)}expected {self.expected}, got {got}{hint}{quote}")
        return BAD


def key_prefix(path: KeyPath) -> str:
    """Return the beginning of a message about the value at *path*."""
    return f"{path[-1]}: " if path and isinstance(path[-1], str) else ""


class Text(FieldType):
    """A text that is not blank."""

    expected = "text"
    json_schema = MappingProxyType({"type": "string", "pattern": r"\S"})

    def parse(self, value: Any) -> Any:
        return value if type(value) is str and value and not value.isspace() else BAD


class Choice(FieldType):
    """One of a few words.  False is ``off``, which YAML reads so where it stands without quotes."""

    def __init__(self, *choices: str, hints: Mapping[str, str] | None = None) -> None:
        self.choices, self.hints = choices, hints or {}
        self.expected = f"one of {', '.join(choices)}"
        self.json_schema = {"enum": [*choices, *([False] if "off" in choices else [])]}

    def parse(self, value: Any) -> Any:
        word = "off" if value is False else value
        return word if isinstance(word, str) and word in self.choices else BAD


class Flag(FieldType):
    """True or false."""

    expected = "true or false"
    json_schema = MappingProxyType({"type": "boolean"})

    def parse(self, value: Any) -> Any:
        return value if isinstance(value, bool) else BAD


class Whole(FieldType):
    """A whole number within bounds, both included."""

    def __init__(self, least: int, most: int = 1_000_000) -> None:
        self.least, self.most = least, most
        self.expected = f"a whole number from {least} to {most}"
        self.json_schema = {"type": "integer", "minimum": least, "maximum": most}

    def parse(self, value: Any) -> Any:
        return value if type(value) is int and self.least <= value <= self.most else BAD


class Number(FieldType):
    """A finite number above (or from) one limit, up to (or below) another."""

    def __init__(self, least: float, below: float = math.inf, *, above: bool = False) -> None:
        self.least, self.below, self.above = least, below, above
        words = f"above {least:g}" if above else f"from {least:g}"
        self.expected = f"a number {words}" + (f" and below {below:g}" if math.isfinite(below) else "")
        self.json_schema = {"type": "number", "exclusiveMinimum" if above else "minimum": least}
        if math.isfinite(below):
            self.json_schema["exclusiveMaximum"] = below

    def parse(self, value: Any) -> Any:
        if type(value) not in (int, float) or not (value > self.least if self.above else value >= self.least):
            return BAD
        try:
            number = float(value)
        except OverflowError:
            return BAD
        return number if number < self.below else BAD


class Day(FieldType):
    """A date; read as ISO text."""

    expected = "a date such as 2026-01-31"
    json_schema = MappingProxyType({"type": "string", "pattern": r"^\d{4}-\d\d-\d\d$", "format": "date"})

    def parse(self, value: Any) -> Any:
        if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
            return value.isoformat()
        if isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", value):
            with suppress(ValueError):
                return datetime.date.fromisoformat(value).isoformat()
        return BAD


class Reason(FieldType):
    """True, or better a reason; read as the reason, or None for false."""

    expected = "a reason in words, or true"
    json_schema = MappingProxyType({"anyOf": [dict(Flag.json_schema), dict(Text.json_schema)]})

    def __init__(self, default: str) -> None:
        self.default = default

    def parse(self, value: Any) -> Any:
        if isinstance(value, bool):
            return self.default if value else None
        return value if isinstance(value, str) and value.strip() else BAD


class Free(FieldType):
    """A mapping that is the user's own; its keys are text, and it can be written as JSON."""

    expected = "a mapping"
    json_schema = MappingProxyType({"type": "object"})

    def read(self, value: Any, path: KeyPath, source: Source) -> Any:
        if not isinstance(value, dict):
            return self.refuse(value, path, source)
        problem_count = len(source.problems)
        self._check_values(value, path, source, 0)
        return value if len(source.problems) == problem_count else BAD

    def _check_values(self, value: Any, path: KeyPath, source: Source, depth: int) -> None:
        for name, part in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(value, dict) and not isinstance(name, str):
                source.report_key((*path, name), f"the key {describe(name)} is not a text; quote it")
            elif isinstance(part, (dict, list)):
                if depth >= MAX_FREE_DEPTH:
                    source.report((*path, name), f"nests more than {MAX_FREE_DEPTH} deep")
                    return
                self._check_values(part, (*path, name), source, depth + 1)
            elif not isinstance(part, (str, int, float, bool, datetime.date, type(None))):
                source.report((*path, name), f"{key_prefix((name,))}a {type(part).__name__} cannot be stored as JSON")


class ListOf(FieldType):
    """A list of values of one type.

    With ``one_ok`` a single value stands for a list of it.  ``unique`` refuses repeats, ``least`` short lists.
    """

    def __init__(self, item_type: FieldType, *, one_ok: bool = False, least: int = 0, unique: bool = False) -> None:
        self.item_type, self.one_ok, self.least, self.unique = item_type, one_ok, least, unique
        item = item_type.expected
        self.expected = f"{item} or a list of these" if one_ok else f"a list ({item} in each place)"

    def read(self, value: Any, path: KeyPath, source: Source) -> Any:
        if type(value) is not list:
            if not self.one_ok or value is None:
                return self.refuse(value, path, source)
            item = self.item_type.read(value, path, source)
            return BAD if item is BAD else [item]
        if len(value) < self.least:
            source.report(path, f"{key_prefix(path)}expected {self.expected}, got an empty list")
            return BAD
        read_item, problem_count = self.item_type.read, len(source.problems)
        items = [read_item(part, (*path, i), source) for i, part in enumerate(value)]
        if len(source.problems) > problem_count and any(part is BAD for part in items):
            return BAD
        if self.unique and len(items) > 1:
            first: dict[tuple[Any, ...], int] = {}
            keys = list(map(self.key_of, items))
            repeats = [i for i, key in enumerate(keys) if first.setdefault(key, i) != i]
            for i in repeats:
                source.report((*path, i), f"{describe(keys[i][0])} is listed twice")
            return BAD if repeats else items
        return items

    def key_of(self, item: Any) -> tuple[Any, ...]:
        """Return what makes *item* another than those beside it, its name first."""
        return (item if isinstance(item, str) else json.dumps(item, sort_keys=True, ensure_ascii=False),)

    def schema(self) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "array", "items": self.item_type.schema()}
        if self.least:
            schema["minItems"] = self.least
        if self.unique:
            schema["uniqueItems"] = True
        return {"anyOf": [self.item_type.schema(), schema]} if self.one_ok else schema


class MapOf(FieldType):
    """A mapping whose keys are names and whose values are all of one type."""

    def __init__(self, value_type: FieldType, keys: str) -> None:
        self.value_type = value_type
        self.expected = f"a mapping from {keys} to {value_type.expected}"

    def read(self, value: Any, path: KeyPath, source: Source) -> Any:
        if not isinstance(value, dict):
            return self.refuse(value, path, source)
        values = {}
        for name, part in value.items():
            if isinstance(name, str):
                values[name] = self.value_type.read(part, (*path, name), source)
            else:
                source.report_key((*path, name), f"the key {describe(name)} is not a text; quote it")
                values[name] = BAD
        return BAD if any(part is BAD for part in values.values()) else values

    def schema(self) -> dict[str, Any]:
        return {"type": "object", "additionalProperties": self.value_type.schema()}


@dataclass(eq=False, repr=False)
class Field:
    """One key: its name, what it holds, and what it is for."""

    name: str
    type: FieldType
    doc: str
    required: bool = False

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the value, with the description editors show."""
        return {"description": self.doc, **self.type.schema()}


def table(*fields: Field) -> dict[str, Field]:
    """Return *fields* by their names."""
    return {f.name: f for f in fields}


class Record(FieldType):
    """A mapping with known keys; read as a dict of the values read, without those reported as problems."""

    expected = "a mapping"

    def __init__(self, title: str, *fields: Field, hints: Mapping[str, str] | None = None) -> None:
        self.title, self.fields, self.hints = title, table(*fields), hints or {}
        self.required = [field.name for field in fields if field.required]
        self._readers = {field.name: field.type.read for field in fields}

    def read(self, value: Any, path: KeyPath, source: Source) -> Any:
        if not isinstance(value, dict):
            return self.refuse(value, path, source)
        return self.read_mapping(value, path, source)

    def read_mapping(self, value: dict[Any, Any], path: KeyPath, source: Source) -> dict[str, Any]:
        """Read every key; report unknown and missing ones."""
        values: dict[str, Any] = {}
        readers = self._readers
        meant: list[str] = []
        for name, part in value.items():
            if name not in readers:
                meant += self._report_unknown_key((*path, name), source)
            elif (parsed := readers[name](part, (*path, name), source)) is not BAD:
                values[name] = parsed
        for name in self.required:
            if name not in value and name not in meant:  # the typo is reported already
                source.report(path, f"{self.title} has no {name}")
        return values

    def _report_unknown_key(self, path: KeyPath, source: Source) -> list[str]:
        """Report an unknown key, and return the keys that were probably meant."""
        meant = self.meant(str(path[-1]), self.fields)
        known_keys = f"; {self.title} has {', '.join(self.fields)}"
        hint = meant_words(meant) or self.hints.get(str(path[-1]), known_keys)
        source.report_key(path, f"unknown key {path[-1]!r}{hint}")
        return meant

    def schema(self) -> dict[str, Any]:
        schema: dict[str, Any] = {
            "type": "object",
            "properties": {name: f.schema() for name, f in self.fields.items()},
            "additionalProperties": False,
        }
        if self.required:
            schema["required"] = self.required
        return schema
