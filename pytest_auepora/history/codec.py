"""Runs, results and verdicts as JSON text and back, number for number."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from operator import attrgetter
from typing import Any

from ..core.json_text import encoder_of
from ..core.run import CaseResult, Run

__all__ = ["dumps", "rounded", "run_of", "run_text", "taken_apart"]


def dumps(value: Any) -> str:
    """Return *value*, which may hold dataclasses, as JSON in ASCII; infinity stays infinity as Python writes it."""
    return _encoded(value)


def run_text(run: Run) -> str:
    """Return *run* without its cases."""
    raw = taken_apart(run)
    del raw["cases"]
    return dumps(raw)


def run_of(text: str, results: list[str]) -> Run:
    """Return the run whose `run_text` is *text*, with its *results* in order."""
    run = Run.from_dict(json.loads(text))
    run.add(CaseResult.from_dict(json.loads(result)) for result in results)
    return run


def taken_apart(value: Any) -> Any:
    """Return the fields of a dataclass by name, as they are, and of what else JSON does not know what is written."""
    kind = type(value)
    if (taken := _TAKERS.get(kind)) is None:
        if not is_dataclass(kind):
            return _foreign(value)
        names = tuple(f.name for f in fields(kind))
        taken = _TAKERS[kind] = _taker(names)
    return taken(value)


def _taker(names: tuple[str, ...]) -> Callable[[Any], dict[str, Any]]:
    if len(names) < 2:  # of one name `attrgetter` gives no tuple
        return lambda value: {name: getattr(value, name) for name in names}
    all_of = attrgetter(*names)
    return lambda value: dict(zip(names, all_of(value), strict=True))


def _foreign(value: Any) -> Any:
    if hasattr(value, "tolist"):  # numbers and arrays of numpy
        return value.tolist()
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=str)
    return str(value)


_TAKERS: dict[type[Any], Callable[[Any], dict[str, Any]]] = {}
"""What takes a dataclass apart: asked for thousands of values of few kinds, so it is made once a kind."""


_encoded = encoder_of(taken_apart)


def rounded(value: float | None) -> float | None:
    """Return *value* as it is stored: four decimals, no negative zero, None for what is no number."""
    return None if value is None or not math.isfinite(value) else round(value, 4) + 0.0
