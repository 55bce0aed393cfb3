"""Checks that plain data have the shape of a type: a stored file may have been edited, merged or damaged."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from math import isfinite
from types import UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints


class ShapeError(ValueError):
    """A key holds what it cannot hold: ``cases.a.scores.mrr: expected a finite number or null, found NaN``."""


class Kind(NamedTuple):
    """A check of a value: what is expected, in words, and whether a value is that; in ``Annotated`` it wins."""

    what: str
    holds: Callable[[Any], bool]


class _Fault(NamedTuple):
    path: tuple[str, ...]
    expected: str
    value: Any


_Check = Callable[[Any], "_Fault | None"]


def is_number(value: Any) -> bool:
    """Whether *value* is an int or a float, no bool, that a float holds and that is neither infinite nor NaN."""
    return type(value) in (int, float) and abs(value) < 1e300 and isfinite(value)


_PLAIN = {
    str: Kind("a text", lambda value: type(value) is str),
    bool: Kind("true or false", lambda value: type(value) is bool),
    int: Kind("a whole number", lambda value: type(value) is int and abs(value) < 10**15),
    float: Kind("a finite number", is_number),
    type(None): Kind("null", lambda value: value is None),
    dict: Kind("a mapping", lambda value: isinstance(value, dict)),
    list: Kind("a list", lambda value: isinstance(value, list)),
    Any: Kind("anything", lambda _: True),
}


def check_shape(value: Any, hint: Any) -> Any:
    """Return *value*, read from JSON, if it is what *hint* says: a dataclass, a `TypedDict`, a type of these.

    Of ``Annotated`` the last counts.  Keys that are not named are passed over.

    Raises:
        ShapeError: with the key, what was expected and what was found.
    """
    if (fault := _check_of(hint)(value)) is None:
        return value
    path = ".".join(fault.path)
    if not fault.expected:
        raise ShapeError(f"there is no key {path!r}")
    raise ShapeError(f"{f'{path}: ' if path else ''}expected {fault.expected}, found {_json_text(fault.value)}")


@cache
def _check_of(hint: Any) -> _Check:
    if isinstance(kind := _PLAIN.get(hint, hint), Kind):
        return _leaf_check(kind)
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _check_of(args[-1])
    if origin is Literal:
        return _leaf_check(Kind(f"one of {', '.join(map(str, args))}", lambda value: value in args))
    if origin in (Union, UnionType):
        return _union_check(args)
    if origin in (dict, Mapping, MutableMapping):
        return _mapping_check(_check_of(args[1]))
    if origin in (list, tuple, Sequence):
        fixed = origin is tuple and args[-1] is not Ellipsis
        return _list_check([_check_of(arg) for arg in args if arg is not Ellipsis], fixed=fixed)
    return _fields_check(hint)


def _leaf_check(kind: Kind) -> _Check:
    what, holds = kind
    return lambda value: None if holds(value) else _Fault((), what, value)


def _union_check(hints: Sequence[Any]) -> _Check:
    checks = [_check_of(hint) for hint in hints]

    def check(value: Any) -> _Fault | None:
        faults = []
        for check_hint in checks:
            if (fault := check_hint(value)) is None:
                return None
            faults.append(fault)
        inner = next((fault for fault in faults if fault.path), None)  # the type fits, a part of the value does not
        return inner or _Fault((), " or ".join(fault.expected for fault in faults), value)

    return check


def _mapping_check(inner: _Check) -> _Check:
    def check(value: Any) -> _Fault | None:
        if not isinstance(value, dict):
            return _Fault((), "a mapping", value)
        for key, item in value.items():
            if (fault := inner(item)) is not None:
                return fault._replace(path=(key, *fault.path))
        return None

    return check


def _list_check(inner: Sequence[_Check], *, fixed: bool) -> _Check:
    def check(value: Any) -> _Fault | None:
        if not isinstance(value, list) or (fixed and len(value) != len(inner)):
            return _Fault((), f"a list of {len(inner)}" if fixed else "a list", value)
        for i, item in enumerate(value):
            if (fault := inner[i if fixed else 0](item)) is not None:
                return fault._replace(path=(str(i), *fault.path))
        return None

    return check


def _fields_check(kind: Any) -> _Check:
    """Check the keys of a dataclass or a `TypedDict`; those with a default may be missing."""
    hints = get_type_hints(kind, include_extras=True)
    if is_dataclass(kind):
        hints = {f.name: hints[f.name] for f in fields(kind)}
        required = {f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING}
    else:
        required = getattr(kind, "__required_keys__", set(hints))
    checks = [(name, _check_of(hint), name in required) for name, hint in hints.items()]

    def check(value: Any) -> _Fault | None:
        if not isinstance(value, dict):
            return _Fault((), "a mapping", value)
        for name, inner, is_required in checks:
            if name in value:
                if (fault := inner(value[name])) is not None:
                    return fault._replace(path=(name, *fault.path))
            elif is_required:
                return _Fault((name,), "", None)
        return None

    return check


def _json_text(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (ValueError, RecursionError):
        return type(value).__name__
    return text if len(text) <= 60 else f"{text[:59]}…"
