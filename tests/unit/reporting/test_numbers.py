from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora.regression.thresholds import Bound
from pytest_auepora.reporting import numbers

from .builders import infos_of

FINITE = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e6, max_value=1e6)
SCORES = st.floats(min_value=0.0, max_value=1.0)
SECONDS = st.just(0.0) | st.floats(min_value=1e-9, max_value=1e4)  # a clock counts nanoseconds
OPS = st.sampled_from(["min", "max"])


@given(FINITE, st.integers(0, 6))
def test_zero_never_has_a_sign(value: float, places: int) -> None:
    text = numbers.number(value, places)
    assert float(text) == pytest.approx(value, abs=0.51 * 10.0**-places)
    assert not (text.startswith("-") and float(text) == 0)


@given(SCORES, SCORES, OPS)
def test_a_value_reads_on_its_own_side_of_a_bound(value: float, limit: float, op: str) -> None:
    bound = Bound(op, limit)  # type: ignore[arg-type]
    assert bound.holds(float(numbers.number(value, 2, bound))) == bound.holds(value)
    assert bound.holds(float(numbers.score(value, 3, bound))) == bound.holds(value)


@given(SECONDS, SECONDS, OPS)
def test_a_duration_reads_on_its_own_side_of_a_bound(value: float, limit: float, op: str) -> None:
    bound = Bound(op, limit)  # type: ignore[arg-type]
    assert bound.holds(_read_seconds(numbers.seconds(value, bound))) == bound.holds(value)


def _read_seconds(text: str) -> float:
    if "min" in text:
        minutes, _, rest = text.partition(" min ")
        return int(minutes) * 60 + int(rest.removesuffix(" s"))
    number, unit = text.split(" ")
    return float(number) / (1000 if unit == "ms" else 1)


def test_just_below_the_threshold_gets_the_digits_it_takes() -> None:
    assert numbers.number(0.79996, 2, Bound("min", 0.8)) == "0.79996"
    assert numbers.number(0.8, 2, Bound("min", 0.8)) == "0.80"
    assert numbers.score(math.nextafter(0.8, 0), 2, Bound("min", 0.8)) != "0.80"


@pytest.mark.parametrize(
    ("difference", "text"),
    [(0.0, "0.000"), (-0.0, "0.000"), (0.05, "+0.050"),
     (-0.0831, "-0.083"), (-0.0004, "-0.0004"), (-0.00001, "0.000"),
     (math.inf, "+inf")],
)  # fmt: skip
def test_change(difference: float, text: str) -> None:
    assert numbers.change(difference) == text


@given(st.floats(min_value=-1, max_value=1).filter(lambda d: abs(d) >= 0.00006))
def test_a_change_is_never_shown_as_none(difference: float) -> None:
    assert float(numbers.change(difference)) * difference > 0


@given(st.floats(min_value=0.00006, max_value=1), SCORES, st.integers(0, 6))
def test_what_is_not_nothing_is_not_shown_as_nothing(value: float, limit: float, places: int) -> None:
    for bound in (None, Bound("min", limit)):
        assert float(numbers.number(value, places, bound)) > 0
        assert float(numbers.score(value, places, bound)) > 0
        assert _read_seconds(numbers.seconds(value / 1000, bound)) > 0
    assert float(numbers.number(-value, places)) < 0


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0004, "0.0004"),
        (0.00049, "0.0005"),
        (0.00001, "0.000"),
        (0.0, "0.000"),
        (-0.0004, "-0.0004"),
        (0.0006, "0.001"),
    ],
)
def test_small_scores(value: float, text: str) -> None:
    assert numbers.score(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0 ms"), (0.00002, "0.02 ms"),
     (0.0004, "0.4 ms"), (0.0123, "12 ms"), (0.35, "350 ms"), (0.9994, "999 ms"), (0.9996, "1.00 s"),
     (1.25, "1.25 s"), (119.4, "119.40 s"), (125, "2 min 05 s"), (-0.5, "-500 ms"), (math.inf, "inf s")],
)  # fmt: skip
def test_seconds(value: float, text: str) -> None:
    assert numbers.seconds(value) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0 %"),
        (1.0, "100 %"),
        (0.1234, "12.3 %"),
        (0.0001, "< 0.1 %"),
        (0.99999, "> 99.9 %"),
        (-0.00001, "0.0 %"),
    ],
)
def test_percent(share: float, text: str) -> None:
    assert numbers.percent(share) == text


@given(st.floats(min_value=0, max_value=1, exclude_min=True, exclude_max=True))
def test_only_none_is_0_and_only_all_is_100_percent(share: float) -> None:
    assert numbers.percent(share) not in ("0 %", "0.0 %", "100 %", "100.0 %")


def test_scores_and_counts() -> None:
    assert numbers.score(None) == "n/a"
    assert numbers.score(0.8333) == "0.833"
    assert numbers.score(12345.678) == "12345.7"
    assert numbers.number(math.nan) == "nan"
    assert numbers.plural(1, "case") == "1 case"
    assert numbers.plural(1200, "case") == "1,200 cases"
    assert numbers.plural(2, "entry", "entries") == "2 entries"


def test_metrics_are_shown_in_their_unit() -> None:
    infos = infos_of(["recall@5", "mean_latency"])
    assert numbers.metric_value(0.5, infos["recall@5"]) == "0.500"
    assert numbers.metric_value(0.5, infos["mean_latency"]) == "500 ms"
    assert numbers.metric_value(None, infos["mean_latency"]) == "n/a"
    assert numbers.metric_change(0.25, infos["mean_latency"]) == "+250 ms"
    assert numbers.metric_change(-0.25, infos["recall@5"]) == "-0.250"


@pytest.mark.parametrize(
    ("cost", "text"),
    [
        (0.0, "0.000"),
        (0.0000264, "0.0000264"),
        (0.000317, "0.000317"),
        (0.0704, "0.0704"),
        (1.5, "1.500"),
        (250, "250.0"),
    ],
)
def test_costs_have_three_digits_that_count(cost: float, text: str) -> None:
    infos = infos_of(["mean_cost", "recall@5"])
    assert numbers.metric_value(cost, infos["mean_cost"]) == text
    assert numbers.metric_change(-0.000011, infos["mean_cost"]) == "-0.0000110"
    assert numbers.metric_value(0.0000264, infos["recall@5"]) == "0.000"
