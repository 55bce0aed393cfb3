"""The shape of a baseline file: which types and numbers each key may hold.

A baseline is edited and merged by people.  A score that is no finite number would switch a guard off in silence.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from math import isfinite
from typing import Any, NamedTuple

__all__ = ["ShapeError", "check_baseline"]


class ShapeError(ValueError):
    """A key holds what it cannot hold: ``cases.a.scores.mrr: expected a finite number or null, found NaN``."""


class _Kind(NamedTuple):
    """What a key may hold: in words, and whether a value is of that kind."""

    what: str
    holds: Callable[[Any], bool]


def _one_of(*words: str) -> _Kind:
    return _Kind(f"one of {', '.join(words)}", lambda value: value in words)


def _whole(least: int) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and least <= value < 10**9


def _is_score(value: Any) -> bool:
    return value is None or (type(value) in (int, float) and abs(value) < 1e300 and isfinite(value))


def _is_json(value: Any) -> bool:
    try:
        return isinstance(value, str) and all(
            isinstance(leaf, (str, bool)) or _is_score(leaf) for leaf in _leaves(json.loads(value))
        )
    except (ValueError, RecursionError):
        return False


def _leaves(data: Any) -> Iterator[Any]:
    if isinstance(data, (list, dict)):
        for part in data.values() if isinstance(data, dict) else data:
            yield from _leaves(part)
    else:
        yield data


_TEXT = _Kind("a text", lambda value: isinstance(value, str))
_FLAG = _Kind("true or false", lambda value: isinstance(value, bool))
_MAPPING = _Kind("a mapping", lambda value: isinstance(value, dict))
_LIST = _Kind("a list of values", lambda value: isinstance(value, list) and bool(value))
_NATURAL = _Kind("a whole number from 0 on", _whole(0))
_COUNT = _Kind("a whole number from 1 on", _whole(1))
_RANK = _Kind("a rank from 1 on, or null", lambda value: value is None or _whole(1)(value))
_SCORE = _Kind("a finite number or null", _is_score)
_JSON = _Kind("a text that is JSON of finite numbers", _is_json)
_STATE = _one_of("passed", "failed", "error", "skipped")
_MATCH = _one_of("exact", "span", "fallback_doc", "none")

_FILE = {"suite": _TEXT, "cases": _MAPPING}
_FILE_MORE = {"variant": _TEXT, "metrics": _MAPPING, "provenance": _MAPPING}
_METRIC = {"version": _COUNT, "params": _MAPPING}
_METRIC_MORE = {"steady": _FLAG, "pairs": _NATURAL}
_CASE = {"hash": _TEXT}
_CASE_MORE = {
    "state": _STATE, "scores": _MAPPING, "ranks": _MAPPING, "repeats": _COUNT, "varied": _MAPPING, "match": _MATCH,
    "data": _MAPPING, "concurrency": _COUNT,
}  # fmt: skip
_EACH = {"scores": _SCORE, "ranks": _RANK, "varied": _LIST, "data": _JSON}


def check_baseline(raw: Mapping[str, Any]) -> None:
    """Check every key of the file; keys of newer versions are passed over.

    Raises:
        ShapeError: with the key, what was expected and what was found.
    """
    _check(raw, "", _FILE, _FILE_MORE)
    for name, told in raw.get("metrics", {}).items():
        _check(told, f"metrics.{name}", _METRIC, _METRIC_MORE)
    for name, case in raw["cases"].items():
        where = f"cases.{name}"
        _check(case, where, _CASE, _CASE_MORE)
        for key, kind in _EACH.items():
            for inner, value in case.get(key, {}).items():
                _hold(value, f"{where}.{key}.{inner}", kind)
        for inner, values in case.get("varied", {}).items():
            for value in values:
                _hold(value, f"{where}.varied.{inner}", _SCORE)


def _check(raw: Any, where: str, required: Mapping[str, _Kind], optional: Mapping[str, _Kind]) -> None:
    _hold(raw, where, _MAPPING)
    for key, kind in {**required, **optional}.items():
        path = f"{where}.{key}" if where else key
        if key in raw:
            _hold(raw[key], path, kind)
        elif key in required:
            raise ShapeError(f"there is no key {path!r}")


def _hold(value: Any, where: str, kind: _Kind) -> None:
    if not kind.holds(value):
        raise ShapeError(f"{where}: expected {kind.what}, found {_shown(value)}")


def _shown(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (ValueError, RecursionError):
        return type(value).__name__
    return text if len(text) <= 60 else f"{text[:59]}…"
