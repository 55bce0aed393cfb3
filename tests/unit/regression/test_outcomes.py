"""What identifies a judgement on a suite, whatever is said of it."""

from __future__ import annotations

import pytest

from pytest_auepora.regression.outcomes import GateOutcome
from pytest_auepora.regression.thresholds import Bound


@pytest.mark.parametrize(
    ("gate", "part", "key"),
    [
        (GateOutcome("threshold", "failed", "recall@5"), "recall@5", "threshold: recall@5"),
        (GateOutcome("threshold", "failed", "recall@5", stat="p10"), "p10(recall@5)", "threshold: p10(recall@5)"),
        (GateOutcome("regression", "failed", "mrr", slice={"scenario": "typo"}), "mrr{scenario=typo}",
         "regression: mrr{scenario=typo}"),
        (GateOutcome("coverage", "failed", reason="cases vanished"), "", "coverage: cases vanished"),
    ],
)  # fmt: skip
def test_each_has_a_key_of_its_own(gate: GateOutcome, part: str, key: str) -> None:
    assert (gate.part, gate.key) == (part, key)


def test_of_the_whole_suite_or_of_a_slice() -> None:
    whole, part = (GateOutcome("regression", "passed", "mrr", slice=name) for name in ({}, {"scenario": "typo"}))
    assert (whole.is_of_whole, whole.is_of_slice) == (True, False)
    assert (part.is_of_whole, part.is_of_slice) == (False, True)
    assert not GateOutcome("threshold", "passed", "mrr").is_of_whole


def test_its_limit_is_a_bound() -> None:
    assert GateOutcome("threshold", "passed", "mrr", op="min", limit=0.8).bound == Bound("min", 0.8)
    assert GateOutcome("regression", "passed", "mrr").bound is None


def test_coverage_costs_nothing() -> None:
    assert GateOutcome("coverage", "failed", worst_cases=("a",)).costliest == ()
    assert GateOutcome("threshold", "failed", "mrr", worst_cases=("a",)).costliest == ("a",)
