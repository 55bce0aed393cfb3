"""Usage and budgets of LLM judges: requests, tokens and cost, counted per request and summed over a run."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from annotated_types import Ge, Le

from ...base.records import HandWritten

if TYPE_CHECKING:
    from ...core.run import Run
    from ...core.scoring import Score

USAGE = "judge_usage"
"""Key of a case's ``extra``: what the judge spent on it, by metric; of a score's ``details`` on its way there."""


REPEAT: ContextVar[int] = ContextVar("auepora_judge_repeat", default=0)
"""Which answer to a case is judged, counted from 0: each has replies of its own in the judge's cache."""


@contextmanager
def repeated(number: int) -> Iterator[None]:
    """Judge the answer *number* to its case, counted from 0, inside the block."""
    token = REPEAT.set(number)
    try:
        yield
    finally:
        REPEAT.reset(token)


class Tally:
    """Base of the dataclasses of counts; a cost may be None, where it is not known."""

    _lock = threading.Lock()

    def add(self, *, notes: Iterable[str] = (), **more: float | None) -> None:
        """Add to the counts; callable from several threads."""
        with self._lock:
            for name, n in more.items():
                if n is not None:
                    setattr(self, name, (getattr(self, name) or 0) + n)
            if notes:
                own = getattr(self, "notes")  # noqa: B009 - not all have some
                own += [note for note in notes if note not in own]

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-able data, without what is zero or missing."""
        values = ((f, getattr(self, f.name)) for f in fields(self))  # type: ignore[arg-type]  # a dataclass
        return {f.name: value for f, value in values if value or (value is not None and f.default is None)}


T = TypeVar("T", bound=Tally)


def summed(kind: type[T], parts: Iterable[Mapping[str, Mapping[str, Any]]]) -> dict[str, T]:
    """Return the sums by name of what `Tally.to_dict` gave."""
    totals: dict[str, T] = {}
    for part in parts:
        for name, counts in part.items():
            totals.setdefault(name, kind()).add(**counts)
    return totals


@dataclass
class JudgeUsage(Tally):
    """Requests and tokens of a judge.

    ``retries`` are among the ``requests``; ``cache_hits`` are not.  ``cached_tokens`` are those of ``prompt_tokens``
    that the server had in a cache of its own.  ``unreported`` counts replies without token counts.  ``cost`` is in the
    currency of the prices, None where none are given.  ``seconds`` is the time spent waiting for replies.  ``unasked``
    requests were not made, as the budget was used up.  ``notes`` say that, and which parameters the server refused.
    """

    requests: int = 0
    retries: int = 0
    cache_hits: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    unreported: int = 0
    unasked: int = 0
    seconds: float = 0.0
    cost: float | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def tokens(self) -> int:
        """Of prompts and replies together."""
        return self.prompt_tokens + self.completion_tokens


Amount = Annotated[float, Ge(0), Le(1e300)]


@dataclass(frozen=True, slots=True)
class Prices(HandWritten):
    """Cost of a million tokens."""

    input: Amount
    """Of what the judge reads."""
    output: Amount
    """Of what it replies."""
    cached_input: Amount | None = None
    """Of input that the server had in its cache; by default that of the other."""

    def cost(self, prompt: int, completion: int, cached: int) -> float:
        """Return the cost of one reply."""
        cached_price = self.input if self.cached_input is None else self.cached_input
        return ((prompt - cached) * self.input + cached * cached_price + completion * self.output) / 1e6


@dataclass(frozen=True, slots=True)
class Budget(HandWritten):
    """What may be spent; null is no limit.  Requests under way when it is reached are finished."""

    cost: Amount | None = None
    """In the currency of the prices."""
    tokens: Amount | None = None
    """Of prompts and replies together."""
    requests: Amount | None = None
    """Sent to the server."""

    def shared_by(self, processes: int) -> Budget:
        """Return the share of one of so many processes."""
        limits = (self.cost, self.tokens, self.requests)
        return Budget(*(None if limit is None else limit / processes for limit in limits))

    def used_up(self, usage: JudgeUsage) -> str:
        """Return which limit *usage* has reached; an empty string while there is money left."""
        spent = {"cost": usage.cost or 0.0, "tokens": usage.tokens, "requests": usage.requests}
        for name, value in spent.items():
            limit = getattr(self, name)
            if limit is not None and value >= limit:
                return f"the judge's budget is used up: {name} {value:.10g} of {limit:.10g}"
        return ""


_METER: ContextVar[JudgeUsage | None] = ContextVar("auepora_judge_usage", default=None)


@contextmanager
def metered() -> Iterator[JudgeUsage]:
    """Count what is spent inside the block, also by threads that run in a copy of its context."""
    token = _METER.set(usage := JudgeUsage())
    try:
        yield usage
    finally:
        _METER.reset(token)


def count(critic_usage: JudgeUsage, **more: Any) -> None:
    """Add to a critic's usage, and to that of the `metered` block around the call."""
    critic_usage.add(**more)
    if (meter := _METER.get()) is not None:
        meter.add(**more)


def pop_usage(scores: Mapping[str, Score]) -> dict[str, dict[str, Any]]:
    """Take the usage out of the details of *scores*; return it by metric, without those that spent nothing."""
    return {name: score.details.pop(USAGE) for name, score in scores.items() if USAGE in score.details}


def usage_of(run: Run) -> dict[str, JudgeUsage]:
    """Return what judges spent in *run*, by metric."""
    return summed(JudgeUsage, (case.judge_usage for case in run.cases.values() if case.judge_usage))
