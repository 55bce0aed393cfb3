"""Who judges: a critic is one small class with a method `score` or `complete`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, TypeVar

from ...calls.caller import Caller
from ...core.retry import RetryPolicy
from ...errors import MetricError
from .reply import Form, Judgement, JudgeReplyError, Scale, read_reply

T = TypeVar("T")
_UNIT = Scale(0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Question:
    """One prompt, and what a critic may want to know of it.

    ``metric``, ``sample_id``, ``scale``, ``dimension``; ``yes_or_no`` where 0 and 1 are the only scores.
    """

    prompt: str
    metadata: dict[str, Any] = field(default_factory=dict)


class LLMCritic:
    """Somebody who scores.  Implement `score` (a number) or `complete` (the model's text, which is then read).

    Metrics that need more than a score (claims, for instance) need `complete`.  A critic that keeps its reasons
    overrides `judge`, and one whose numbers depend on a model `params`, which becomes part of the fingerprint under
    which scores compare.

    Class attributes:
        concurrency: how many questions it may be asked at once, from several threads.
        retry: which exceptions are answered with another attempt, and after how long; a ``Retry-After`` is honoured.
    """

    concurrency: int = 1
    retry: ClassVar[RetryPolicy | None] = None

    def __new__(cls, *_: Any, **__: Any) -> LLMCritic:
        """Refuse a class that cannot judge.

        Raises:
            TypeError: the class implements neither `score` nor `complete`.
        """
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

    def judge_many(self, questions: Sequence[Question]) -> list[Judgement | Exception]:
        """Judge each; a question that fails gives its exception, and the others still count."""
        return self._each([partial(self.judge, prompt=q.prompt, metadata=dict(q.metadata)) for q in questions])

    def read_many(self, questions: Sequence[Question], form: Form[T] | Sequence[Form[T]]) -> list[T | Exception]:
        """Return what *form*, of all or one of each, reads in the replies; a question that failed, its exception."""

        def ask(q: Question, form: Form[T]) -> T:
            return form.read(self.complete(prompt=q.prompt, schema=form.schema, metadata=dict(q.metadata)))

        return self._each([partial(ask, q, one) for q, one in with_forms(questions, form)])

    def _each(self, asks: Sequence[partial[Any]]) -> list[Any]:
        with Caller(max(1, min(self.concurrency, len(asks))), retry=self.retry) as caller:
            calls = [*caller.map(asks)]
        for call in calls:
            if call.error is not None and not isinstance(call.error, Exception):
                raise call.error
        return [call.value if call.error is None else call.error for call in calls]

    def params(self) -> dict[str, Any]:
        """What changes the numbers: model, temperature, …; JSON-able."""
        return {"critic": type(self).__qualname__}


def with_forms(questions: Sequence[Question], form: Form[T] | Sequence[Form[T]]) -> list[tuple[Question, Form[T]]]:
    """Return *questions*, each with the form of its reply."""
    forms = [form] * len(questions) if isinstance(form, Form) else form
    return [*zip(questions, forms, strict=True)]


def good(reply: T | Exception) -> T:
    """Return *reply*; raises it where it is an exception."""
    if isinstance(reply, Exception):
        raise reply
    return reply


def yes_or_no(reply: Judgement | Exception) -> bool:
    """Return the reply to a yes-or-no question; raises it where it is an exception.

    Raises:
        JudgeReplyError: the score is neither 0 nor 1.
    """
    reply = good(reply)
    if isinstance(reply.score, bool) or reply.score not in (0, 1):
        raise JudgeReplyError(f"the judge was to say 0 or 1, and said {reply.score!r}")
    return bool(reply.score)


def form_of(metadata: Mapping[str, Any]) -> Form[Judgement]:
    """Return the form of the verdict that a question with *metadata* asks for; without a scale any number is one."""
    if metadata.get("yes_or_no"):
        return Form("verdict", _UNIT.form.schema, _read_yes_or_no)
    if "scale" in metadata:
        return Scale(*metadata["scale"]).form
    return Form("verdict", _UNIT.form.schema, lambda text: Judgement(*read_reply(text)))


def _read_yes_or_no(text: str) -> Judgement:
    judged = _UNIT.form.read(text)
    yes_or_no(judged)
    return judged
