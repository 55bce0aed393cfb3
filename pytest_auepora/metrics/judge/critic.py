"""What a judge is asked for and what it may reply: critics, scales, strict reading of replies."""

from __future__ import annotations

import json
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...errors import AueporaError

__all__ = ["JudgeReplyError", "Judgement", "LLMCritic", "Question", "Scale", "read_reply", "yes_or_no"]

_REPLY_SHOWN = 200


class JudgeReplyError(AueporaError, ValueError):
    """A judge replied with something that is no score on the scale it was given.  Never a middle value."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Lowest and highest score a judge may give; `to_unit` maps them to 0 and 1."""

    low: float
    high: float

    @classmethod
    def read(cls, text: str) -> Scale:
        """Read ``"0-1"`` or ``"1-5"``."""
        low, _, high = text.partition("-")
        return cls(float(low), float(high))

    def to_unit(self, score: object) -> float:
        """Return *score* in [0, 1].

        Raises:
            JudgeReplyError: it is no number, or not on the scale.
        """
        if isinstance(score, bool) or not isinstance(score, (int, float)) or not math.isfinite(score):
            raise JudgeReplyError(f"the judge's score is not a number: {score!r}")
        if not self.low <= score <= self.high:
            raise JudgeReplyError(f"the judge's score {score:g} is not between {self.low:g} and {self.high:g}")
        return (score - self.low) / (self.high - self.low)


@dataclass(frozen=True, slots=True)
class Judgement:
    """A score as the judge gave it, and why.  ``usage`` is what the call cost, where that is known."""

    score: float
    rationale: str = ""
    usage: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Question:
    """One prompt, and what a critic may want to know of it: ``metric``, ``sample_id``, ``scale``, ``dimension``."""

    prompt: str
    metadata: dict[str, Any] = field(default_factory=dict)


class LLMCritic(ABC):
    """Somebody who scores.  Implement `score`; `judge` and `judge_many` are there to say and do more.

    A critic that keeps its reasons overrides `judge`, one that can work on several prompts at once
    `judge_many`, and one whose numbers depend on a model `params`, which becomes part of the fingerprint under
    which scores compare.
    """

    @abstractmethod
    def score(self, *, prompt: str, metadata: dict[str, Any] | None = None) -> float:
        """Return a number on the scale that *prompt* (and ``metadata["scale"]``, a pair) asks for.

        Raises:
            JudgeReplyError: the model's reply is no such number.
        """

    def judge(self, *, prompt: str, metadata: dict[str, Any] | None = None) -> Judgement:
        """Return the score with its rationale."""
        return Judgement(self.score(prompt=prompt, metadata=metadata))

    def judge_many(self, questions: Sequence[Question]) -> list[Judgement | Exception]:
        """Judge each; a question that fails gives its exception, and the others still count."""
        out: list[Judgement | Exception] = []
        for question in questions:
            try:
                out.append(self.judge(prompt=question.prompt, metadata=dict(question.metadata)))
            except Exception as exc:
                out.append(exc)
        return out

    def params(self) -> dict[str, Any]:
        """What changes the numbers: model, temperature, …; JSON-able."""
        return {"critic": type(self).__qualname__}


def yes_or_no(reply: Judgement | Exception) -> bool:
    """Return the reply to a yes-or-no question; raises it where it is an exception.

    Raises:
        JudgeReplyError: the score is neither 0 nor 1.
    """
    if isinstance(reply, Exception):
        raise reply
    if isinstance(reply.score, bool) or reply.score not in (0, 1):
        raise JudgeReplyError(f"the judge was to say 0 or 1, and said {reply.score!r}")
    return bool(reply.score)


_FENCED = re.compile(r"\s*```(?:json)?\s*\n(?P<inside>.*?)\n\s*```\s*", re.DOTALL)


def read_reply(text: str) -> tuple[float, str]:
    """Return score and rationale of a reply: a JSON object with ``score``, alone or in one code fence, or a number.

    Raises:
        JudgeReplyError: it is anything else.  A score inside prose is not searched for.
    """
    fenced = _FENCED.fullmatch(text)
    try:
        said = json.loads(fenced["inside"] if fenced else text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise JudgeReplyError(f"the judge's reply is not JSON: {_shown(text)}") from None
    score: Any = said
    rationale: Any = ""
    if isinstance(said, Mapping):
        if "score" not in said:
            raise JudgeReplyError(f"the judge's reply has no score: {_shown(text)}")
        score, rationale = said["score"], said.get("rationale", "")
    if isinstance(score, bool) or not isinstance(score, (int, float)):
        raise JudgeReplyError(f"the judge's score is not a number: {_shown(text)}")
    return float(score), rationale if isinstance(rationale, str) else json.dumps(rationale, ensure_ascii=False)


def _no_constant(word: str) -> Any:
    raise ValueError(word)


def _shown(text: str) -> str:
    return repr(text if len(text) <= _REPLY_SHOWN else text[: _REPLY_SHOWN - 1] + "…")
