"""Thresholds suggested from the repeats of a run, which an unchanged system keeps, and the noise of each metric.

A suggested threshold allows for noise in the next run, noise in this run, and rare failures not seen in the repeats.
Width: t·s·√(1/repeats + 1/next)/√n, s being the standard deviation within a case, plus a Poisson bound for failures not
seen: log 20 / log repeats whole cases.  All thresholds together fail by chance in at most `CHANCE` of runs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from ..core.run import CaseResult, MetricInfo, Run
from .guards.gates import in_slice
from .policy import RegressionPolicy
from .statistics.precision import mean, sum_of_squares, t_quantile
from .thresholds import Bound, Gate

CHANCE = 0.005
"""How often any suggested threshold may fail by chance; `alpha` is for the comparison with the baseline."""


@dataclass(frozen=True, slots=True)
class MetricNoise:
    """How one metric varies between the repeats of *n* cases, in its own unit.

    Attributes:
        mean: over cases and repeats.
        within: standard deviation between repeats of a case, pooled over cases.
        degrees: degrees of freedom of *within* (Satterthwaite): few if few cases vary.
        repeats: answers per case, on average.
        varied: share of the cases whose repeats differ.
    """

    name: str
    n: int
    mean: float
    within: float
    degrees: int
    repeats: float
    varied: float

    def sd_of_mean(self) -> float:
        """Return the standard deviation of the suite's mean from run to run, the cases being the same."""
        return self.within / math.sqrt(self.n)

    def noise_margin(self, repeats: int, chance: float) -> float:
        """Return how far the mean of a run with so many *repeats* may be off by noise."""
        noise = self.within * math.sqrt((1 / self.repeats + 1 / repeats) / self.n)
        return t_quantile(1.0 - chance, self.degrees) * noise

    def rare_failure_margin(self, width: float) -> float:
        """Return how far it may be off by failures not seen in the repeats; *width* is that of the metric's range."""
        return math.log(20) / math.log(self.repeats) * width / self.n if self.repeats > 1 else math.inf


@dataclass(slots=True)
class Suggestion:
    """Suggested settings.

    Attributes:
        noise: of each metric.
        repeats: how often cases were asked.
        gates: new thresholds, and wider ones for those that noise would break.
        missed: thresholds that the mean misses by more than noise.
        too_noisy: thresholds that noise would break, and no wider one is useful.
        by_chance: cases whose assertions hold in some answers only.
        tolerant: metrics that vary and are compared with the baseline by a fixed tolerance.
    """

    noise: list[MetricNoise] = field(default_factory=list)
    repeats: int = 1
    gates: list[Gate] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    too_noisy: list[str] = field(default_factory=list)
    by_chance: list[str] = field(default_factory=list)
    tolerant: list[str] = field(default_factory=list)

    def bound(self, name: str) -> Bound | None:
        """Return the bound suggested for metric *name* over all cases."""
        return next((gate.bound for gate in self.gates if gate.title == name), None)


def learn(run: Run, gates: Sequence[Gate], policy: RegressionPolicy, repeat: int = 1) -> Suggestion:
    """Return settings suggested from the repeats of *run*; errored cases are left out.

    Of *gates*, the present thresholds, those stay as they are that an unchanged system keeps.  The next runs will ask
    each case *repeat* times.
    """
    cases = [case for case in run.cases.values() if case.state != "error"]
    out = Suggestion(repeats=max((case.repeats for case in run.cases.values()), default=1))
    bounded = {  # metrics whose aggregate is a mean of values in a finite range
        name: info
        for name, info in run.metrics.items()
        if info.baselined and not info.interval and all(map(math.isfinite, info.range))
    }
    out.noise = [noise for name in bounded if (noise := _noise(name, cases)) is not None]
    if out.repeats < 2:
        return out
    mean_gates = [gate for gate in gates if gate.metric in bounded and gate.stat in ("aggregate", "mean")]
    ungated = set(bounded) - {gate.metric for gate in gates}
    candidates = [*mean_gates, *(Gate(name, Bound(_worse_side(bounded[name]), math.nan)) for name in ungated)]
    for gate in sorted(candidates, key=lambda gate: list(run.metrics).index(gate.metric)):
        noise = _noise(gate.metric, [case for case in cases if in_slice(case, gate.slice)])
        info = bounded[gate.metric]
        if noise is None or gate.bound.op != _worse_side(info):
            continue
        width, is_new = info.range[1] - info.range[0], math.isnan(gate.bound.limit)
        margin = noise.noise_margin(repeat, CHANCE / len(candidates))
        if is_new or abs(gate.bound.limit - noise.mean) < margin:
            limit = _rounded_bound(noise.mean, margin + noise.rare_failure_margin(width), info)
            if limit is not None:
                out.gates.append(replace(gate, bound=limit))
            elif not is_new:
                out.too_noisy.append(f"{gate.title} {gate.bound}")
        elif not gate.bound.holds(noise.mean):
            out.missed.append(f"{gate.title} {gate.bound}")
    if policy.assertions == "fail":
        asserted = ((case, case.answers.assertions.values()) for case in cases if case.answers is not None)
        out.by_chance = [case.case_id for case, columns in asserted if any(len({*held}) > 1 for held in columns)]
    out.tolerant = [m.name for m in out.noise if m.varied and policy.for_metric(m.name).policy == "tolerance"]
    return out


def _worse_side(info: MetricInfo) -> Literal["min", "max"]:
    return "min" if info.direction == "higher" else "max"


def _noise(name: str, results: Sequence[CaseResult]) -> MetricNoise | None:
    cases = [values for case in results if (values := [v for v in case.values(name) if v is not None])]
    if not cases:
        return None
    n = len(cases)
    squares = [sum_of_squares(values) if len(set(values)) > 1 else 0.0 for values in cases]
    degrees = [max(len(values) - 1, 1) for values in cases]
    variances = [square / degree for square, degree in zip(squares, degrees, strict=True)]
    spread = math.fsum(variance**2 / degree for variance, degree in zip(variances, degrees, strict=True))
    return MetricNoise(
        name, n, mean([mean(values) for values in cases]),
        within=math.sqrt(math.fsum(squares) / sum(degrees)),
        degrees=max(math.floor(math.fsum(variances) ** 2 / spread), 1) if spread else 1,
        repeats=sum(map(len, cases)) / n,
        varied=sum(square > 0 for square in squares) / n,
    )  # fmt: skip


def _rounded_bound(mean: float, margin: float, info: MetricInfo) -> Bound | None:
    """Return the bound in two decimals; None if it would allow nearly everything."""
    low, high = info.range
    if not margin <= (high - low) / 2:
        return None
    if info.direction == "higher":
        limit = math.floor((mean - margin) * 100 + 1e-9) / 100
        return Bound("min", limit) if limit > low else None
    limit = math.ceil((mean + margin) * 100 - 1e-9) / 100
    return Bound("max", limit) if limit < high else None
