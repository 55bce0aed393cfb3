"""Which repeat of a failed case a person should look at: the worst of those that fail."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...core.run import CaseResult, MetricInfo
from ..compare.cases import CaseComparison
from ..policy import RegressionPolicy
from .steadiness import best_of, passes

__all__ = ["as_shown", "note_worst", "show_instead", "shown_repeat"]

WORST = "worst"
"""Key in ``extra``: the repeat, counted from 1, that failures show, how many there were and how many of them fail;
with its outputs, ranks and the details of its scores where it is not the first."""


def note_worst(
    result: CaseResult, singles: Sequence[CaseResult], comparison: CaseComparison | None,
    metrics: Mapping[str, MetricInfo], *, policy: RegressionPolicy, advisory: Collection[str] = (),
) -> None:  # fmt: skip
    """Keep in *result*, a failed case merged from *singles*, which of them is to be looked at.

    Means, ranks and texts of the result itself stay those they were: one bad answer is no measurement.
    """
    if result.state != "failed" or len(singles) < 2:
        return
    compared = comparison is not None and comparison.paired and not result.quarantined()
    held = comparison.changes if comparison is not None and compared else {}
    changes = {n for n in held if metrics[n].deterministic}  # as the case guard holds them
    bounded = result.extra.get("thresholds", {})
    names = [n for n in result.scores if n in metrics and n not in advisory and (n in changes or n in bounded)]
    values = {n: [single.scores[n].value for single in singles] for n in names}
    before = comparison.before if comparison is not None and compared else None
    best = best_of({n: before.values(n) for n in names if n in changes}, metrics) if before is not None else {}
    good = passes(values, best, result, metrics, policy)
    if all(good):
        return
    bad = [i for i, holds in enumerate(good) if not holds]
    worst = min(bad, key=lambda i: sum(_goodness(values[n][i], metrics[n]) for n in names))
    kept: dict[str, Any] = {"repeat": worst + 1, "of": len(singles), "failing": len(bad)}
    result.extra[WORST] = kept
    if worst:
        show_instead(result, singles[worst])


def show_instead(result: CaseResult, worst: CaseResult) -> None:
    """Let failures show texts, ranks and details of *worst*."""
    details = {n: s.details for n, s in worst.scores.items() if s.details}
    result.extra[WORST] |= {"outputs": worst.outputs, "ranks": worst.ranks, "details": details}


def as_shown(result: CaseResult) -> CaseResult:
    """Return *result* with texts, ranks and details of the repeat to look at; its scores stay the means."""
    kept = result.extra.get(WORST, {})
    if "outputs" not in kept:
        return result
    scores = {n: replace(s, details=kept["details"].get(n, {})) for n, s in result.scores.items()}
    return replace(result, outputs=kept["outputs"], ranks=kept["ranks"], scores=scores)


def shown_repeat(result: CaseResult) -> str:
    """Return ``2 of 3 fail; shown is number 3``; empty where nothing was repeated."""
    kept = result.extra.get(WORST)
    return f"{kept['failing']} of {kept['of']} fail; shown is number {kept['repeat']}" if kept else ""


def _goodness(value: float | None, info: MetricInfo) -> float:
    if value is None:
        return 0.0
    return value if info.direction == "higher" else -value
