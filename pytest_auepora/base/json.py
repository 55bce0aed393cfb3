"""JSON of the data that a run keeps and sends, whatever systems put into it.

Infinity and NaN are in Python's spelling; keys that JSON does not have become strings.  Lone surrogates, which no file
can hold, become question marks.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any

import orjson

_KEYS = (str, int, float, type(None))  # that the standard library writes


def dumps(value: Any) -> str:
    """Return *value*, which may hold dataclasses, as compact JSON in one line; `json.loads` reads every number back."""
    return encode(value).decode()


def encode(value: Any) -> bytes:
    """Return `dumps` of *value* as UTF-8 bytes; raises RecursionError where a value holds itself."""
    try:
        text = _ENCODER.encode(value)
    except TypeError:  # keys
        text = _ENCODER.encode(_with_text_keys(value))
    return text.encode("utf-8", "replace")


def encode_finite(value: Any) -> bytes:
    """Return `encode` of *value*, whose numbers are finite and whose dataclasses have slots.

    By orjson, much faster: results are kept and sent by the ten thousand.
    """
    try:
        return orjson.dumps(value, plain)
    except TypeError:  # what orjson cannot write
        return encode(value)


def loads(data: bytes | str) -> Any:
    """Return what `encode` wrote, faster than `json.loads`; integers beyond 64 bits are rounded.

    Raises:
        ValueError: it is no JSON.
        RecursionError: the values nest too deep.
    """
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:  # infinity, NaN, lone surrogates; or it is damaged
        return json.loads(data)


def fields_of(value: Any) -> dict[str, Any]:
    """Return the fields of a dataclass by name, as they are."""
    kind: Any = type(value)
    return {name: getattr(value, name) for name in _field_names(kind)}


@cache
def _field_names(cls: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(cls))


def plain(value: Any) -> Any:
    """Return a JSON-able stand-in for a value that JSON does not know."""
    if is_dataclass(value):
        return fields_of(value)
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "tolist"):  # numbers and arrays of numpy
        return value.tolist()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=str)
    if isinstance(value, float):  # a subclass of float, or of tuple below
        return float(value)
    return list(value) if isinstance(value, tuple) else str(value)


def _with_text_keys(value: Any) -> Any:
    """Return *value* as the standard library can write it: any key may be a tuple, a date or whatever systems use."""
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, dict):
        return {k if isinstance(k, _KEYS) else str(k): _with_text_keys(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_with_text_keys(item) for item in value]
    return _with_text_keys(plain(value))


_ENCODER = json.JSONEncoder(separators=(",", ":"), check_circular=False, ensure_ascii=False, default=plain)
