"""Labels and outputs as people and systems write them, checked where a metric reads them; details of measurements."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Literal, cast

from ..base.text import did_you_mean
from ..core.types import Document, EvaluationSample
from ..errors import MetricError

Behaviour = Literal["answer", "refuse", "clarify"]
_BEHAVIOURS = ("answer", "refuse", "clarify")


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


def read_flag(raw: Any, where: str) -> bool:
    """Return *raw* as true or false, which a text never is; raises `MetricError` where it is neither."""
    if raw not in (0, 1):
        raise MetricError(f"{where} must be true or false, got {raw!r:.80}")
    return bool(raw)


def grade_of(document: Document) -> int:
    """Return the relevance grade of a gold document: 1 unless it says otherwise, never below -1.

    Raises:
        MetricError: the grade is no whole number.
    """
    grade: Any = document.metadata.get("grade", 1) if document.metadata else 1
    if not isinstance(grade, int) and not (isinstance(grade, float) and grade.is_integer()):
        raise MetricError(f"grade of {document.doc_id!r} must be a whole number, got {grade!r}")
    return max(int(grade), -1)


def expected_behaviour(sample: EvaluationSample) -> Behaviour:
    """Return what the system should do with *sample*.

    ``labels["expect"]`` decides.  Without it a case of ``scenario`` ``"unanswerable"``, or one whose
    ``relevant_docs`` are given but hold nothing of grade 1 or more, calls for a refusal; any other for an answer.

    Raises:
        MetricError: ``expect`` is none of answer, refuse and clarify, or a grade is no whole number.
    """
    expect = sample.labels.get("expect")
    if expect is not None:
        if expect not in _BEHAVIOURS:
            near = did_you_mean(str(expect), _BEHAVIOURS)
            raise MetricError(f"expect must be answer, refuse or clarify, got {expect!r}{near}")
        return cast("Behaviour", expect)
    if sample.labels.get("scenario") == "unanswerable":
        return "refuse"
    gold = sample.relevant_docs
    if gold is not None and not any(grade_of(d) > 0 for d in gold):
        return "refuse"
    return "answer"
