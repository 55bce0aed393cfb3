"""Reads what a judge replied: a verdict, or any JSON object that was asked for.  What cannot be read is an error."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, TypeVar

from ...errors import AueporaError, MetricError

_REPLY_SHOWN = 200
T = TypeVar("T")


class JudgeReplyError(AueporaError, ValueError):
    """A judge replied with something that is not what it was asked for.  Never a middle value."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A score as the judge gave it, and why.  ``usage`` is what the call cost, where that is known."""

    score: float
    rationale: str = ""
    usage: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Form(Generic[T]):
    """What a reply has to look like: a JSON schema for servers that enforce one, and how the text is read."""

    name: str
    schema: Mapping[str, Any]
    read: Callable[[str], T]


@dataclass(frozen=True)
class Scale:
    """Lowest and highest score a judge may give; `to_unit` maps them to 0 and 1.

    ``words`` are the verdicts of a categorical scale with the score of each, which is in [0, 1] already.
    """

    low: float
    high: float
    words: tuple[tuple[str, float], ...] = ()

    @classmethod
    def read(cls, text: str) -> Scale:
        """Read ``"0-1"``, ``"1-5"``, or verdicts with their scores: ``"no:0|partly:0.5|yes:1"``.

        Raises:
            MetricError: it is neither, or a score is not between 0 and 1.
        """
        try:
            if ":" not in text:
                low, high = map(float, text.split("-"))
                if not low < high < math.inf:
                    raise ValueError
                return cls(low, high)
            pairs = (part.rpartition(":") for part in text.split("|"))
            words = tuple((word.strip().casefold(), float(score)) for word, _, score in pairs)
        except ValueError:
            words = ()
        sound = all(word and 0 <= score <= 1 for word, score in words)
        if len(dict(words)) < max(len(words), 2) or not sound:
            raise MetricError(f"scale must be 0-1, 1-5 or verdicts like no:0|partly:0.5|yes:1, got {text!r}")
        return cls(0.0, 1.0, words)

    def to_unit(self, score: object) -> float:
        """Return *score* in [0, 1].

        Raises:
            JudgeReplyError: it is no number, or not on the scale.
        """
        if isinstance(score, bool) or not isinstance(score, (int, float)) or not math.isfinite(score):
            raise JudgeReplyError(f"the judge's score is not a number: {score!r}")
        if not self.low <= score <= self.high or (self.words and score not in dict(self.words).values()):
            allowed = " or ".join(f"{s:g}" for _, s in self.words) or f"between {self.low:g} and {self.high:g}"
            raise JudgeReplyError(f"the judge's score {score:g} is not {allowed}")
        return (score - self.low) / (self.high - self.low)

    @property
    def asked(self) -> str:
        """What the judge is told of the scale."""
        if self.words:
            return f"Give one of these verdicts: {', '.join(word for word, _ in self.words)}."
        if (self.low, self.high) == (0, 1):
            return "Score from 0 (not at all) to 1 (completely); any number between is allowed."
        return f"Score with a whole number from {self.low:g} (not at all) to {self.high:g} (completely)."

    @property
    def reply(self) -> str:
        """How the judge is told to reply."""
        verdict = '"verdict": "<one of them>"' if self.words else '"score": <number>'
        return f'Reply with one JSON object and nothing else: {{"rationale": "<one or two sentences>", {verdict}}}'

    @cached_property
    def form(self) -> Form[Judgement]:
        """The form of its verdicts."""
        key, kind = ("verdict", {"enum": [word for word, _ in self.words]}) if self.words else ("score", {})
        properties = {"rationale": {"type": "string"}, key: {"type": "string" if self.words else "number", **kind}}
        return Form("verdict", object_schema(properties), self._read)

    def _read(self, text: str) -> Judgement:
        found = Judgement(*read_reply(text, dict(self.words)))
        self.to_unit(found.score)
        return found


