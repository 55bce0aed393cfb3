"""chrF by hand."""

from __future__ import annotations

import pytest

from pytest_auepora.core.metrics_base import Measurement
from pytest_auepora.metrics.text.bleu import BleuScore, Chrf

from ..samples import case, gave, reason, value


def test_chrf() -> None:
    metric = Chrf()
    assert value(metric, case("北京"), gave("北京")) == 1
    assert 0 < value(metric, case("北京大学"), gave("北京")) < 1
    assert value(metric, case("abc"), gave("xyz")) == 0
    assert value(Chrf(lowercase=True), case("ABC"), gave("abc")) == 1
    silent = metric.measure(case("abc"), gave(" "))
    assert isinstance(silent, Measurement)
    assert (silent.value, silent.data) == (0.0, [0, 3, 0, 0, 2, 0, 0, 1, 0, *[0] * 9])
    assert reason(metric, case(), gave("x")) == "no reference_answer"


def test_chrf_of_the_corpus_stands_beside_the_mean() -> None:
    samples, outputs = [case("the cat sat"), case("a dog")], [gave("the cat sat"), gave("cats")]
    result = Chrf().compute(samples, outputs)
    alone = [value(Chrf(), s, o) for s, o in zip(samples, outputs, strict=True)]
    assert result.value == sum(alone) / 2
    assert 0 < result.details["corpus"] != result.value


def test_corpus_bleu_adds_counts_before_it_divides() -> None:
    samples = [case("the cat sat on the mat today"), case("dogs bark at night in the yard")]
    outputs = [gave("the cat sat on the mat"), gave("dogs bark loudly at night")]
    metric = BleuScore()
    seen = metric.measure_many(samples, outputs)
    assert all(isinstance(m, Measurement) and m.value is None and all(type(n) is int for n in m.data) for m in seen)
    result = metric.compute(samples, outputs)
    assert 0 < result.value < 1
    assert result.details["bleu"] == pytest.approx(100 * result.value)
    assert result.details["signature"].startswith("case:mixed|eff:no|tok:13a|smooth:exp|order:4|version:")
    alone = [metric.compute([s], [o]).value for s, o in zip(samples, outputs, strict=True)]
    assert result.value != pytest.approx(sum(alone) / 2)
    assert metric.compute([case("x y z")], [gave("")]).value == 0
    added = [sum(column) for column in zip(*(m.data for m in seen if isinstance(m, Measurement)), strict=True)]
    assert metric.additive
    assert metric.aggregate([Measurement(None, added)]).value == result.value
