"""LLM critics and the reading of their replies: a critic is a class with a method `score` or `complete`.

A reply that cannot be read is an error, never a middle value.
"""

from __future__ import annotations

import json
import math
import re
import sys
from abc import ABC
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Generic, TypeGuard, TypeVar

from ...base.files import refuse_constant
from ...base.retry import RetryPolicy
from ...base.text import shorten
from ...calls.caller import Caller
from ...errors import AueporaError, MetricError

_MAX_SHOWN = 200
T = TypeVar("T")


class JudgeReplyError(AueporaError, ValueError):
    """A judge replied with something that is not what it was asked for.  Never a middle value."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A score as the judge gave it, and why."""

    score: float
    rationale: str = ""


@dataclass(frozen=True, slots=True)
class Form(Generic[T]):
    """The form of a reply: a JSON schema for servers that enforce one, and the function that reads the text."""

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
        """Read ``"0-1"``, ``"1-5"``, or verdicts with scores in [0, 1]: ``"no:0|partly:0.5|yes:1"``."""
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
        is_valid = all(word and 0 <= score <= 1 for word, score in words)
        if len(dict(words)) < max(len(words), 2) or not is_valid:
            raise MetricError(f"scale must be 0-1, 1-5 or verdicts like no:0|partly:0.5|yes:1, got {text!r}")
        return cls(0.0, 1.0, words)

    def to_unit(self, score: object) -> float:
        """Return *score* in [0, 1]; raises `JudgeReplyError` where it is no number, or not on the scale."""
        if not _is_number(score):
            raise JudgeReplyError(f"the judge's score is not a number: {score!r:.200}")
        if not self.low <= score <= self.high or (self.words and score not in dict(self.words).values()):
            allowed = " or ".join(f"{s:g}" for _, s in self.words) or f"between {self.low:g} and {self.high:g}"
            raise JudgeReplyError(f"the judge's score {score:g} is not {allowed}")
        return (score - self.low) / (self.high - self.low)

    @property
    def instruction(self) -> str:
        """The sentence that tells the judge the scale."""
        if self.words:
            return f"Give one of these verdicts: {', '.join(word for word, _ in self.words)}."
        if (self.low, self.high) == (0, 1):
            return "Score from 0 (not at all) to 1 (completely); any number between is allowed."
        return f"Score with a whole number from {self.low:g} (not at all) to {self.high:g} (completely)."

    @property
    def reply(self) -> str:
        """The sentence that tells the judge the form of its reply."""
        verdict = '"verdict": "<one of them>"' if self.words else '"score": <number>'
        return f'Reply with one JSON object and nothing else: {{"rationale": "<one or two sentences>", {verdict}}}'

    @cached_property
    def form(self) -> Form[Judgement]:
        """The form of its verdicts."""
        key, enum = ("verdict", {"enum": [word for word, _ in self.words]}) if self.words else ("score", {})
        properties = {"rationale": {"type": "string"}, key: {"type": "string" if self.words else "number", **enum}}
        return Form("verdict", object_schema(properties), self._read)

    def _read(self, text: str) -> Judgement:
        judgement = Judgement(*read_reply(text, dict(self.words)))
        self.to_unit(judgement.score)
        return judgement


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

    Accepts a number alone; else the last JSON object with ``score`` (with *words*: ``verdict``, one of them), also
    inside prose, a code fence or after thoughts; else the last ``Score: 0.9``.

    Raises:
        JudgeReplyError: it is none of these, or holds malformed JSON as well.
    """
    visible = _THOUGHT.sub("", text)
    fields: dict[str, Any] | None
    if not words and re.fullmatch(rf"\s*{_NUMBER}\s*", visible):
        fields = {"score": float(visible)}
    elif (fields := _last_object(visible, ("verdict", "score") if words else ("score",))) is None:
        fields = {"score": _read_score_line(visible, text)}
    raw = next((fields[key] for key in ("rationale", "reason") if key in fields), "")
    rationale = raw if isinstance(raw, str) else json.dumps(raw, ensure_ascii=False)
    if words and "verdict" in fields:
        word = fields["verdict"].strip().casefold() if isinstance(fields["verdict"], str) else ""
        if word not in words:
            raise JudgeReplyError(f"the judge's verdict is none of {', '.join(words)}: {_shown(text)}")
        return words[word], rationale
    score = fields["score"]
    if not _is_number(score):
        raise JudgeReplyError(f"the judge's score is not a number: {_shown(text)}")
    return float(score), rationale


def _is_number(score: object) -> TypeGuard[float]:
    """Whether it is a finite number; whole numbers may be too large to be one."""
    return isinstance(score, (int, float)) and not isinstance(score, bool) and abs(score) <= sys.float_info.max


def _read_score_line(visible: str, text: str) -> float:
    """Return the number after the last ``Score:``; ``8/10`` and ``1 out of 5`` are not accepted."""
    matches = [*_LINE.finditer(visible)]
    if not matches or matches[-1]["rest"].strip(".,;)*_`\"'"):
        raise JudgeReplyError(f"the judge's reply has no score: {_shown(text)}")
    return float(matches[-1]["score"])


def object_form(name: str, properties: Mapping[str, Any], read: Callable[[dict[str, Any]], T]) -> Form[T]:
    """Return the form of a reply whose last object with all *properties* counts; *read* raises for what these allow."""
    schema = object_schema(properties)

    def parse(text: str) -> T:
        if (fields := _last_object(_THOUGHT.sub("", text), [*properties], every=True)) is None:
            raise JudgeReplyError(f"the judge's reply has no {' and '.join(properties)}: {_shown(text)}")
        try:
            _check(fields, schema)
            return read(fields)
        except JudgeReplyError:
            raise
        except (TypeError, KeyError, OverflowError, ValueError):
            raise JudgeReplyError(f"the judge's {name} cannot be read: {_shown(text)}") from None

    return Form(name, schema, parse)


_JSON_TYPES: dict[str, type] = {"object": dict, "array": list, "string": str, "null": type(None)}


def _check(value: Any, schema: Mapping[str, Any]) -> None:
    """Raise `TypeError` or `KeyError` where *value* is not as *schema* says; a number may be anything."""
    types = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    if not any(isinstance(value, _JSON_TYPES.get(name, object)) for name in types):
        raise TypeError
    for key, property_schema in schema.get("properties", {}).items():
        _check(value[key], property_schema)
    for item in value if "items" in schema else ():
        _check(item, schema["items"])


def _last_object(text: str, keys: Sequence[str], *, every: bool = False) -> dict[str, Any] | None:
    """Return the last object with one of *keys*, with *every* all of them.

    Raises for text that looks like an object but is not JSON: it may hide the verdict.
    """
    decoder, last, at = json.JSONDecoder(parse_constant=refuse_constant), None, 0
    while (start := text.find("{", at)) >= 0:
        try:
            value, at = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            if _STRAY.match(text, start):
                raise JudgeReplyError(f"the judge's reply is not JSON: {_shown(text)}") from None
            at = start + 1
            continue
        if (all if every else any)(key in value for key in keys):
            last = value
    return last


def _shown(text: str) -> str:
    return repr(shorten(text, _MAX_SHOWN))


UNIT = Scale(0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Question:
    """One prompt, with metadata for the critic, and the form of its reply; None where a score is asked for.

    Metadata are ``metric``, ``sample_id``, ``scale``, ``dimension``; ``yes_or_no`` where 0 and 1 are the only scores.
    """

    prompt: str
    metadata: dict[str, Any] = field(default_factory=dict)
    form: Form[Any] | None = None


class LLMCritic(ABC):  # noqa: B024 - see below the class
    """A judge of answers.  Implement `score` (a number) or `complete` (the model's text, which is then read).

    Metrics that need more than a score (claims, for instance) need `complete`.  A critic that keeps its reasons
    overrides `judge`, and one whose numbers depend on a model `params`, which becomes part of the fingerprint under
    which scores compare.

    Class attributes:
        concurrency: how many questions it may be asked at once, from several threads.
        retry: which exceptions are answered with another attempt, and after how long; a ``Retry-After`` is honoured.
    """

    concurrency: int = 1
    retry: RetryPolicy | None = None

    def __new__(cls, *_: Any, **__: Any) -> LLMCritic:
        """Raise `TypeError` for a class that implements neither `score` nor `complete`."""
        if cls.score is LLMCritic.score and cls.complete is LLMCritic.complete:
            raise TypeError(f"{cls.__name__} is abstract: it implements neither score() nor complete()")
        return super().__new__(cls)

    def complete(
        self, *, prompt: str, schema: Mapping[str, Any] | None = None, metadata: dict[str, Any] | None = None
    ) -> str:
        """Return the model's reply to *prompt*; *schema* is the JSON schema that it should fit.

        Raises:
            MetricError: this critic can only score.
        """
        raise MetricError(f"{type(self).__name__} can only score: this metric needs a critic with complete()")

    def score(self, *, prompt: str, metadata: dict[str, Any] | None = None) -> float:
        """Return a number on the scale that *prompt* asks for; ``metadata["scale"]`` is its lowest and highest.

        Raises:
            JudgeReplyError: the model's reply is no such number.
        """
        return self.judge(prompt=prompt, metadata=metadata).score

    def judge(self, *, prompt: str, metadata: dict[str, Any] | None = None) -> Judgement:
        """Return the score with its rationale."""
        if type(self).score is not LLMCritic.score:
            return Judgement(self.score(prompt=prompt, metadata=metadata))
        form = form_of(metadata or {})
        return form.read(self.complete(prompt=prompt, schema=form.schema, metadata=metadata))

    def ask_many(self, questions: Sequence[Question]) -> list[Any]:
        """Return what each reply says, a `Judgement` where a score is asked for; a question that fails, its exception.

        Raises:
            BaseException: an error that is no `Exception` ends all questions.
        """
        return [call.value if call.error is None else call.error for call in self._run_calls(questions)]

    def _ask(self, question: Question) -> Any:
        prompt, form, metadata = question.prompt, question.form, dict(question.metadata)
        if form is None:
            return self.judge(prompt=prompt, metadata=metadata)
        return form.read(self.complete(prompt=prompt, schema=form.schema, metadata=metadata))

    def _run_calls(self, questions: Sequence[Question]) -> Iterator[Any]:
        with Caller(max(1, min(self.concurrency, len(questions))), retry=self.retry) as caller:
            for call in caller.map(partial(self._ask, question) for question in questions):
                if call.error is not None and not isinstance(call.error, Exception):
                    raise call.error
                yield call

    def params(self) -> dict[str, Any]:
        """What changes the numbers: model, temperature, …; JSON-able."""
        return {"critic": type(self).__qualname__}


LLMCritic.__abstractmethods__ = frozenset({"score"})  # or complete: for a decorator, a subclass would need both


def unwrap(reply: T | Exception) -> T:
    """Return *reply*; raises it where it is an exception."""
    if isinstance(reply, Exception):
        raise reply
    return reply


def yes_or_no(reply: Judgement | Exception) -> bool:
    """Return the reply to a yes-or-no question; raises it where it is an exception, or an error for any other score."""
    reply = unwrap(reply)
    if isinstance(reply.score, bool) or reply.score not in (0, 1):
        raise JudgeReplyError(f"the judge was to say 0 or 1, and said {reply.score!r}")
    return bool(reply.score)


def form_of(metadata: Mapping[str, Any]) -> Form[Judgement]:
    """Return the form of the verdict that a question with *metadata* asks for; without a scale any number is one."""
    if metadata.get("yes_or_no"):
        return Form("verdict", UNIT.form.schema, _read_yes_or_no)
    if "scale" in metadata:
        return Scale(*metadata["scale"]).form
    return Form("verdict", UNIT.form.schema, lambda text: Judgement(*read_reply(text)))


def _read_yes_or_no(text: str) -> Judgement:
    judgement = UNIT.form.read(text)
    yes_or_no(judgement)
    return judgement
