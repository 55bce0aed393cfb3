"""Labels and outputs as people and systems write them, checked where a metric reads them; details of measurements."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from ..errors import MetricError


def nonempty(**details: Any) -> dict[str, Any]:
    """Return the *details* of a measurement without those that have nothing to say."""
    return {name: value for name, value in details.items() if value}


def read_list(raw: Any, where: str, single: type | tuple[type, ...] = str) -> list[Any]:
    """Return *raw* as a list; a value of the type *single* is a list of one.

    Raises:
        MetricError: it is no list; the message names *where* it is, and shows no value, which may be private.
    """
    if isinstance(raw, single):
        return [raw]
    if not isinstance(raw, Collection):
        raise MetricError(f"{where} must be a list, got {type(raw).__name__}")
    return list(raw)


def read_entries(raw: Any, where: str) -> list[Any]:
    """Return *raw* as `read_list` does; a text or a mapping alone is a list of one, None an empty one."""
    return [] if raw is None else read_list(raw, where, (str, Mapping))


def read_number(raw: Any, where: str, kind: type[int] | type[float] = float) -> float:
    """Return *raw* as a number of *kind*; raises `MetricError`, which names *where* it is, where it is none."""
    try:
        return kind(raw)
    except (TypeError, ValueError, OverflowError):
        what = "a whole number" if kind is int else "a number"
        raise MetricError(f"{where} must be {what}, got {raw!r:.80}") from None
