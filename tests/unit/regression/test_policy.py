"""The knobs of the verdict: defaults, and overrides by metric."""

from __future__ import annotations

import pytest

from pytest_auepora.regression.policy import RegressionPolicy


def test_defaults() -> None:
    policy = RegressionPolicy()
    assert (policy.policy, policy.case_max_drop, policy.min_effect) == ("auto", 0.5, 0.01)
    assert (policy.alpha, policy.margin, policy.on_inconclusive) == (0.05, 0.05, "pass")
    assert policy.for_metric("recall@5") is policy


def test_one_metric_may_differ() -> None:
    policy = RegressionPolicy("statistical", margin=0.1, metrics={"recall@5": {"policy": "report", "min_effect": 0.2}})
    own = policy.for_metric("recall@5")
    assert (own.policy, own.min_effect, own.margin) == ("report", 0.2, 0.1)
    assert policy.for_metric("mrr@10") is policy


def test_statistics_begin_at_ten_clusters() -> None:
    policy = RegressionPolicy(metrics={"mrr": {"policy": "tolerance"}})
    found = [policy.method_for("recall@5", n, steady=True) for n in (1, 9, 10, 11)]
    assert found == ["tolerance"] * 2 + ["statistical"] * 2
    assert policy.method_for("recall@5", 1, steady=False) == "statistical"
    assert policy.method_for("mrr", 100, steady=False) == "tolerance"


def test_a_policy_is_not_changed() -> None:
    policy = RegressionPolicy()
    with pytest.raises(AttributeError):
        policy.alpha = 0.1  # type: ignore[misc]
