"""What a metric must have, and what it can do without."""

from __future__ import annotations

import inspect
from abc import ABC
from collections.abc import Sequence

import pytest

from pytest_auepora.core.dataset import EvaluationDataset
from pytest_auepora.core.metrics_base import Measurement, Metric, NotApplicable, f1, nearest_rank
from pytest_auepora.core.rag_interface import Generator, RAGSystem, Retriever
from pytest_auepora.core.types import (
    EvaluationSample,
    MetricResult,
    Response,
    SystemOutputs,
    TargetCategory,
)
from pytest_auepora.metrics.judge.critic import LLMCritic
from pytest_auepora.metrics.retrieval_basic import RecallAtK


def test_without_valid_samples_the_value_is_zero() -> None:
    result = RecallAtK(5).compute([EvaluationSample("1", "q")], [SystemOutputs([], Response(""))])
    assert (result.value, result.details["num_samples"]) == (0.0, 0)


def test_lengths_must_agree() -> None:
    with pytest.raises(AssertionError, match="1 samples but 0 outputs"):
        RecallAtK(5).compute([EvaluationSample("1", "q")], [])


def test_a_metric_with_compute_only_measures_single_cases() -> None:
    class Length(Metric):
        name = "length"
        target = TargetCategory.GENERATION_RELEVANCE

        def compute(self, samples: Sequence[EvaluationSample], outputs: Sequence[SystemOutputs]) -> MetricResult:
            lengths = [len(o.response.text) for o in outputs if o.response.text]
            value = sum(lengths) / len(lengths) if lengths else 0.0
            return MetricResult(self.name, self.target, value, {"num_samples": len(lengths)})

    sample = EvaluationSample("1", "q")
    assert Length().measure(sample, SystemOutputs([], Response("four"))) == Measurement(4.0)
    assert isinstance(Length().measure(sample, SystemOutputs([], Response(""))), NotApplicable)


def test_a_metric_is_abstract_until_it_can_measure() -> None:
    class Nothing(Metric):
        name = "nothing"

    for unable in (Metric, Nothing):
        with pytest.raises(TypeError, match="is abstract: it implements neither measure"):
            unable()


@pytest.mark.parametrize("base", [Metric, LLMCritic, RAGSystem, Retriever, Generator, EvaluationDataset])
def test_the_bases_of_the_specification_are_abstract(base: type) -> None:
    assert issubclass(base, ABC)
    assert inspect.isabstract(base)


def test_what_can_measure_is_not_abstract() -> None:
    assert not inspect.isabstract(RecallAtK)


def test_f1_is_the_harmonic_mean_and_0_where_nothing_is_shared() -> None:
    assert f1(0.5, 1.0) == pytest.approx(2 / 3)
    assert f1(0.0, 0.0) == 0.0
    assert f1(-0.5, 0.25) == 0.0, "similarities may be negative"


def test_the_quantile_is_the_nearest_rank_of_numpy() -> None:
    import numpy

    for n in (*range(1, 40), 50, 75, 100):
        values = sorted(numpy.random.default_rng(n).random(n).tolist())
        for q in (percent / 100 for percent in range(101)):
            assert nearest_rank(values, q) == numpy.quantile(values, q, method="inverted_cdf")
