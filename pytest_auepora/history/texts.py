"""A verdict as JSON: what `codec.dumps` makes of it, with the changes of every case written by hand.

A verdict has some changes of a score for each case, which the encoder takes longer to look into than to write.
Those that are not as plain as nearly all are left to `codec.dumps`.  It saves a third of the time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from json.encoder import encode_basestring_ascii as quoted
from typing import TYPE_CHECKING, Any, TypeVar

from .codec import dumps, taken_apart

if TYPE_CHECKING:
    from ..regression.compare import CaseComparison, Comparison, ScoreChange
    from ..regression.verdict import Verdict

__all__ = ["verdict_text"]

T = TypeVar("T")


def verdict_text(verdict: Verdict) -> str:
    """Return ``dumps(verdict)``."""
    if verdict.comparison is None:
        return dumps(verdict)
    return _spliced(verdict, "comparison", _comparison_text(verdict.comparison))


def _comparison_text(comparison: Comparison) -> str:
    return _spliced(comparison, "cases", _mapped(comparison.cases, _case_text))


def _case_text(case: CaseComparison) -> str:
    return _spliced(case, "changes", _mapped(case.changes, _change_text))


def _change_text(change: ScoreChange) -> str:
    before, after, gain = change.before, change.after, change.gain
    if type(before) is type(after) is type(gain) is float and (whole := before + after + gain) - whole == 0:
        errored = "true" if change.errored else "false"
        return f'{{"before":{before!r},"after":{after!r},"gain":{gain!r},"errored":{errored}}}'
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
