"""Refusals: whether a case calls for one, and whether an answer is one."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Literal

from ..core.types import EvaluationSample, SystemOutputs
from ..errors import MetricError, did_you_mean
from .ranking.gold import grade_of

__all__ = ["REFUSAL_PATTERNS", "Behaviour", "expected_behaviour", "is_refusal"]

Behaviour = Literal["answer", "refuse", "clarify"]

REFUSAL_PATTERNS = ("i don't know", "i do not know", "cannot answer", "can't answer", "not enough information")
"""Phrases that make an answer a refusal, where neither a person nor the system said whether it is one."""

_BEHAVIOURS: tuple[Behaviour, ...] = ("answer", "refuse", "clarify")


def expected_behaviour(sample: EvaluationSample) -> Behaviour:
    """Return what the system should do with *sample*.

    ``labels["expect"]`` decides.  Without it a case of ``scenario`` ``"unanswerable"``, or one whose
    ``relevant_docs`` are given but hold nothing of grade 1 or more, calls for a refusal; any other for an answer.

    Raises:
        MetricError: ``expect`` is none of answer, refuse and clarify, or a grade is no whole number.
    """
    expect = sample.labels.get("expect")
    if expect is not None:
        for behaviour in _BEHAVIOURS:
            if expect == behaviour:
                return behaviour
        raise MetricError(
            f"expect must be answer, refuse or clarify, got {expect!r}{did_you_mean(str(expect), _BEHAVIOURS)}"
        )
    if sample.labels.get("scenario") == "unanswerable":
        return "refuse"
    gold = sample.relevant_docs
    if gold is not None and not any(map(grade_of, gold)):
        return "refuse"
    return "answer"


def fold(text: str) -> str:
    """Return *text* in NFKC, without case, with plain apostrophes and single blanks: how phrases are looked for."""
    plain = unicodedata.normalize("NFKC", text).replace("\u2019", "'").replace("\u02bc", "'")
    return " ".join(plain.casefold().split())


def is_refusal(
    outputs: SystemOutputs, patterns: Iterable[str] = REFUSAL_PATTERNS, *, label: bool | None = None
) -> bool | None:
    """Whether the answer is a refusal; None where there is no answer to judge.

    A person's *label* decides, then ``response.metadata["refused"]``, then whether one of *patterns* occurs
    in the text, both after `fold`.
    """
    if label is not None:
        return label
    said = (outputs.response.metadata or {}).get("refused")
    if said is not None:
        return bool(said)
    text = fold(outputs.response.text or "")
    if not text:
        return None
    return any(fold(pattern) in text for pattern in patterns)
