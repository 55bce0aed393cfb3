"""What LLM judges and the models of the system took: requests, tokens, cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...core.run import CaseResult, Run
from ...metrics.judge.usage import JudgeUsage, usage_of
from ..numbers import plural

if TYPE_CHECKING:
    from ...metrics.service.system_usage import Spending


def judge_lines(run: Run) -> list[str]:
    """Return ``judge: 24 requests, 2,400 + 240 tokens, cost 0.0072``, the same by metric, and problems, if any."""
    if not (usages := usage_of(run)):
        return []
    total = total_usage(usages)
    lines = [f"judge: {usage_text(total)}"]
    if len(usages) > 1:
        lines.append(f"judge by metric: {'; '.join(f'{name} {usage_text(usage)}' for name, usage in usages.items())}")
    unasked = [f"{plural(total.unasked, 'request')} to the judge not made"] if total.unasked else []
    return lines + total.notes + unasked


def total_usage(usages: Mapping[str, JudgeUsage]) -> JudgeUsage:
    """Return the sum of *usages*."""
    total = JudgeUsage()
    for usage in usages.values():
        total.add(**usage.to_dict())
    return total


def usage_text(usage: JudgeUsage) -> str:
    """Return ``24 requests (1 retry), 2,400 + 240 tokens, cost 0.0072``: tokens of prompts, then of replies."""
    extras = [plural(usage.retries, "retry", "retries")] if usage.retries else []
    extras += [f"{usage.cache_hits:,} more from the cache"] if usage.cache_hits else []
    parts = [plural(usage.requests, "request") + (f" ({', '.join(extras)})" if extras else "")]
    if usage.tokens or not usage.unreported:
        parts.append(f"{usage.prompt_tokens:,} + {usage.completion_tokens:,} tokens")
    if usage.unreported:
        parts.append(f"{plural(usage.unreported, 'reply', 'replies')} without token counts")
    if usage.cost is not None:
        parts.append(f"cost {cost_text(usage.cost)}")
    return ", ".join(parts)


def system_lines(run: Run) -> list[str]:
    """Return ``system: 24 model calls, 2,400 + 240 tokens, cost 0.0072``, the same by model, or nothing."""
    if not any(case.system_usage for case in run.cases.values()):
        return []
    from ...metrics.service.system_usage import spending_by_model, total_spending

    models = spending_by_model(run)
    total = total_spending(case.system_usage for case in run.cases.values())
    by_model = "; ".join(f"{model or 'unnamed'} {spending_text(spending)}" for model, spending in models.items())
    return [f"system: {spending_text(total)}", *([f"system by model: {by_model}"] if len(models) > 1 else [])]


def spending_text(spending: Spending) -> str:
    """Return ``24 model calls, 2,400 + 240 tokens, cost 0.0072``: tokens of input, then of output."""
    parts = [plural(spending.calls, "model call")]
    if spending.unreported < spending.calls:
        parts.append(f"{spending.input_tokens:,} + {spending.output_tokens:,} tokens")
    if spending.unreported:
        parts.append(f"{spending.unreported:,} without token counts")
    if spending.unpriced < spending.calls:
        parts.append(f"cost {cost_text(spending.cost)}")
        parts += [f"{spending.unpriced:,} without a cost"] if spending.unpriced else []
    return ", ".join(parts)


def case_usage_text(case: CaseResult) -> str:
    """Return what the judges of one case took, as `usage_text` has it; empty where none was asked."""
    usages = {name: JudgeUsage(**usage) for name, usage in case.judge_usage.items()}
    return usage_text(total_usage(usages)) if usages else ""


def case_spending_text(case: CaseResult) -> str:
    """Return what the system took for one case, as `spending_text` has it; empty where it reported nothing."""
    if not case.system_usage:
        return ""
    from ...metrics.service.system_usage import total_spending

    return spending_text(total_spending([case.system_usage]))


def cost_text(cost: float) -> str:
    """Return a cost with up to six decimals."""
    return f"{cost:,.6f}".rstrip("0").rstrip(".")
