"""Intervals: of shares, by drawing whole groups, wide where resamples say nothing."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora.calibration.agreement import bootstrap, resample, wilson


def test_whole_groups_are_drawn() -> None:
    for sample in resample(["a", "a", "b", "c", "c", "c"], draws=50):
        assert sample.count(0) == sample.count(1)
        assert sample.count(3) == sample.count(4) == sample.count(5)
    assert resample([], draws=3) == []


def test_the_bootstrap_holds_the_truth_as_often_as_it_says() -> None:
    rng = random.Random(5)
    held = 0
    for _ in range(100):
        values = [rng.random() < 0.7 for _ in range(60)]
        found = bootstrap(lambda ids, v=values: sum(v[i] for i in ids) / len(ids), range(60), draws=200)  # type: ignore[misc]
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 0.7 <= found.high
    assert 85 <= held <= 100


def test_resamples_without_a_value_widen_the_interval() -> None:
    values = [1.0, *[0.0] * 9]
    found = bootstrap(lambda ids: 1.0 if any(values[i] for i in ids) else None, range(10))
    assert (found.value, found.low, found.high) == (1.0, None, None)


@given(st.integers(1, 200), st.data())
def test_shares_lie_inside_their_interval(n: int, data: st.DataObject) -> None:
    hits = data.draw(st.integers(0, n))
    found = wilson(hits, n)
    assert found.low is not None
    assert found.high is not None
    assert 0 <= found.low <= hits / n + 1e-12
    assert hits / n - 1e-12 <= found.high <= 1
