"""A result and a verdict as JSON: what `codec.dumps` makes of them, with their many small parts written by hand.

A case has some ten scores, and a verdict as many changes of them for each case: the encoder takes longer to look into
each than to write it.  A score or a change that is not as plain as nearly all are is left to `codec.dumps`.  It saves
a quarter of the time of a result and a third of that of a verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from ..core.json_text import number, quoted
from ..core.run import CaseResult, Score
from .codec import dumps, taken_apart

if TYPE_CHECKING:
    from ..regression.compare import CaseComparison, Comparison, ScoreChange
    from ..regression.verdict import Verdict

__all__ = ["result_text", "verdict_text"]

T = TypeVar("T")


def result_text(result: CaseResult) -> str:
    """Return ``dumps(result)``."""
    if type(result) is not CaseResult:
        return dumps(result)
    rest = taken_apart(result)
    for name in ("case_id", "state", "scores"):  # the first three, and nothing lies before them
        del rest[name]
    scores = _mapped(result.scores, _score_text)
    return f'{{"case_id":{quoted(result.case_id)},"state":"{result.state}","scores":{scores},{dumps(rest)[1:]}'


def verdict_text(verdict: Verdict) -> str:
    """Return ``dumps(verdict)``."""
    if verdict.comparison is None:
        return dumps(verdict)
    return _spliced(verdict, "comparison", _comparison_text(verdict.comparison))


def _comparison_text(comparison: Comparison) -> str:
    return _spliced(comparison, "cases", _mapped(comparison.cases, _case_text))


def _case_text(case: CaseComparison) -> str:
    return _spliced(case, "changes", _mapped(case.changes, _change_text))


def _score_text(score: Score) -> str:
    value = score.value
    if type(value) is not float or value - value != 0 or score.reason or score.data is not None:
        return dumps(score)
    details = dumps(score.details) if score.details else "{}"
    return f'{{"state":"{score.state}","value":{number(value)},"reason":"","data":null,"details":{details}}}'


def _change_text(change: ScoreChange) -> str:
    before, after, gain = change.before, change.after, change.gain
    if type(before) is type(after) is type(gain) is float and (whole := before + after + gain) - whole == 0:
        errored = "true" if change.errored else "false"
        return f'{{"before":{number(before)},"after":{number(after)},"gain":{number(gain)},"errored":{errored}}}'
    return dumps(change)


def _mapped(values: Mapping[str, T], text_of: Callable[[T], str]) -> str:
    return f"{{{','.join([f'{quoted(name)}:{text_of(value)}' for name, value in values.items()])}}}"


def _spliced(value: Any, name: str, text: str) -> str:
    """Return ``dumps(value)`` of a dataclass, given the *text* of its field *name*."""
    parts = taken_apart(value)
    names = list(parts)
    place = names.index(name)
    around = [{n: parts[n] for n in some} for some in (names[:place], names[place + 1 :])]
    before, after = (dumps(some)[1:-1] for some in around)
    here = f'"{name}":{text}'
    return f"{{{','.join([part for part in (before, here, after) if part])}}}"
