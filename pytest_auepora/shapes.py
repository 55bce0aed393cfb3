"""Whether plain data have the shape of a type: what lies in a file may have been edited, merged or damaged."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from math import isfinite
from types import UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints, is_typeddict


class ShapeError(ValueError):
    """A key holds what it cannot hold: ``cases.a.scores.mrr: expected a finite number or null, found NaN``."""


class Kind(NamedTuple):
    """What a value may be, in words, and whether one is; in ``Annotated``, it is what counts instead of the type."""

    what: str
    holds: Callable[[Any], bool]


class _Fault(NamedTuple):
    way: tuple[str, ...]
    what: str
    found: Any


_Check = Callable[[Any], "_Fault | None"]


def is_number(value: Any) -> bool:
    """Whether *value* is a number that a float holds and that is neither infinite nor NaN; no bool is."""
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


def check_shape(value: Any, hint: Any, names: Mapping[str, Any] | None = None) -> None:
    """Check that *value*, read from JSON, is what *hint* says: a dataclass, a `TypedDict`, a type of these.

    Of ``Annotated`` the last counts.  Keys that are not named are passed over.  *names* are classes that annotations
    name without importing them.

    Raises:
        ShapeError: with the key, what was expected and what was found.
    """
    if (fault := _check_of(hint, tuple((names or {}).items()))(value)) is None:
        return
    way = ".".join(fault.way)
    if not fault.what:
        raise ShapeError(f"there is no key {way!r}")
    raise ShapeError(f"{f'{way}: ' if way else ''}expected {fault.what}, found {_shown(fault.found)}")


@cache
def _check_of(hint: Any, names: tuple[tuple[str, Any], ...]) -> _Check:
    if isinstance(hint, Kind):
        return _leaf(hint)
    if (kind := _PLAIN.get(hint)) is not None:
        return _leaf(kind)
    origin, given = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _check_of(given[-1], names)
    if origin is Literal:
        return _leaf(Kind(f"one of {', '.join(map(str, given))}", lambda value: value in given))
    if origin in (Union, UnionType):
        return _any(given, names)
    if origin in (dict, Mapping, MutableMapping):
        return _mapping(_check_of(given[1], names))
    if origin in (list, tuple, Sequence):
        return _list([_check_of(one, names) for one in given if one is not Ellipsis], fixed=_is_fixed(origin, given))
    return _keys(hint, names)


def _is_fixed(origin: Any, given: tuple[Any, ...]) -> bool:
    return origin is tuple and given[-1] is not Ellipsis


def _leaf(kind: Kind) -> _Check:
    what, holds = kind
    return lambda value: None if holds(value) else _Fault((), what, value)


def _any(hints: Sequence[Any], names: tuple[tuple[str, Any], ...]) -> _Check:
    checks = [_check_of(one, names) for one in hints]

    def check(value: Any) -> _Fault | None:
        faults = [one(value) for one in checks]
        if None in faults:
            return None
        found = [fault for fault in faults if fault is not None]
        inner = next((fault for fault in found if fault.way), None)  # it is of that type, but for a part of it
        return inner or _Fault((), " or ".join(fault.what for fault in found), value)

    return check


def _mapping(inner: _Check) -> _Check:
    def check(value: Any) -> _Fault | None:
        if not isinstance(value, dict):
            return _Fault((), "a mapping", value)
        for key, one in value.items():
            if (fault := inner(one)) is not None:
                return fault._replace(way=(key, *fault.way))
        return None

    return check


def _list(inner: Sequence[_Check], *, fixed: bool) -> _Check:
    def check(value: Any) -> _Fault | None:
        if not isinstance(value, list) or (fixed and len(value) != len(inner)):
            return _Fault((), f"a list of {len(inner)}" if fixed else "a list", value)
        for i, one in enumerate(value):
            if (fault := inner[i if fixed else 0](one)) is not None:
                return fault._replace(way=(str(i), *fault.way))
        return None

    return check


def _keys(kind: Any, names: tuple[tuple[str, Any], ...]) -> _Check:
    """Check the keys of a dataclass or a `TypedDict`; those with a default may be missing."""
    hints = get_type_hints(kind, localns=dict(names), include_extras=True)
    if is_dataclass(kind):
        held = fields(kind)
        hints = {f.name: hints[f.name] for f in held}
        required = {f.name for f in held if f.default is MISSING and f.default_factory is MISSING}
    else:
        required = set(kind.__required_keys__) if is_typeddict(kind) else set(hints)
    checks = [(name, _check_of(hint, names), name in required) for name, hint in hints.items()]

    def check(value: Any) -> _Fault | None:
        if not isinstance(value, dict):
            return _Fault((), "a mapping", value)
        for name, inner, is_required in checks:
            if name in value:
                if (fault := inner(value[name])) is not None:
                    return fault._replace(way=(name, *fault.way))
            elif is_required:
                return _Fault((name,), "", None)
        return None

    return check


def _shown(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (ValueError, RecursionError):
        return type(value).__name__
    return text if len(text) <= 60 else f"{text[:59]}…"
