"""chrF by hand."""

from __future__ import annotations

from pytest_auepora.core.metrics_base import Measurement
from pytest_auepora.metrics.generation.bleu import Chrf

from ..samples import case, gave, reason, value


def test_chrf() -> None:
    metric = Chrf()
    assert value(metric, case("北京"), gave("北京")) == 1
    assert 0 < value(metric, case("北京大学"), gave("北京")) < 1
    assert value(metric, case("abc"), gave("xyz")) == 0
    assert value(Chrf(lowercase=True), case("ABC"), gave("abc")) == 1
    assert metric.measure(case("abc"), gave(" ")) == Measurement(
        0.0, [0, 3, 0, 0, 2, 0, 0, 1, 0, *[0] * 9], {"note": "the answer is empty"}
    )
    assert reason(metric, case(), gave("x")) == "no reference_answer"


def test_chrf_of_the_corpus_stands_beside_the_mean() -> None:
    samples, outputs = [case("the cat sat"), case("a dog")], [gave("the cat sat"), gave("cats")]
    result = Chrf().compute(samples, outputs)
    alone = [value(Chrf(), s, o) for s, o in zip(samples, outputs, strict=True)]
    assert result.value == sum(alone) / 2
    assert 0 < result.details["corpus"] != result.value
