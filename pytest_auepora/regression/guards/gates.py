"""Suite gates: the thresholds of a suite, and what all outcomes share."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from heapq import nsmallest
from types import MappingProxyType

from ...core.metrics_base import Metric, nearest_rank
from ...core.run import CaseResult, Run
from ...core.scoring import ScoreList, aggregate
from ..compare import MetricChange
from ..outcomes import GateOutcome, Outcome
from ..policy import RegressionPolicy
from ..thresholds import PSEUDO_METRICS, Bound, Gate


def regression_outcome(
    run: Run, metric: str, shown: MetricChange | None = None, *, stat: str = "aggregate",
    labels: Mapping[str, str] = MappingProxyType({}), n: int = 0, dropped: Sequence[str] = (),
) -> GateOutcome:  # fmt: skip
    """Create the outcome of a metric or a slice of it, over *n* cases of which some *dropped*, worst first."""
    before, after = (shown.before, shown.after) if shown is not None else (None, None)
    return GateOutcome(
        "regression", "passed", metric, stat, dict(labels), value=after, before=before, n=n, total=len(run.cases),
        owner=run.owner_of(metric), worst_cases=tuple(dropped[:5]),
    )  # fmt: skip


def apply_outcome(gate: GateOutcome, outcome: Outcome, policy: RegressionPolicy) -> None:
    """Set state and word of *gate* by the *outcome* of its test; the policy says what an inconclusive one does."""
    gate.word = outcome
    if outcome == "worse" or (outcome == "inconclusive" and policy.on_inconclusive == "fail"):
        gate.state = "failed"
    elif outcome == "inconclusive":
        gate.state = "inconclusive"


def in_slice(case: CaseResult, slice_labels: Mapping[str, str]) -> bool:
    """Whether *case* has every label value of *slice_labels*.

    ``tag`` is in a case's tags; a label that a case does not have is ``none``.
    """
    return all(str(value) in label_values(case, key, "none") for key, value in slice_labels.items())


def label_values(case: CaseResult, key: str, missing: str = "") -> list[str]:
    """Return the values of a label of *case*: several for ``tag``, else one or none."""
    if key == "tag":
        return [str(tag) for tag in case.labels.get("tags", ())]
    value = str(case.labels.get(key, missing))
    return [value] if value else []


def judge_gate(run: Run, gate: Gate, metrics: Mapping[str, Metric]) -> GateOutcome:
    """Judge one threshold over the cases of its slice: failed if none was measured, not judged if all were skipped.

    The default bound on ``error_rate`` counts cases that raised in every answer asked for, one that the user wrote
    those that raised in the first.
    """
    cases = [case for case in run.cases.values() if in_slice(case, gate.slice)]
    ran = [case for case in cases if case.state != "skipped"]
    out = GateOutcome(
        "threshold", "failed", gate.metric, gate.stat, dict(gate.slice), op=gate.bound.op, limit=gate.bound.limit,
        total=len(ran), owner=gate.owner or run.owner_of(gate.metric), line=gate.line,
    )  # fmt: skip
    if not ran and cases:
        reasons = dict.fromkeys(case.error for case in cases if case.error)
        out.state, out.reason, out.detail = "not judged", "all skipped", "; ".join([*reasons][:2])
    elif not ran:
        out.reason = "no case ran"
    elif gate.metric in PSEUDO_METRICS:
        counted = [case for case in ran if is_counted(case, gate.metric, first=bool(gate.line))]
        bad = counted if gate.metric == "error_rate" else [case for case in ran if case.state != "passed"]
        out.worst_cases = tuple(case.case_id for case in bad[:5])
        out.n, out.value = len(ran), len(counted) / len(ran)
    else:
        _measure(out, gate, metrics[gate.metric], run)
    if out.value is not None and gate.bound.holds(out.value):
        out.state = "passed"
    return out


def is_counted(case: CaseResult, rate: str, *, first: bool = False) -> bool:
    """Whether a case that ran counts in ``error_rate`` or ``pass_rate``; the error of an ``xfail`` case does not.

    With *first* an error counts that was in the first answer alone.
    """
    if rate == "error_rate":
        return (case.raised_at_first if first else case.state == "error") and not case.expected_to_fail
    return case.state == "passed"


def _measure(out: GateOutcome, gate: Gate, metric: Metric, run: Run) -> None:
    """Set the value of *out*, or why it has none, and how many errors it counts."""
    scores = run.scores_of(gate.metric, lambda case: in_slice(case, gate.slice))
    out.n = len(scores.measured)
    n_error = sum(s.state == "error" for s in scores)
    if not out.n:
        out.reason, out.detail = "nothing measured", missing_reason(scores)
        return
    values = {
        i: metric.worst if s.value is None else s.value  # an error counts as the worst value
        for i, s in zip(scores.ids, scores, strict=True)
        if s.state == "error" or s.value is not None
    }
    if gate.stat == "aggregate":
        total = aggregate(metric, scores)
        if total.problem:
            out.reason, out.detail = "aggregate failed", total.problem
            return
        out.value = total.gated
    else:
        out.value = _statistic(gate, values, run)
    out.n_error = n_error
    if out.value is None:
        out.reason = "no worst value"
        return
    sign = 1 if metric.direction == "higher" else -1
    failing = (i for i, value in values.items() if not gate.bound.holds(value))
    out.worst_cases = tuple(nsmallest(5, failing, key=lambda i: sign * values[i]))


def missing_reason(scores: ScoreList) -> str:
    """Return why none of *scores* is a number: the most frequent error, or else why they are n/a."""
    errors = Counter(s.reason.partition("\n")[0] for s in scores if s.state == "error")
    if errors:
        return min(errors, key=lambda error: (-errors[error], error))
    reasons = sorted({s.reason for s in scores if s.reason})
    return "; ".join(reasons[:2])


def _statistic(gate: Gate, values: Mapping[str, float], run: Run) -> float | None:
    ordered = sorted(values.values())
    if not ordered or not all(map(math.isfinite, ordered)):
        return None
    if gate.stat == "pass_rate":  # of the cases' own thresholds
        bounds = {i: run.cases[i].thresholds.get(gate.metric, ()) for i in values}
        return sum(all(Bound(*b).holds(value) for b in bounds[i]) for i, value in values.items()) / len(values)
    if gate.stat == "mean":
        return sum(ordered) / len(ordered)
    quantile = {"min": 0.0, "median": 0.5, "max": 1.0}.get(gate.stat)
    return nearest_rank(ordered, quantile if quantile is not None else int(gate.stat[1:]) / 100)
