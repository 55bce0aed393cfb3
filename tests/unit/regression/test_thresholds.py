"""Everything people write as a threshold, and what it is read as."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora.core.metrics_base import Direction
from pytest_auepora.errors import ThresholdError
from pytest_auepora.regression.thresholds import Bound, Gate, check_range, read_comparison, read_gates, split_stat


def read_bound(raw: Any, direction: Direction) -> Bound:
    (gate,) = read_gates("recall@5", raw, direction)
    return gate.bound


FINITE = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize(
    ("raw", "direction", "bound"),
    [
        (0.8, "higher", Bound("min", 0.8)),
        (0.8, "lower", Bound("max", 0.8)),
        (1, "higher", Bound("min", 1.0)),
        (0, "lower", Bound("max", 0.0)),
        ("0.8", "higher", Bound("min", 0.8)),
        ("1e-3", "lower", Bound("max", 0.001)),
        (">= 0.8", "higher", Bound("min", 0.8)),
        (">=0.8", "lower", Bound("min", 0.8)),
        ("  <=  1.2 ", "higher", Bound("max", 1.2)),
        ("≥ 0.8", "higher", Bound("min", 0.8)),
        ("≤ 2", "lower", Bound("max", 2.0)),
        ({"min": 0.8}, "lower", Bound("min", 0.8)),
        ({"max": 2}, "higher", Bound("max", 2.0)),
    ],
)
def test_every_form_of_a_bound(raw: Any, direction: Direction, bound: Bound) -> None:
    assert read_bound(raw, direction) == bound


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (math.nan, "finite"),
        (math.inf, "finite"),
        (-math.inf, "finite"),
        (10**400, "finite"),
        ("nan", "not a threshold"),
        (">= inf", "not a threshold"),
        ("1e999", "not a threshold"),
        (True, "must be a number, got True"),
        (None, "no number"),
        ("about 0.8", "not a threshold"),
        ("", "not a threshold"),
        (">=", "not a threshold"),
        ("> 0.8", "only >= and <= are known; write '>= 0.8'"),
        ("= 0.8", "only >= and <="),
        ("80%", "write '0.8'"),
        (">= 80 %", "write '>= 0.8'"),
        ({}, "no bound"),
        ({"min": "0.8"}, "min must be a number"),
        ({"min": math.nan}, "min must be a finite number"),
        ({"max": False}, "max must be a number"),
        ({"mni": 0.8}, "did you mean 'min'"),
        ({">=": 0.8}, "did you mean 'min'"),
        ({"at_most": 0.8}, "did you mean 'max'"),
        ({"min": 0.9, "max": 0.1}, "nothing can pass"),
    ],
)
def test_what_is_no_bound_says_why(raw: Any, told: str) -> None:
    with pytest.raises(ThresholdError) as caught:
        read_bound(raw, "higher")
    assert told in str(caught.value)


@given(limit=FINITE, value=FINITE)
def test_a_bound_compares_unrounded_and_allows_its_limit(limit: float, value: float) -> None:
    assert Bound("min", limit).holds(value) == (value >= limit)
    assert Bound("max", limit).holds(value) == (value <= limit)
    assert Bound("min", limit).holds(limit)
    assert Bound("max", limit).holds(limit)


def test_nan_keeps_no_bound() -> None:
    assert not Bound("min", 0.0).holds(math.nan)
    assert not Bound("max", 1.0).holds(math.nan)


def test_just_below_is_below() -> None:
    assert not Bound("min", 0.8).holds(0.79999999)


@given(op=st.sampled_from(["min", "max"]), limit=st.decimals(-1000, 1000, places=8).map(float))
def test_a_bound_reads_back_what_it_prints(op: Any, limit: float) -> None:
    bound = Bound(op, limit)
    assert read_comparison(str(bound)) == bound
    assert "e" not in str(bound)


@given(op=st.sampled_from(["min", "max"]), limit=st.floats(0, 1), value=st.floats(0, 1), places=st.integers(0, 6))
def test_a_value_is_shown_on_its_own_side_of_a_bound(op: Any, limit: float, value: float, places: int) -> None:
    bound = Bound(op, limit)
    text = bound.shown(value, places)
    assert bound.holds(float(text)) == bound.holds(value)
    assert len(text.partition(".")[2]) >= places or text == repr(value)


def test_a_value_gets_no_more_digits_than_it_takes() -> None:
    assert Bound("min", 0.8).shown(0.79996) == "0.79996"
    assert Bound("min", 0.8).shown(0.8, 2) == "0.80"
    assert Bound("max", 0.01).shown(0.010004) == "0.010004"


def test_how_bounds_print() -> None:
    assert str(Bound("min", 0.8)) == ">= 0.8"
    assert str(Bound("max", 2.0)) == "<= 2"


@pytest.mark.parametrize(
    ("name", "raw", "titles"),
    [
        ("recall@5", 0.8, ["recall@5 >= 0.8"]),
        ("recall@5", {"min": 0.5, "max": 0.9}, ["recall@5 >= 0.5", "recall@5 <= 0.9"]),
        ("recall@5", [0.8, {"stat": "p10", "min": 0.3}], ["recall@5 >= 0.8", "p10(recall@5) >= 0.3"]),
        ("p10(recall@5)", 0.3, ["p10(recall@5) >= 0.3"]),
        ("min( recall@5 )", ">= 0.1", ["min(recall@5) >= 0.1"]),
        ("ndcg@10", {"min": 0.6, "slice": {"scenario": "typo"}}, ["ndcg@10{scenario=typo} >= 0.6"]),
        ("ndcg@10", {"min": 0.6, "slice": {"year": 2024, "de": True}}, ["ndcg@10{year=2024,de=True} >= 0.6"]),
        ("ndcg@10[gain=linear]", 0.6, ["ndcg@10[gain=linear] >= 0.6"]),
        ("median(mean_latency[retrieval])", {"max": 2}, ["median(mean_latency[retrieval]) <= 2"]),
    ],
)
def test_what_gates_are_called(name: str, raw: Any, titles: list[str]) -> None:
    assert [f"{gate.title} {gate.bound}" for gate in read_gates(name, raw, "higher")] == titles


def test_a_pass_rate_is_the_share_of_good_cases() -> None:
    (gate,) = read_gates("pass_rate(mean_latency)", 0.9, "lower")
    assert gate == Gate("mean_latency", Bound("min", 0.9), "pass_rate")
    (gate,) = read_gates("mean_latency", {"stat": "p90", "max": 2}, "lower")
    assert gate == Gate("mean_latency", Bound("max", 2.0), "p90")


def test_owner_is_kept() -> None:
    (gate,) = read_gates("recall@5", {"min": 0.8, "owner": "search-team"}, "higher")
    assert gate.owner == "search-team"


def test_gates_can_be_members_of_sets() -> None:
    gates = read_gates("ndcg@10", {"min": 0.6, "max": 0.9, "slice": {"scenario": "typo"}}, "higher")
    assert len({*gates, *gates}) == 2


@pytest.mark.parametrize(
    ("name", "raw", "told"),
    [
        ("recall@5", [], "empty list"),
        ("recall@5", {}, "no bound"),
        ("recall@5", {"stat": "p10"}, "no bound"),
        ("recall@5", {"min": 0.5, "stat": "avg"}, "unknown statistic 'avg'"),
        ("recall@5", {"min": 0.5, "stat": "p100"}, "unknown statistic"),
        ("recall@5", {"min": 0.5, "stat": "p0"}, "unknown statistic"),
        ("medain(recall@5)", 0.5, "did you mean 'median'"),
        ("p10(recall@5)", {"stat": "p10", "min": 0.5}, "given twice"),
        ("recall@5", {"min": 0.5, "slice": {}}, "slice takes"),
        ("recall@5", {"min": 0.5, "slice": "typo"}, "slice takes"),
        ("recall@5", {"min": 0.5, "slice": {"scenario": ["typo"]}}, "slice takes"),
        ("recall@5", {"min": 0.5, "owner": 7}, "owner"),
        ("recall@5", {"min": 0.5, "slcie": {"a": "b"}}, "did you mean 'slice'"),
        ("recall@5", [0.8, 0.9], "given twice"),
        ("recall@5", [0.8, [0.9]], "must be a number"),
    ],
)
def test_what_is_no_gate_says_why(name: str, raw: Any, told: str) -> None:
    with pytest.raises(ThresholdError) as caught:
        read_gates(name, raw, "higher")
    assert told in str(caught.value)


def test_a_bound_out_of_range_says_the_range_and_what_was_meant() -> None:
    with pytest.raises(ThresholdError, match=r"recall@5 is from 0 to 1, .* 80 .*did you mean 0\.80\?"):
        check_range(Bound("min", 80), "recall@5", 0.0, 1.0)
    with pytest.raises(ThresholdError, match="from 0 to 1") as caught:
        check_range(Bound("min", -0.5), "recall@5", 0.0, 1.0)
    assert "?" not in str(caught.value), "nothing else was meant"
    with pytest.raises(ThresholdError, match="0 or more"):
        check_range(Bound("max", -1), "mean_latency", 0.0, math.inf)
    check_range(Bound("max", 1e9), "mean_latency", 0.0, math.inf)
    check_range(Bound("min", 1.0), "recall@5", 0.0, 1.0)


def test_statistics_in_names() -> None:
    assert split_stat("recall@5") == ("recall@5", "aggregate")
    assert split_stat("p95(mean_latency)") == ("mean_latency", "p95")


WORDS = st.sampled_from(["min", "max", "stat", "slice", "owner", "x"])
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS | st.integers(), inner, max_size=3),
)


@given(ANYTHING)
def test_whatever_is_written_gives_sound_gates_or_a_clear_error(raw: Any) -> None:
    try:
        gates = read_gates("recall@5", raw, "higher")
    except ThresholdError:
        return
    assert gates
    assert all(math.isfinite(gate.bound.limit) for gate in gates)
