"""Which metrics come first where there is no room for all: those that broke something, then the others that count."""

from __future__ import annotations

from ...core.run import MetricInfo, Run
from ...regression.verdict import Verdict

__all__ = ["chosen_metrics", "rank_of"]


def chosen_metrics(run: Run, verdict: Verdict, most: int, *, times: bool = False) -> list[str]:
    """Return at most *most* metrics with values of single cases, in the order of the run.

    Those with a failed gate go before those with another gate, and these before the rest; times come last, and only
    where *times* are wanted or a gate is on them.
    """
    names = [n for n, info in run.metrics.items() if _has_values(run, n) and _wanted(info, verdict, times)]
    kept = set(sorted(names, key=lambda n: rank_of(n, run, verdict))[:most])
    return [n for n in names if n in kept]


def _has_values(run: Run, name: str) -> bool:
    return any((s := c.scores.get(name)) is not None and s.value is not None for c in run.cases.values())


def _wanted(info: MetricInfo, verdict: Verdict, times: bool) -> bool:
    if info.name == "empty_result_rate":
        return False
    if times or info.target != "LATENCY":
        return True
    return any(g.metric == info.name and g.state == "failed" for g in verdict.gates)


def rank_of(name: str, run: Run, verdict: Verdict) -> tuple[int, float]:
    """Return what metrics are ordered by, the most important first."""
    asked = [g for g in verdict.gates if g.metric == name and (g.kind == "threshold" or g.state != "passed")]
    change = verdict.comparison.metric(name) if verdict.comparison is not None else None
    failed = sum(g.state == "failed" for g in asked)
    time = run.metrics[name].target == "LATENCY"
    return -failed if failed else 3 if time else 1 if asked else 2, change.gain if change else 0.0
