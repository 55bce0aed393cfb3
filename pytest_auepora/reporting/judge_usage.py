"""What LLM judges spent, in words and as data: requests, tokens and cost of a run, by metric."""

from __future__ import annotations

from typing import Any

from ..core.run import Run
from ..metrics.judge.usage import JudgeUsage, usage_of
from .numbers import plural

_STOPPED = "JudgeBudgetError: "


def judge_lines(run: Run) -> list[str]:
    """Return ``judge: 24 requests, 2,400 + 240 tokens, cost 0.0072``, the same by metric, and what went wrong.

    Nothing for a run that asked no judge.
    """
    found = usage_of(run)
    if not found:
        return []
    lines = [f"judge: {usage_text(_total(found))}"]
    if len(found) > 1:
        lines.append(f"judge by metric: {'; '.join(f'{name} {_brief(usage)}' for name, usage in found.items())}")
    stopped = [s.reason for c in run.cases.values() for s in c.scores.values() if s.reason.startswith(_STOPPED)]
    if stopped:
        lines.append(f"{stopped[0].removeprefix(_STOPPED)}: {plural(len(stopped), 'score')} not judged")
    return lines + _total(found).notes


def judge_usage_dict(run: Run) -> dict[str, Any]:
    """Return the usage by metric, and in ``total``; nothing for a run that asked no judge."""
    found = usage_of(run)
    if not found:
        return {}
    return {"total": _total(found).to_dict(), "metrics": {name: usage.to_dict() for name, usage in found.items()}}


def cost_text(cost: float) -> str:
    """Return a cost to the millionth."""
    return f"{cost:,.6f}".rstrip("0").rstrip(".")


def _total(found: dict[str, JudgeUsage]) -> JudgeUsage:
    total = JudgeUsage()
    for usage in found.values():
        total.add(**usage.to_dict())
    return total


def _brief(usage: JudgeUsage) -> str:
    cost = "" if usage.cost is None else f", {cost_text(usage.cost)}"
    return f"{plural(usage.requests, 'request')}, {usage.tokens:,} tokens{cost}"


def usage_text(usage: JudgeUsage) -> str:
    """Return ``24 requests (1 retry), 2,400 + 240 tokens, cost 0.0072``: prompts' tokens, then replies'."""
    beside = [plural(usage.retries, "retry", "retries")] if usage.retries else []
    beside += [f"{usage.cache_hits:,} more from the cache"] if usage.cache_hits else []
    told = [plural(usage.requests, "request") + (f" ({', '.join(beside)})" if beside else "")]
    if usage.tokens or not usage.unreported:
        told.append(f"{usage.prompt_tokens:,} + {usage.completion_tokens:,} tokens")
    if usage.unreported:
        told.append(f"{plural(usage.unreported, 'reply', 'replies')} without token counts")
    if usage.cost is not None:
        told.append(f"cost {cost_text(usage.cost)}")
    return ", ".join(told)
