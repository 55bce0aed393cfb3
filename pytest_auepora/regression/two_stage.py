"""The two-stage rule for systems that do not answer twice the same: failing takes both stages.

A first look over few repeats; where anything looks bad, another over more of *all* cases.  A drop that only one of
them shows is inconclusive.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from ..core.run import CaseResult, MetricInfo, Run
from ..core.scores import Score
from ..core.scoring import FURTHER
from .baseline.model import Baseline
from .compare.cases import Comparison, compare
from .guards.gates import GateOutcome, leave_undecided
from .guards.suite_guard import judge_regression
from .policy import RegressionPolicy
from .repeat_plan import RepeatPlan

__all__ = ["confirm", "first_repeats", "first_stage", "judge_in_stages", "settled", "wants_more"]


def judge_in_stages(
    run: Run,
    comparison: Comparison,
    baseline: Baseline,
    policy: RegressionPolicy,
    *,
    plan: RepeatPlan,
    advisory: Collection[str] = (),
) -> list[GateOutcome]:
    """Judge *run* as `judge_regression` does, and by the two-stage rule where *plan* has two stages."""
    if not plan.two_stage:
        return judge_regression(run, comparison, policy, advisory)
    undecided = replace(policy, on_inconclusive="pass")  # what becomes of it is said once both stages are known
    gates = judge_regression(run, comparison, undecided, advisory)
    if not _has_more(run, plan):
        return confirm(gates, None, policy, plan)
    return confirm(_first_gates(run, baseline, undecided, plan, advisory), gates, policy, plan)


def wants_more(
    run: Run, baseline: Baseline | None, policy: RegressionPolicy, plan: RepeatPlan, advisory: Collection[str] = ()
) -> bool:
    """Whether the first repeats of *run* look bad enough to ask all cases again."""
    if baseline is None or not plan.two_stage or not run.is_full:
        return False
    return plan.wants_second_stage(_first_gates(run, baseline, policy, plan, advisory))


def settled(
    run: Run, baseline: Baseline | None, policy: RegressionPolicy, plan: RepeatPlan, advisory: Collection[str] = ()
) -> Run:
    """Return *run* as it counts: where more was asked than the first stage gave reason for, the first stage alone.

    So a run that could not look before it asked, being spread over processes, is judged as one that could.
    """
    if not plan.two_stage or not _has_more(run, plan) or wants_more(run, baseline, policy, plan, advisory):
        return run
    return first_stage(run, plan)


def confirm(
    first: Sequence[GateOutcome], second: Sequence[GateOutcome] | None, policy: RegressionPolicy, plan: RepeatPlan
) -> list[GateOutcome]:
    """Apply the rule: a metric fails only if it looked bad at first and fails over all repeats.

    Args:
        first: the outcomes over the first repeats.
        second: those over all repeats, or None where the second stage did not run.
        policy: whether what is inconclusive fails.
        plan: when a metric looks bad.

    Returns:
        The second outcomes, or else the first; a failure that only one stage shows is inconclusive.
    """
    cleared = {gate.title for gate in first if not plan.looks_bad(gate)}
    out = [replace(gate) for gate in (first if second is None else second)]
    for gate in out:
        if gate.kind == "regression" and gate.state == "failed" and (second is None or gate.title in cleared):
            why = (
                f"that takes more repeats (--auepora-repeat {plan.total})"
                if second is None
                else f"it did not look worse in the first {plan.first} repeats"
            )
            gate.state, gate.message = "inconclusive", f"{gate.message}; not confirmed, as {why}"
        if gate.state == "inconclusive":
            leave_undecided(gate, policy)
    return out


def first_stage(run: Run, plan: RepeatPlan) -> Run:
    """Return *run* as it was after the first repeats of each case."""
    cases = {case_id: first_repeats(case, plan.first, run.metrics) for case_id, case in run.cases.items()}
    return replace(run, cases=cases)


def first_repeats(case: CaseResult, n: int, metrics: dict[str, MetricInfo]) -> CaseResult:
    """Return *case* as if it had been asked *n* times; its state, problems and time stay."""
    if case.repeats <= n:
        return case
    singles = {name: values[:n] for name, values in case.extra["repeats"].items()}
    scores = {name: _cut(s, singles.get(name), n, metrics.get(name)) for name, s in case.scores.items()}
    kept = {name: values for name, values in singles.items() if scores[name].state == "number"}
    return replace(case, scores=scores, extra={**case.extra, "repeats": kept})


def _cut(score: Score, values: list[float | None] | None, n: int, info: MetricInfo | None) -> Score:
    details = score.details
    if FURTHER in details:
        details = {**details, FURTHER: details[FURTHER][: n - 1]}
    if score.value is None or values is None:
        return replace(score, details=details)
    numbers = [v for v in values if v is not None]
    if not numbers:
        return Score("n/a", reason=f"n/a in the first {n} repeats")
    import statistics  # with it come fractions and decimal

    middle = statistics.median if info is not None and info.target == "LATENCY" else statistics.fmean
    return replace(score, value=middle(numbers), details=details)


def _has_more(run: Run, plan: RepeatPlan) -> bool:
    return any(case.repeats > plan.first for case in run.having("repeats"))


def _first_gates(
    run: Run, baseline: Baseline, policy: RegressionPolicy, plan: RepeatPlan, advisory: Collection[str]
) -> list[GateOutcome]:
    first = first_stage(run, plan)
    return judge_regression(first, compare(first, baseline), policy, advisory)
