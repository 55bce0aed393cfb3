"""What a judge costs, and how much it may."""

from __future__ import annotations

from typing import NamedTuple

from .chat import JudgeCallError
from .usage import JudgeUsage


class JudgeBudgetError(JudgeCallError):
    """The budget is used up: nothing more is asked."""


class Prices(NamedTuple):
    """Cost of a million tokens; ``cached_input`` of those that the server had in its cache, by default the same."""

    input: float
    output: float
    cached_input: float | None = None

    def cost(self, prompt: int, completion: int, cached: int) -> float:
        """Return the cost of one reply."""
        of_cached = self.input if self.cached_input is None else self.cached_input
        return ((prompt - cached) * self.input + cached * of_cached + completion * self.output) / 1e6


class Budget(NamedTuple):
    """What may be spent; None is no limit.  Requests under way when it is reached are finished."""

    cost: float | None = None
    tokens: float | None = None
    requests: float | None = None

    def used_up(self, usage: JudgeUsage) -> str:
        """Return which limit *usage* has reached; an empty string while there is money left."""
        spent = {"cost": usage.cost or 0.0, "tokens": usage.tokens, "requests": usage.requests}
        for name, limit in self._asdict().items():
            if limit is not None and spent[name] >= limit:
                return f"the judge's budget is used up: {name} {spent[name]:.10g} of {limit:.10g}"
        return ""
