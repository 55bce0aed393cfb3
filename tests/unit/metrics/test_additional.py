"""Latency and diversity."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from pytest_auepora.core.metrics_base import Measurement
from pytest_auepora.core.types import EvaluationSample, Response, SystemOutputs
from pytest_auepora.errors import MetricError
from pytest_auepora.metrics.additional import (
    DistinctN,
    IntraListDiversity,
    MeanLatency,
    PercentileLatency,
    QuantileLatency,
    ResponseDiversity,
)

from .rankings import doc, got, score
from .samples import is_na, reason, said

CASE = EvaluationSample("s", "q")


def timed(**timings: float) -> SystemOutputs:
    return SystemOutputs([], Response("a"), timings)


def test_the_mean_is_over_the_calls_that_were_timed() -> None:
    outputs = [timed(end_to_end=1.0), timed(end_to_end=3), timed(retrieval=9.0)]
    result = MeanLatency().compute([CASE] * 3, outputs)
    assert (result.name, result.value) == ("mean_latency[end_to_end]", 2.0)
    assert result.details == {"num_samples": 2, "num_skipped": 1}
    assert MeanLatency("retrieval").compute([CASE] * 3, outputs).value == 9.0
    assert is_na(MeanLatency(), CASE, timed())


@pytest.mark.parametrize("seconds", [-0.1, math.inf, math.nan])
def test_a_time_that_cannot_be(seconds: float) -> None:
    with pytest.raises(MetricError, match="timing 'end_to_end' must be seconds from 0 up"):
        MeanLatency().measure(CASE, timed(end_to_end=seconds))


@pytest.mark.parametrize("metric", [MeanLatency(), QuantileLatency(), PercentileLatency(99)])
def test_times_are_kept_out_of_baselines(metric: MeanLatency) -> None:
    assert (metric.direction, metric.range, metric.baselined, metric.deterministic) == (
        "lower",
        (0.0, math.inf),
        False,
        False,
    )


@pytest.mark.parametrize(
    ("percent", "expected"), [(1, 1.0), (25, 1.0), (26, 2.0), (50, 2.0), (75, 3.0), (95, 4.0), (100, 4.0)]
)
def test_a_quantile_is_a_value_that_was_measured(percent: int, expected: float) -> None:
    outputs = [timed(end_to_end=s) for s in (3.0, 1.0, 4.0, 2.0)]
    assert PercentileLatency(percent).compute([CASE] * 4, outputs).value == expected


@pytest.mark.parametrize(("percent", "needs"), [(50, 5), (95, 59), (99, 299), (100, 1)])
def test_how_many_values_a_quantile_needs(percent: int, needs: int) -> None:
    for n in (needs - 1, needs):
        result = PercentileLatency(percent).compute([CASE] * n, [timed(end_to_end=1.0)] * n)
        assert result.details == {
            "num_samples": n, "num_skipped": 0, "quantile": percent / 100, "reliable": n >= needs, "needs": needs,
        }  # fmt: skip


def test_no_times_at_all() -> None:
    result = QuantileLatency().compute([CASE], [timed()])
    assert (result.value, result.details["num_samples"]) == (0.0, 0)


def test_distinct_n() -> None:
    outputs = [said("the cat the cat"), said("The dog"), said("")]
    assert DistinctN(1).compute([CASE] * 3, outputs).value == 3 / 6
    result = DistinctN(2).compute([CASE] * 3, outputs)
    assert (result.value, result.details) == (3 / 4, {"num_samples": 2, "total": 4, "unique": 3, "num_skipped": 1})
    assert score(DistinctN(2), CASE, outputs[0]) == 2 / 3
    assert is_na(DistinctN(3), CASE, outputs[1])


def test_distinct_n_counts_words_of_every_script() -> None:
    assert score(DistinctN(1), CASE, said("東京東京")) == 2 / 4
    assert score(DistinctN(1), CASE, said("привет мир привет")) == 2 / 3


@pytest.mark.parametrize("metric", [DistinctN(2), ResponseDiversity()])
def test_measurements_travel_as_json_without_the_words(metric: DistinctN) -> None:
    texts = ["the secret word is swordfish", "a quiet morning in May", "the secret word is known"]
    seen = [metric.measure(CASE, said(text)) for text in texts]
    packed = json.dumps([m.data for m in seen if isinstance(m, Measurement)])
    assert "swordfish" not in packed
    back = metric.aggregate([Measurement(None, data) for data in json.loads(packed)])
    assert back.value == metric.compute([CASE] * 3, [said(text) for text in texts]).value


def test_list_diversity() -> None:
    same = [doc("a", embedding=[1, 0]), doc("b", embedding=[2.0, 0.0])]
    across = [doc("a", embedding=[1, 0]), doc("b", embedding=[0, 3])]
    against = [doc("a", embedding=[1, 0]), doc("b", embedding=[-1, 0])]
    assert [score(IntraListDiversity(), CASE, got(*docs)) for docs in (same, across, against)] == [0.0, 1.0, 2.0]
    assert score(IntraListDiversity(2), CASE, got(*same, *against)) == 0.0
    assert is_na(IntraListDiversity(), CASE, got(same[0]))
    assert reason(IntraListDiversity(), CASE, got(same[0], "bare")) == "no embeddings"


def test_list_diversity_with_an_embedding_function() -> None:
    def lengths(texts: list[str]) -> list[list[float]]:
        return [[1.0, 0.0] if len(t) > 3 else [0.0, 1.0] for t in texts]

    docs = [doc("a", "long text"), doc("b", "abc")]
    assert score(IntraListDiversity(embed_fn=lengths), CASE, got(*docs)) == 1.0


@pytest.mark.parametrize(
    ("vectors", "complaint"),
    [
        (([1, 0], [1, 0, 0]), r"embeddings differ in length: \[2, 3\]"),
        (([1, 0], [0, 0]), "the embedding of 'd1' has no direction"),
        (([1, 0], [math.nan, 0]), "the embedding of 'd1' has no direction"),
        (([1, 0], [math.inf, 0]), "the embedding of 'd1' has no direction"),
    ],
)
def test_embeddings_that_cannot_be_compared(vectors: tuple[list[float], ...], complaint: str) -> None:
    with pytest.raises(MetricError, match=complaint):
        IntraListDiversity().measure(CASE, got(*(doc(f"d{i}", embedding=v) for i, v in enumerate(vectors))))


def test_response_diversity() -> None:
    def over(*texts: str) -> Any:
        return ResponseDiversity().compute([CASE] * len(texts), [said(t) for t in texts])

    assert over("one two", "two one").value == pytest.approx(0.0, abs=1e-15)
    assert over("one two", "three four").value == 1.0
    assert over("one two", "one four").value == pytest.approx(0.5)
    assert over("one", "", "one", "two").details == {"num_samples": 3, "num_skipped": 1}
    assert over("one").details["num_samples"] == 0
    assert reason(ResponseDiversity(), CASE, said("...")) == "no answer"


def test_response_diversity_by_embeddings() -> None:
    metric = ResponseDiversity("embedding")
    outputs = [said("a", embedding=[1, 0]), said("b", embedding=[-1, 0]), said("c")]
    result = metric.compute([CASE] * 3, outputs)
    assert (result.value, result.details["num_samples"]) == (2.0, 2)
    assert metric.range == (0.0, 2.0)
    assert ResponseDiversity().range == (0.0, 1.0)
