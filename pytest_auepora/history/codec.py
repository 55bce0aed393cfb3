"""Runs, results and verdicts as JSON text and back, number for number."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from ..core.json_text import dumps, encoded, taken_apart
from ..core.run import CaseResult, Run

if TYPE_CHECKING:
    from ..regression.compare import CaseComparison
    from ..regression.verdict import Verdict

__all__ = ["result_data", "result_text", "rounded", "run_of", "run_text", "verdict_text"]


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


def verdict_text(verdict: Verdict) -> str:
    """Return *verdict*; its cases are put into words one by one, as those of a large run are not held together."""
    comparison = verdict.comparison
    if comparison is None:
        return dumps(verdict)
    raw, rest = taken_apart(verdict), taken_apart(comparison)
    del raw["comparison"], rest["cases"]
    cases = ",".join([f"{dumps(i)}:{dumps(_compared(c), nulls=_nulls(c))}" for i, c in comparison.cases.items()])
    return f'{dumps(raw)[:-1]},"comparison":{{"cases":{{{cases}}},{dumps(rest)[1:]}}}'


def _compared(case: CaseComparison) -> dict[str, Any]:
    raw = taken_apart(case)
    # thousands of them: `taken_apart` would take a third longer
    raw["changes"] = {
        name: {"before": change.before, "after": change.after, "gain": change.gain, "errored": change.errored}
        for name, change in case.changes.items()
    }
    if case.before is not None:
        raw["before"] = taken_apart(case.before)
    return raw


def _nulls(case: CaseComparison) -> int:
    """Count what is mostly all that is None in what `_compared` returns."""
    if (before := case.before) is None:
        return 1
    return [*before.ranks.values()].count(None) + [*before.scores.values()].count(None)


def run_of(text: str, results: list[str]) -> Run:
    """Return the run whose `run_text` is *text*, with its *results* in order."""
    run = Run.from_dict(json.loads(text))
    run.add(CaseResult.from_dict(json.loads(result)) for result in results)
    return run


def rounded(value: float | None) -> float | None:
    """Return *value* as it is stored: four decimals, no negative zero, None for what is no number."""
    return None if value is None or not math.isfinite(value) else round(value, 4) + 0.0
