"""What the repeats of a run say about thresholds: the noise of each metric, and bounds that an unchanged system keeps.

A bound leaves room for three things that are not known: how far the next run is off, how far this one was, and what so
few answers did not show.  That is t·s·√(1/asked + 1/next)/√n, with s the standard deviation of one case asked again,
and log 20 / log asked whole cases: of a Poisson count that stayed 0 in the repeats, as many or more come with a chance
of 5 %.  All bounds together are missed by chance in `CHANCE` of runs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from ..core.run import CaseResult, MetricInfo, Run
from .baseline import CONTRACTS
from .guards.gates import in_slice
from .policy import RegressionPolicy
from .statistics.precision import t_quantile
from .thresholds import Bound, Gate

CHANCE = 0.005
"""How often all suggested bounds together may be missed by chance; the comparison with the baseline has its own."""


@dataclass(frozen=True, slots=True)
class MetricNoise:
    """What one metric did between the repeats of *n* cases, in its own unit.

    Attributes:
        mean: over cases and repeats.
        within: standard deviation of one case asked again, pooled over cases.
        degrees: of freedom that *within* is known with: few where few cases vary (Satterthwaite).
        asked: repeats of a case, on average.
        varied: share of the cases whose repeats are not all the same.
    """

    name: str
    n: int
    mean: float
    within: float
    degrees: int
    asked: float
    varied: float

    def of_mean(self) -> float:
        """Return the standard deviation of the suite's mean from run to run, the cases being the same."""
        return self.within / math.sqrt(self.n)

    def seen(self, repeats: int, chance: float) -> float:
        """Return how far the mean of another run may be off by the noise that was seen."""
        noise = self.within * math.sqrt((1 / self.asked + 1 / repeats) / self.n)
        return t_quantile(1.0 - chance, self.degrees) * noise

    def unseen(self, width: float) -> float:
        """Return how far it may be off by what was not seen, of a metric whose range is *width* wide."""
        return math.log(20) / math.log(self.asked) * width / self.n if self.asked > 1 else math.inf


@dataclass(slots=True)
class Suggestion:
    """Settings to consider.

    ``repeats`` is how often cases were asked; ``gates`` are bounds that are new, or take the place of one that noise
    would break.

    Attributes:
        missed: bounds that the mean itself misses, which no noise explains.
        too_noisy: bounds that noise would break, where none leaves room for it.
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
    """Learn from the repeats of *run*; what errored is left out.

    Args:
        run: its cases were asked several times.
        gates: the thresholds there are; one that an unchanged system keeps stays as it is.
        policy: of the suite.
        repeat: how often the next runs will ask each case.
    """
    cases = [case for case in run.cases.values() if case.state != "error"]
    out = Suggestion(repeats=max((case.repeats for case in run.cases.values()), default=1))
    bounded = {name: info for name, info in run.metrics.items() if _is_bounded(info)}
    out.noise = [found for name in bounded if (found := _noise(name, cases)) is not None]
    if out.repeats < 2:
        return out
    known = [gate for gate in gates if gate.metric in bounded and gate.stat in ("aggregate", "mean")]
    ungated = set(bounded) - {gate.metric for gate in gates}
    wanted = [*known, *(Gate(name, Bound(_worse_side(bounded[name]), math.nan)) for name in ungated)]
    for gate in sorted(wanted, key=lambda gate: list(run.metrics).index(gate.metric)):
        found = _noise(gate.metric, [case for case in cases if in_slice(case, gate.slice)])
        info = bounded[gate.metric]
        if found is None or gate.bound.op != _worse_side(info):
            continue
        width, is_new = info.range[1] - info.range[0], math.isnan(gate.bound.limit)
        seen = found.seen(repeat, CHANCE / len(wanted))
        if is_new or abs(gate.bound.limit - found.mean) < seen:
            limit = _rounded_off(found.mean, seen + found.unseen(width), info)
            if limit is not None:
                out.gates.append(replace(gate, bound=limit))
            elif not is_new:
                out.too_noisy.append(f"{gate.title} {gate.bound}")
        elif not gate.bound.holds(found.mean):
            out.missed.append(f"{gate.title} {gate.bound}")
    if policy.assertions == "fail":
        out.by_chance = [case.case_id for case in cases if any(len(set(case.values(name))) > 1 for name in CONTRACTS)]
    out.tolerant = [m.name for m in out.noise if m.varied and policy.for_metric(m.name).policy == "tolerance"]
    return out


def _is_bounded(info: MetricInfo) -> bool:
    """Whether the suite's number is a mean of values between two ends."""
    return info.baselined and not info.interval and all(map(math.isfinite, info.range))


def _worse_side(info: MetricInfo) -> Literal["min", "max"]:
    return "min" if info.direction == "higher" else "max"


def _noise(name: str, results: Sequence[CaseResult]) -> MetricNoise | None:
    cases = [values for case in results if (values := [v for v in case.values(name) if v is not None])]
    if not cases:
        return None
    means = [math.fsum(values) / len(values) for values in cases]
    squares = [
        math.fsum((v - m) ** 2 for v in values) if len(set(values)) > 1 else 0.0
        for values, m in zip(cases, means, strict=True)
    ]
    degrees = [max(len(values) - 1, 1) for values in cases]
    within = math.fsum(squares) / sum(degrees)
    spread = math.fsum((s / d) ** 2 / d for s, d in zip(squares, degrees, strict=True))
    known = math.floor(math.fsum(s / d for s, d in zip(squares, degrees, strict=True)) ** 2 / spread) if spread else 1
    return MetricNoise(
        name, len(cases), math.fsum(means) / len(means), math.sqrt(within), max(known, 1),
        sum(map(len, cases)) / len(cases), sum(s > 0 for s in squares) / len(cases),
    )  # fmt: skip


def _rounded_off(mean: float, room: float, info: MetricInfo) -> Bound | None:
    """Return the bound in two decimals; None where it would leave room for nearly everything."""
    low, high = info.range
    if not room <= (high - low) / 2:
        return None
    if info.direction == "higher":
        limit = math.floor((mean - room) * 100 + 1e-9) / 100
        return Bound("min", limit) if limit > low else None
    limit = math.ceil((mean + room) * 100 - 1e-9) / 100
    return Bound("max", limit) if limit < high else None
