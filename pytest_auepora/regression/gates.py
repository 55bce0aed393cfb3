"""Suite thresholds: one gate, one aggregate, one answer."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ..core.by_fields import ByFields
from ..core.metrics_base import Metric
from ..core.run import CaseResult, Run, Score
from ..core.scoring import aggregate
from .policy import RegressionPolicy
from .slices import in_slice
from .thresholds import Bound, Gate

__all__ = [
    "GateKind",
    "GateOutcome",
    "GateState",
    "errored_words",
    "judge_gate",
    "leave_undecided",
    "slice_cases",
]

GateKind = Literal["threshold", "regression", "coverage", "baseline", "calibration", "anchor"]
GateState = Literal["passed", "failed", "inconclusive", "not judged", "advisory"]


@dataclass(eq=False, repr=False, slots=True)
class GateOutcome(ByFields):
    """One judgement on a whole suite, and the sentence that explains it.

    A judge that is not calibrated gives the state ``advisory``; ``would_be`` is then what it would have been.
    """

    title: str
    kind: GateKind
    state: GateState
    message: str
    metric: str = ""
    value: float | None = None
    bound: str = ""
    n: int = 0
    total: int = 0
    owner: str = ""
    line: int = 0
    p: float | None = None
    """How often chance alone would give so clear a drop, this metric taken alone; None where it was not tested."""
    culprits: tuple[str, ...] = ()
    """Ids of the cases that cost most, worst first."""
    before: float | None = None
    """What ``value`` is held against, where that is a number of an earlier run."""
    would_be: str = ""


def leave_undecided(gate: GateOutcome, policy: RegressionPolicy) -> None:
    """Let *gate*, which the data cannot decide, be inconclusive, or fail and say that this is why."""
    gate.state = "inconclusive"
    if policy.on_inconclusive == "fail":
        gate.state, gate.message = "failed", f"inconclusive (on_inconclusive: fail): {gate.message}"


def slice_cases(run: Run, wanted: Mapping[str, str]) -> list[CaseResult]:
    """Return the cases that were not skipped and whose labels have every value of *wanted*.

    ``tag`` is in a case's tags; a missing label matches ``none``.
    """
    return [c for c in run.cases.values() if c.state != "skipped" and in_slice(c, wanted)]


def judge_gate(run: Run, gate: Gate, metrics: Mapping[str, Metric]) -> GateOutcome:
    """Judge one threshold over the cases of its slice.  Nothing measured is a failure, never a pass."""
    cases = slice_cases(run, gate.slice)
    out = GateOutcome(
        gate.title, "threshold", "passed", "", gate.metric, bound=str(gate.bound), total=len(cases),
        owner=gate.owner or run.owner_of(gate.metric), line=gate.line,
    )  # fmt: skip
    if not cases:
        return _fail(out, f"no case ran in the slice {dict(gate.slice)}" if gate.slice else "no case ran")
    if gate.metric in ("error_rate", "pass_rate"):
        hits = "error" if gate.metric == "error_rate" else "passed"
        value = sum(c.state == hits for c in cases) / len(cases)
        culprits = [c.case_id for c in cases if (c.state == "error") or (hits == "passed" and c.state != hits)]
        out.n, out.value, out.culprits = len(cases), value, tuple(culprits)
        return _settle(out, gate.bound)
    metric = metrics[gate.metric]
    scores = {c.case_id: c.scores[gate.metric] for c in cases if gate.metric in c.scores}
    return _judge_metric(out, gate, metric, scores, run)


def _judge_metric(out: GateOutcome, gate: Gate, metric: Metric, scores: Mapping[str, Score], run: Run) -> GateOutcome:
    out.n = sum(s.measurement is not None for s in scores.values())
    n_error = sum(s.state == "error" for s in scores.values())
    if not out.n:
        return _fail(out, f"nothing was measured: {_why_nothing(scores.values())}")
    if gate.stat == "aggregate":
        out.value = aggregate(metric, list(scores.values())).gated
    else:
        out.value = _statistic(gate, metric, scores, run)
    if out.value is None:
        return _fail(out, f"{n_error} cases errored, and an error has no worst {gate.metric} to count with")
    sign = 1 if metric.direction == "higher" else -1
    ranked = sorted(scores, key=lambda i: sign * _value(scores[i], metric))
    out.culprits = tuple(i for i in ranked if not gate.bound.holds(_value(scores[i], metric)))[:5]
    return _settle(out, gate.bound, n_error)


def _why_nothing(scores: Collection[Score]) -> str:
    """An error, if there is one: beside an outage it does not matter which labels are missing."""
    errors = sorted({s.reason.partition("\n")[0] for s in scores if s.state == "error"})
    if errors:
        return errors[0].removeprefix("pytest_auepora.errors.")
    reasons = sorted({s.reason for s in scores if s.reason})
    return "; ".join(reasons[:2]) or "the metric gave no score"


def errored_words(n_error: int) -> str:
    """Return what is said of *n_error* errored cases beside a value that counts them."""
    return f"{n_error} errored and {'counts' if n_error == 1 else 'count'} as the worst value"


def _value(score: Score, metric: Metric) -> float:
    if score.state == "error":
        return metric.worst
    return score.value if score.value is not None else math.copysign(math.inf, 1)


def _statistic(gate: Gate, metric: Metric, scores: Mapping[str, Score], run: Run) -> float | None:
    values = sorted(_value(s, metric) for s in scores.values() if s.state == "error" or s.value is not None)
    if not values or not all(map(math.isfinite, values)):
        return None
    if gate.stat == "pass_rate":
        bounds = _case_bounds(run, gate.metric)
        kept = [i for i, s in scores.items() if s.state == "error" or s.value is not None]
        return sum(all(b.holds(_value(scores[i], metric)) for b in bounds.get(i, ())) for i in kept) / len(kept)
    if gate.stat == "mean":
        return sum(values) / len(values)
    quantile = {"min": 0.0, "median": 0.5, "max": 1.0}.get(gate.stat)
    if quantile is None:
        quantile = int(gate.stat[1:]) / 100
    return nearest_rank(values, quantile)


def nearest_rank(values: Sequence[float], quantile: float) -> float:
    """Return the nearest-rank quantile of sorted *values*: index ``ceil(q * n) - 1``."""
    return values[max(0, math.ceil(quantile * len(values) - 1e-12) - 1)]


def _case_bounds(run: Run, metric: str) -> dict[str, tuple[Bound, ...]]:
    out: dict[str, tuple[Bound, ...]] = {}
    for case_id, case in run.cases.items():
        raw = case.extra.get("thresholds", {}).get(metric, ())
        out[case_id] = tuple(Bound(op, limit) for op, limit in raw)
    return out


def _settle(out: GateOutcome, bound: Bound, n_error: int = 0) -> GateOutcome:
    assert out.value is not None
    out.state = "passed" if bound.holds(out.value) else "failed"
    word = "is" if out.state == "passed" else "is not"
    errors = f", {errored_words(n_error)}" if n_error else ""
    out.message = f"{out.title} {_shown(out.value, bound)} {word} {bound} (over {out.n} of {out.total} cases{errors})"
    return out


def _shown(value: float, bound: Bound) -> str:
    """Format with four decimals, or as many as it takes for 0.79996 not to read as 0.8."""
    texts = (f"{value:.{places}f}" for places in (4, 6, 8, 10, 12))
    return next((t for t in texts if bound.holds(float(t)) == bound.holds(value)), repr(value))


def _fail(out: GateOutcome, why: str) -> GateOutcome:
    out.state, out.message = "failed", f"{out.title}: {why}"
    return out
