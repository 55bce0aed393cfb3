"""Runs and results as JSON text and back, number for number."""

from __future__ import annotations

import json
import math

from ..core.json import dumps, encoded, taken_apart
from ..core.run import CaseResult, Run

__all__ = ["result_data", "result_text", "rounded", "run_of", "run_text"]


def run_text(run: Run) -> str:
    """Return *run* without its cases."""
    raw = taken_apart(run)
    del raw["cases"]
    return dumps(raw)


def result_text(result: CaseResult) -> str:
    """Return *result*; what a score does not say is left out."""
    return result_data(result).decode()


def result_data(result: CaseResult) -> bytes:
    """Return `result_text` of *result* in UTF-8."""
    raw = taken_apart(result)
    raw["scores"] = {name: score.said() for name, score in result.scores.items()}
    return encoded(raw, nulls=[*result.ranks.values()].count(None))


def run_of(text: str, results: list[str]) -> Run:
    """Return the run whose `run_text` is *text*, with its *results* in order."""
    run = Run.from_dict(json.loads(text))
    run.add(CaseResult.from_dict(json.loads(result)) for result in results)
    return run


def rounded(value: float | None) -> float | None:
    """Return *value* as it is stored: four decimals, no negative zero, None for what is no number."""
    return None if value is None or not math.isfinite(value) else round(value, 4) + 0.0
