"""A run against an earlier one: the family of metrics, and beside it those that stand apart."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from ..core.metrics_base import Metric
from ..core.run import Run
from .compare.cases import Comparison
from .guards.gates import GateOutcome
from .guards.interval_guard import judge_apart
from .guards.suite_guard import judge_regression
from .policy import RegressionPolicy

__all__ = ["in_order", "judge_comparison"]


def judge_comparison(
    run: Run,
    comparison: Comparison,
    policy: RegressionPolicy,
    metrics: Mapping[str, Metric],
    advisory: Collection[str] = (),
) -> list[GateOutcome]:
    """Complete *comparison* and return the outcomes of all its metrics, in the order of the run's.

    Metrics that *metrics* does not have the object of are judged by the values of their cases alone.
    """
    apart = judge_apart(run, comparison, policy, metrics)
    return in_order(run, apart + judge_regression(run, comparison, policy, advisory))


def in_order(run: Run, gates: Iterable[GateOutcome]) -> list[GateOutcome]:
    """Return the outcomes of metrics in the order of the run's metrics, net flips last."""
    order = {name: i for i, name in enumerate(run.metrics)}
    return sorted(gates, key=lambda gate: order.get(gate.metric, len(order)))
