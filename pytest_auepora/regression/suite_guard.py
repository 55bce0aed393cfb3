"""The suite guard: did the golden set as a whole get worse than its baseline?

``tolerance`` fails a metric whose mean paired drop exceeds ``min_effect``; ``statistical`` asks `significance`
whether the drop is more than chance; ``auto`` is the first below ten clusters and the second from there on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

from ..core.run import Run
from .compare import Comparison, MetricChange
from .gates import GateOutcome
from .policy import RegressionPolicy
from .steadiness import instead_of_cases

__all__ = ["CLUSTERS_FOR_STATISTICS", "judge_regression"]

CLUSTERS_FOR_STATISTICS = 10


def judge_regression(
    run: Run, comparison: Comparison, policy: RegressionPolicy, advisory: Collection[str] = ()
) -> list[GateOutcome]:
    """Return one outcome per baselined metric that compares, in the order of the run's metrics.

    The *advisory* metrics are a family of their own: what cannot fail the run must not cost the others power.
    """
    by_policy: dict[str, list[str]] = defaultdict(list)
    for name, info in run.metrics.items():
        if info.baselined and comparison.metric(name) is not None:
            by_policy[_effective(run, comparison, policy.for_metric(name), name)].append(name)
    out = {name: _tolerance(run, comparison, policy, name) for name in by_policy["tolerance"]}
    for family in (
        [n for n in by_policy["statistical"] if n not in advisory],
        [n for n in by_policy["statistical"] if n in advisory],
    ):
        if family:
            out.update(_statistical(run, comparison, policy, family))
    return [out[name] for name in run.metrics if name in out]


def _effective(run: Run, comparison: Comparison, policy: RegressionPolicy, name: str) -> str:
    if policy.policy != "auto":
        return policy.policy
    clusters = {run.cases[i].cluster or i for i, c in comparison.cases.items() if name in c.changes}
    return "tolerance" if len(clusters) < CLUSTERS_FOR_STATISTICS else "statistical"


def _outcome(run: Run, name: str, change: MetricChange) -> GateOutcome:
    return GateOutcome(
        f"regression: {name}", "regression", "passed", "", name, change.after, n=change.n,
        total=len(run.cases), owner=run.owner, culprits=change.dropped[:5],
    )  # fmt: skip


def _tolerance(run: Run, comparison: Comparison, policy: RegressionPolicy, name: str) -> GateOutcome:
    change = comparison.metric(name)
    assert change is not None
    own = policy.for_metric(name)
    out = _outcome(run, name, change)
    out.bound = f"drop <= {own.min_effect:g}"
    told = f"{name} {change.before:.4f} → {change.after:.4f} over {change.n} case{'s' * (change.n != 1)}"
    if -change.gain > own.min_effect + 1e-9:
        out.state = "failed"
        out.message = f"{told}: fell by {-change.gain:.4f}, more than the tolerated {own.min_effect:g}"
    else:
        out.message = told
    return out


def _statistical(
    run: Run, comparison: Comparison, policy: RegressionPolicy, names: Sequence[str]
) -> dict[str, GateOutcome]:
    from .significance import PairedMetric, judge_family

    family = [
        PairedMetric(
            name,
            {i: c.changes[name].gain for i, c in comparison.cases.items() if name in c.changes},
            policy.for_metric(name).min_effect,
            policy.for_metric(name).margin,
        )
        for name in names
    ]
    clusters = {i: c.cluster or i for i, c in run.cases.items()}
    verdict = judge_family(family, clusters, alpha=policy.alpha)
    out: dict[str, GateOutcome] = {}
    for found in verdict.metrics:
        change = comparison.metric(found.name)
        assert change is not None
        gate = _outcome(run, found.name, change)
        gate.bound = f"p > {policy.alpha:g}"
        told = found.reason + (instead_of_cases(run, comparison, found) if found.outcome == "inconclusive" else "")
        gate.message = f"{told}; {found.warning}" if found.warning else told
        if found.outcome == "fail":
            gate.state = "failed"
        elif found.outcome == "inconclusive":
            gate.state = "failed" if policy.on_inconclusive == "fail" else "inconclusive"
        out[found.name] = gate
    return out
