"""Suite thresholds: statistics over cases, errors, slices, unrounded values."""

from __future__ import annotations

import pytest

from pytest_auepora.core.findings import Finding
from pytest_auepora.regression.guards.gates import judge_gate
from pytest_auepora.regression.thresholds import Bound, Gate

from ..runs import case, metrics, run
from ..test_verdict import M


@pytest.mark.parametrize(
    ("stat", "value"),
    [("aggregate", 0.6), ("mean", 0.6), ("min", 0.0), ("max", 1.0), ("median", 0.5), ("p10", 0.0), ("p80", 1.0)],
)
def test_statistics_over_cases(stat: str, value: float) -> None:
    measured = run(*(case(str(i), mrr=v) for i, v in enumerate([0.0, 0.5, 1.0, 1.0, 0.5])))
    assert judge_gate(measured, Gate("mrr", Bound("min", 0.0), stat), M).value == pytest.approx(value)


def test_an_error_counts_as_the_worst_value_in_a_gate() -> None:
    measured = run(case("a", mrr=1.0), case("b", state="error", mrr="boom"))
    gate = judge_gate(measured, Gate("mrr", Bound("min", 0.6)), M)
    assert (gate.state, gate.value, gate.n, gate.total) == ("failed", 0.5, 1, 2)
    assert gate.n_error == 1
    assert gate.worst_cases == ("b",)


@pytest.mark.parametrize("metric", ["empty_result_rate", "mrr"])
def test_a_case_without_a_score_costs_nothing(metric: str) -> None:
    values = {"na": None, "bad": 1.0, "good": 0.0}
    measured = run(
        *(case(i, empty_result_rate=v, mrr=v) for i, v in values.items()), names=("empty_result_rate", "mrr")
    )
    gate = judge_gate(measured, Gate(metric, Bound("max", 0.1)), metrics(metric))
    assert (gate.state, gate.n, gate.worst_cases) == ("failed", 2, ("bad",))


def test_an_error_without_a_worst_value_fails_its_gate() -> None:
    cases = [case("a", p95_latency=1.0), *(case(i, state="error", p95_latency="boom") for i in "bc")]
    for n in (2, 3):
        gate = judge_gate(
            run(*cases[:n], names=("p95_latency",)), Gate("p95_latency", Bound("max", 2.0)), metrics("p95_latency")
        )
        assert (gate.state, gate.value, gate.reason, gate.n_error) == ("failed", None, "no worst value", n - 1)


def test_nothing_measured_and_empty_slices_fail() -> None:
    assert judge_gate(run(case("a", mrr=None)), Gate("mrr", Bound("min", 0.0)), M).state == "failed"
    gate = judge_gate(run(case("a", mrr=1.0)), Gate("mrr", Bound("min", 0.0), slice={"scenario": "typo"}), M)
    assert gate.state == "failed"
    assert gate.reason == "no case ran"


def test_the_default_error_rate_counts_what_raised_in_every() -> None:
    varies = case("b", mrr="boom")
    varies.findings = [Finding("raised", status="varies", asked=3, passed=1)]
    measured = run(case("a", mrr=1.0), varies, case("c", state="error", mrr="boom"))
    assert judge_gate(measured, Gate("error_rate", Bound("max", 0.0)), M).value == pytest.approx(1 / 3)
    own = Gate("error_rate", Bound("max", 0.0), line=4)
    assert judge_gate(measured, own, M).value == pytest.approx(2 / 3), "one in the golden file counts first answers"


@pytest.mark.parametrize(("rate", "worst"), [("error_rate", ("down",)), ("pass_rate", ("bad", "down"))])
def test_a_rate_names_the_cases_that_lower_it(rate: str, worst: tuple[str, ...]) -> None:
    measured = run(case("good", mrr=1.0), case("bad", state="failed", mrr=0.0), case("down", state="error", mrr="boom"))
    gate = judge_gate(measured, Gate(rate, Bound("max", 0.0)), M)
    assert gate.worst_cases == worst
    assert gate.line == 0, "a gate that stands in no file has no line"


def test_unrounded_values_meet_the_bound() -> None:
    gate = judge_gate(run(case("a", mrr=0.79999)), Gate("mrr", Bound("min", 0.8)), M)
    assert gate.state == "failed"
