"""What the repeats of a run say about judging the next: each metric's noise, and settings that live with it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from ..core.run import MetricInfo, Run
from .policy import CLUSTERS_FOR_STATISTICS, RegressionPolicy
from .statistics.precision import PLANNED_CRITICAL_VALUE, POWER_80

__all__ = ["MetricNoise", "Suggestion", "learn"]

LEAST_REPEATS = 5

MOST_REPEATS = 20
"""More than that nobody waits for; a metric that would need them is only reported."""

SPREAD = 3.0
"""Standard deviations of noise that a bound leaves room for: it is crossed about once in 700 runs."""


@dataclass(frozen=True, slots=True)
class MetricNoise:
    """What one metric did between the repeats of *n* cases, in its own unit.

    Attributes:
        mean: over cases and repeats.
        within: standard deviation of one case asked again, pooled over cases.
        flips: share of the cases whose repeats lie further apart than ``case_max_drop``.
    """

    name: str
    n: int
    mean: float
    within: float
    flips: float

    def of_mean(self, repeats: int = 1) -> float:
        """Return the standard deviation of the suite's mean from run to run, the cases being the same."""
        return self.within / math.sqrt(self.n * repeats)


@dataclass(slots=True)
class Suggestion:
    """Settings to consider.

    ``repeats`` is how often cases were asked, ``repeat`` how often they should be; ``thresholds`` are bounds by metric;
    ``metrics`` what ``regression.metrics`` may say.
    """

    noise: list[MetricNoise] = field(default_factory=list)
    repeats: int = 1
    repeat: int = 1
    thresholds: dict[str, tuple[str, float]] = field(default_factory=dict)
    metrics: dict[str, dict[str, Any]] = field(default_factory=dict)


def learn(run: Run, policy: RegressionPolicy) -> Suggestion:
    """Learn from the repeats of *run*; what errored is left out."""
    clusters = len({c.cluster or c.case_id for c in run.cases.values()})
    noise = [found for name, info in run.metrics.items() if (found := _noise(run, name, info, policy)) is not None]
    out = Suggestion(noise, max((c.repeats for c in run.cases.values()), default=1))
    out.repeat = _repeat([m for m in noise if not _hopeless(m, policy)], policy)
    for metric in noise:
        info = run.metrics[metric.name]
        if (limit := _threshold(metric, info, out.repeat)) is not None:
            out.thresholds[metric.name] = limit
        if own := _tolerances(metric, info, out.repeat, policy, few=clusters < CLUSTERS_FOR_STATISTICS):
            out.metrics[metric.name] = own
    return out


def _noise(run: Run, name: str, info: MetricInfo, policy: RegressionPolicy) -> MetricNoise | None:
    if not info.baselined or not all(map(math.isfinite, info.range)):
        return None
    cases = [[v for v in c.values(name) if v is not None] for c in run.cases.values() if c.state != "error"]
    cases = [values for values in cases if values]
    if not cases:
        return None
    means = [math.fsum(values) / len(values) for values in cases]
    squares = math.fsum((v - m) ** 2 for values, m in zip(cases, means, strict=True) for v in values)
    degrees = sum(len(values) - 1 for values in cases)
    drop = policy.for_metric(name).case_max_drop
    flips = sum(max(values) - min(values) > drop for values in cases)
    within = math.sqrt(squares / degrees) if degrees else 0.0
    return MetricNoise(name, len(cases), math.fsum(means) / len(means), within, flips / len(cases))


def _needed(metric: MetricNoise, policy: RegressionPolicy) -> int:
    """Repeats on both sides until noise alone hides no drop of the margin: (c + 0.84)·within·√(2/(n·R)) ≤ margin."""
    margin = policy.for_metric(metric.name).margin
    if not metric.within or not margin:
        return 1
    shown = (PLANNED_CRITICAL_VALUE + POWER_80) * math.sqrt(2 / metric.n) * metric.within
    return math.ceil((shown / margin) ** 2 - 1e-9)


def _hopeless(metric: MetricNoise, policy: RegressionPolicy) -> bool:
    return _needed(metric, policy) > MOST_REPEATS


def _repeat(noise: list[MetricNoise], policy: RegressionPolicy) -> int:
    if not any(metric.within for metric in noise):
        return 1
    return max(LEAST_REPEATS, *(_needed(metric, policy) for metric in noise))


def _threshold(metric: MetricNoise, info: MetricInfo, repeat: int) -> tuple[str, float] | None:
    room = SPREAD * metric.of_mean(repeat)
    if info.direction == "higher":
        low = math.floor((metric.mean - room) * 100 + 1e-9) / 100
        return ("min", low) if low > info.range[0] else None
    high = math.ceil((metric.mean + room) * 100 - 1e-9) / 100
    return ("max", high) if high < info.range[1] else None


def _tolerances(
    metric: MetricNoise, info: MetricInfo, repeat: int, policy: RegressionPolicy, *, few: bool
) -> dict[str, Any]:
    own, out = policy.for_metric(metric.name), dict[str, Any]()
    if _hopeless(metric, policy):
        out["policy"] = "report"
        return out
    between_runs = SPREAD * math.sqrt(2) * metric.of_mean(repeat)
    if own.policy == "tolerance" or (own.policy == "auto" and few):
        out["min_effect"] = _up(between_runs)
    apart = math.sqrt(2) * metric.within  # of two answers to one case
    if apart > own.case_max_drop:  # below that, counting the repeats that pass is remedy enough
        out["case_max_drop"] = min(_up(SPREAD * apart), info.range[1] - info.range[0])
    return {key: value for key, value in out.items() if value > getattr(own, key)}


def _up(value: float) -> float:
    return math.ceil(value * 100 - 1e-9) / 100
