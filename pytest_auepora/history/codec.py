"""Runs, results and verdicts as JSON text and back, number for number."""

from __future__ import annotations

import json
import math
from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import Any

from ..core.run import CaseResult, Run

__all__ = ["dumps", "run_of", "run_text"]


def dumps(value: Any) -> str:
    """Return *value*, which may hold dataclasses, as JSON in ASCII; infinity stays infinity as Python writes it."""
    return json.dumps(value, default=_plain, separators=(",", ":"))


def run_text(run: Run) -> str:
    """Return *run* without its cases."""
    raw = _plain(run)
    del raw["cases"]
    return dumps(raw)


def run_of(text: str, results: list[str]) -> Run:
    """Return the run whose `run_text` is *text*, with its *results* in order."""
    run = Run.from_dict(json.loads(text))
    run.add(CaseResult.from_dict(json.loads(result)) for result in results)
    return run


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {name: getattr(value, name) for name in _names(type(value))}
    if hasattr(value, "tolist"):  # numbers and arrays of numpy
        return value.tolist()
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=str)
    return str(value)


@lru_cache(maxsize=64)
def _names(kind: type[Any]) -> tuple[str, ...]:
    return tuple(f.name for f in fields(kind))


def rounded(value: float | None) -> float | None:
    """Return *value* as it is stored: four decimals, no negative zero, None for what is no number."""
    return None if value is None or not math.isfinite(value) else round(value, 4) + 0.0
