"""Metric results as a dict for JSON and as a Markdown table."""

from __future__ import annotations

from collections.abc import Iterable

from ..core.types import MetricResult
from .numbers import NOT_MEASURED, number

__all__ = ["results_to_dict", "results_to_markdown"]


def results_to_dict(results: Iterable[MetricResult]) -> dict[str, dict[str, float]]:
    """Group values by target category, then by metric name.

    ``{"RETRIEVAL_RELEVANCE": {"recall@5": 0.83}, "GENERATION_CORRECTNESS": {"rougeL_answer": 0.61}}``.  Values are
    the unrounded floats of `MetricResult`, also where they stand on no sample.
    """
    out: dict[str, dict[str, float]] = {}
    for result in results:
        out.setdefault(result.target.name, {})[result.name] = result.value
    return out


def results_to_markdown(results: Iterable[MetricResult]) -> str:
    """Return a Markdown table of target, metric and value with four decimals.

    A value that stands on no sample (``details["num_samples"] == 0``) is shown as ``n/a``: nothing was measured.
    """
    lines = ["| Target | Metric | Value |", "|--------|--------|-------|"]
    for result in results:
        value = NOT_MEASURED if result.details.get("num_samples") == 0 else number(result.value, 4)
        name = result.name.replace("\\", "\\\\").replace("|", "\\|")  # options such as refusal_patterns may hold one
        lines.append(f"| {result.target.name} | {name} | {value} |")
    return "\n".join(lines)