def object_schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of an object that has all *properties* and no other, as strict servers want it."""
    return {
        "type": "object", "properties": dict(properties), "required": [*properties], "additionalProperties": False,
    }  # fmt: skip


_END = r"</think(?:ing)?>"
_THOUGHT = re.compile(  # some servers leave out the first tag; thoughts that never end hold no verdict
    rf"<think(?:ing)?>.*?(?:{_END}|\Z)|\A(?:(?!<think).)*?{_END}", re.DOTALL | re.IGNORECASE
)
_STRAY = re.compile(r'\{\s*"')
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_SHARE = r"(?:(?<![.;])[ \t]*(?:[/%]|(?:out[ \t]+of|of|to)\b))?"
_LINE = re.compile(rf"\bscore\b[\s\"'*_`]*[:=][\s\"'*_`]*(?P<score>{_NUMBER})(?P<rest>\S*{_SHARE})", re.IGNORECASE)


def read_reply(text: str, words: Mapping[str, float] | None = None) -> tuple[float, str]:
    """Return score and rationale of a reply.

    Read are: a number alone; else the last JSON object with ``score`` (with *words*: ``verdict``, one of them), also
    inside prose, a code fence or after thoughts; else the last ``Score: 0.9``.

    Raises:
        JudgeReplyError: it is none of these, or JSON that is not well-formed stands beside it.
    """
    spoken = _THOUGHT.sub("", text)
    if not words and re.fullmatch(rf"\s*{_NUMBER}\s*", spoken):
        return float(spoken), ""
    if (said := _last_object(spoken, ("verdict", "score") if words else ("score",))) is None:
        return _labelled(spoken, text), ""
    rationale = next((said[key] for key in ("rationale", "reason") if key in said), "")
    shown = rationale if isinstance(rationale, str) else json.dumps(rationale, ensure_ascii=False)
    if words and "verdict" in said:
        word = said["verdict"].strip().casefold() if isinstance(said["verdict"], str) else ""
        if word not in words:
            raise JudgeReplyError(f"the judge's verdict is none of {', '.join(words)}: {_shown(text)}")
        return words[word], shown
    score = said["score"]
    if isinstance(score, bool) or not isinstance(score, (int, float)) or not math.isfinite(score):
        raise JudgeReplyError(f"the judge's score is not a number: {_shown(text)}")
    return float(score), shown


def _labelled(spoken: str, text: str) -> float:
    """Return the number after the last ``Score:``; ``8/10`` and ``1 out of 5`` are on nobody's scale."""
    found = [*_LINE.finditer(spoken)]
    if not found or found[-1]["rest"].strip(".,;)*_`\"'"):
        raise JudgeReplyError(f"the judge's reply has no score: {_shown(text)}")
    return float(found[-1]["score"])


def read_object(text: str, keys: Sequence[str]) -> dict[str, Any]:
    """Return the last JSON object of a reply that has all *keys*.

    Raises:
        JudgeReplyError: there is none, or JSON that is not well-formed stands beside it.
    """
    if (found := _last_object(_THOUGHT.sub("", text), keys, every=True)) is None:
        raise JudgeReplyError(f"the judge's reply has no {' and '.join(keys)}: {_shown(text)}")
    return found


def _last_object(text: str, keys: Sequence[str], *, every: bool = False) -> dict[str, Any] | None:
    """Return the last object with one of *keys*, with *every* all of them.

    What looks like an object and is none may hide the verdict, or hold somebody else's: then nothing is read.
    """
    decoder, found, at = json.JSONDecoder(parse_constant=_no_constant), None, 0
    while (start := text.find("{", at)) >= 0:
        try:
            said, at = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            if _STRAY.match(text, start):
                raise JudgeReplyError(f"the judge's reply is not JSON: {_shown(text)}") from None
            at = start + 1
            continue
        if (all if every else any)(key in said for key in keys):
            found = said
    return found


def _no_constant(word: str) -> Any:
    raise ValueError(word)


def _shown(text: str) -> str:
    return repr(text if len(text) <= _REPLY_SHOWN else text[: _REPLY_SHOWN - 1] + "…")
