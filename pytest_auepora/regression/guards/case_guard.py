"""The verdict on one case: its own thresholds, and the case guard against its baseline.

Exact at any number of cases; deterministic metrics only.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

from ...core.run import CaseResult, MetricInfo
from ..compare.cases import CaseComparison
from ..policy import RegressionPolicy
from ..thresholds import Bound
from .steadiness import guard_repeats

__all__ = ["guard_case", "judge_case", "threshold_problems"]


def judge_case(
    result: CaseResult,
    thresholds: Mapping[str, Sequence[Bound]],
    metrics: Mapping[str, MetricInfo],
    comparison: CaseComparison | None,
    policy: RegressionPolicy,
    *,
    advisory: Collection[str] = (),
) -> None:
    """Set ``state`` and ``problems`` of *result*.  An errored or skipped case keeps its state.

    What the *advisory* metrics would have failed goes to ``extra["advisory"]`` instead.
    """
    if result.state in ("error", "skipped"):
        return
    counted = {name: bounds for name, bounds in thresholds.items() if name not in advisory}
    result.problems = threshold_problems(result, counted) + _raised(result, set(result.scores) - set(advisory))
    if advisory:
        opinions = {name: bounds for name, bounds in thresholds.items() if name in advisory}
        told = threshold_problems(result, opinions) + _raised(result, advisory)
        if told:
            result.extra["advisory"] = told
    if comparison is not None and comparison.paired and not result.quarantined():
        result.problems += guard_case(comparison, metrics, policy, result=result, always="must_pass" in result.extra)
    result.state = "failed" if result.problems else "passed"


def _raised(result: CaseResult, names: Collection[str]) -> list[str]:
    return [
        f"{name}: the metric raised {score.reason}"
        for name, score in result.scores.items()
        if score.state == "error" and name in names
    ]


def threshold_problems(result: CaseResult, thresholds: Mapping[str, Sequence[Bound]]) -> list[str]:
    """Return what the case's own thresholds say; a score that is n/a is not held against a case."""
    out: list[str] = []
    for name, bounds in thresholds.items():
        score = result.scores.get(name)
        if score is None or score.value is None:
            continue
        out += [f"{name} {b.shown(score.value, 2)}, wanted {b}" for b in bounds if not b.holds(score.value)]
    return out


def guard_case(
    comparison: CaseComparison, metrics: Mapping[str, MetricInfo], policy: RegressionPolicy, *,
    result: CaseResult | None = None, always: bool = False,
) -> list[str]:  # fmt: skip
    """Return one line for each deterministic metric that fell by more than the policy allows; never for a judge's.

    Where the baseline has enough repeats, those of *result* are held to them instead: one line if the case broke.
    With *always* (a ``must_pass`` case) also under the policy ``report``.
    """
    changes = comparison.changes
    if comparison.before is None or comparison.before.repeats == 1:
        changes = {name: c for name, c in changes.items() if c.gain < 0}  # most cases have none, and are done here
    held = {
        name: c
        for name, c in changes.items()
        if not c.errored and feeds_case_guard(name, metrics[name], policy, always=always)
    }
    if result is not None and comparison.before is not None and held:
        told = guard_repeats(result, comparison.before, held, metrics, policy)
        if told is not None:
            return told
    out: list[str] = []
    for name, change in held.items():
        info, own = metrics[name], policy.for_metric(name)
        if -change.gain <= own.case_max_drop + 1e-9:
            continue
        went = "fell" if info.direction == "higher" else "rose"
        limit = f"since the baseline, limit {own.case_max_drop:g}"
        then, now = _apart(change.before, change.after, own.case_max_drop)
        out.append(f"{name} {went} from {then} to {now} {limit}")
    return out


def feeds_case_guard(name: str, info: MetricInfo, policy: RegressionPolicy, *, always: bool = False) -> bool:
    """Whether the scores of single cases count in this metric: never those of a judge, nor those without bounds.

    With *always* (a ``must_pass`` case) also under the policy ``report``.
    """
    exempt = policy.for_metric(name).policy == "report" and not always
    return not (exempt or info.judge) and info.deterministic and all(map(math.isfinite, info.range))


def _apart(before: float, after: float, limit: float) -> tuple[str, str]:
    """Return both with as many digits as it takes not to read '0.70 to 0.20, limit 0.5'."""
    for digits in range(2, 17):
        told = f"{before:.{digits}f}", f"{after:.{digits}f}"
        if abs(float(told[0]) - float(told[1])) > limit + 1e-9:
            return told
    return repr(before), repr(after)
