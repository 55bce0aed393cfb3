"""The shape of a baseline file: which types and numbers each key may hold.

A baseline is edited and merged by people.  A score that is no finite number would switch a guard off in silence.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Literal, TypedDict

from ...shapes import Kind, is_number

__all__ = ["BaselineShape"]


def _whole(least: int) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and least <= value < 10**9


def _is_json(value: Any) -> bool:
    try:
        return isinstance(value, str) and all(
            leaf is None or isinstance(leaf, (str, bool)) or is_number(leaf) for leaf in _leaves(json.loads(value))
        )
    except (ValueError, RecursionError):
        return False


def _leaves(data: Any) -> Iterator[Any]:
    if isinstance(data, (list, dict)):
        for part in data.values() if isinstance(data, dict) else data:
            yield from _leaves(part)
    else:
        yield data


_Count = Annotated[int, Kind("a whole number from 1 on", _whole(1))]
_Rank = Kind("a rank from 1 on, or null", lambda value: value is None or _whole(1)(value))
_Values = Annotated[
    list[float | None],
    Kind(
        "a list of finite numbers or null",
        lambda value: isinstance(value, list) and bool(value) and all(v is None or is_number(v) for v in value),
    ),
]


class _MetricKeys(TypedDict):
    version: _Count
    params: dict[str, Any]


class _Metric(_MetricKeys, total=False):
    steady: bool
    pairs: Annotated[int, Kind("a whole number from 0 on", _whole(0))]


class _CaseKeys(TypedDict):
    hash: str


class _Case(_CaseKeys, total=False):
    state: Literal["passed", "failed", "error", "skipped"]
    scores: dict[str, float | None]
    ranks: dict[str, Annotated[Any, _Rank]]
    repeats: _Count
    varied: dict[str, _Values]
    match: Literal["exact", "span", "fallback_doc", "none"]
    data: dict[str, Annotated[Any, Kind("a text that is JSON of finite numbers", _is_json)]]
    concurrency: _Count


class _FileKeys(TypedDict):
    suite: str
    cases: dict[str, _Case]


class BaselineShape(_FileKeys, total=False):
    """The file; keys of newer versions are passed over."""

    variant: str
    metrics: dict[str, _Metric]
    provenance: dict[str, Any]
