"""From the name people type to the metric."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_auepora.core.metrics_base import Measurement, Metric
from pytest_auepora.core.types import EvaluationSample, SystemOutputs, TargetCategory
from pytest_auepora.errors import MetricError
from pytest_auepora.metrics.catalogue import SPELLINGS
from pytest_auepora.metrics.options import Configured
from pytest_auepora.metrics.registry import Registry
from pytest_auepora.metrics.retrieval_basic import RecallAtK
from pytest_auepora.metrics.retrieval_ranking import NDCGAtK
from pytest_auepora.metrics.robustness import NoiseRobustness

from .test_options import REGISTRY, typed

CALLED_OTHERWISE = ("mean_latency", "rouge1", "rouge2", "rougeL")
"""Specified as ``mean_latency[end_to_end]`` and ``rougeL_answer``; shorter in golden files."""


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_name_makes_a_metric_of_that_name(spelling: str) -> None:
    name = typed(spelling)
    metric = REGISTRY.get(name)
    assert metric.name == name
    assert own_name(metric) == name or spelling in CALLED_OTHERWISE, "its stem is not its spelling"
    again = REGISTRY.get(own_name(metric))
    assert (type(again), again.params()) == (type(metric), metric.params())


def own_name(metric: Metric) -> str:
    """What a metric calls itself, whatever it was typed as."""
    return metric.spelling() if isinstance(metric, Configured) else metric.name


def test_the_base_of_a_metric_comes_from_the_same_registry() -> None:
    class Own(Metric):
        name = "own"
        target = RecallAtK(1).target

        def measure(self, sample: Any, outputs: Any) -> Any:
            raise NotImplementedError

    registry = Registry()
    own = Own()
    registry.add("own", own)
    made = registry.get("noise_robustness[own]")
    assert isinstance(made, NoiseRobustness)
    assert made.metric is own


@pytest.mark.parametrize(
    ("written", "spelling"),
    [
        ("MRR@10", "mrr@10"),
        ("NDCG@5", "ndcg@5"),
        ("SufficiencyRate@3", "sufficiency_rate@3"),
        ("MisleadingContextRate@3", "misleading_rate@3"),
        ("UnsupportedClaimRate", "unsupported_claim"),
        ("On-Topic Rate", "on_topic"),
        ("Misleading Context Rate@5", "misleading_rate@5"),
        ("Mean Reciprocal Rank@10", "mrr@10"),
        ("HitRate@5", "hit@5"),
        ("on_topic_rate", "on_topic"),
    ],
)
def test_names_as_papers_write_them(written: str, spelling: str) -> None:
    made, known = Registry().get(written), Registry().get(spelling)
    assert (type(made), made.params()) == (type(known), known.params())


def test_options_as_the_sources_name_them() -> None:
    assert NDCGAtK(5, gain_scheme="binary").name == "ndcg@5[gain=binary]"
    assert Registry().get("ndcg@5[gain_scheme=linear]").params() == NDCGAtK(5, "linear").params()
    noisy = NoiseRobustness("hit@1", noise_scenarios=["typo"])
    assert noisy.params() == NoiseRobustness("hit@1", scenarios=("typo",)).params()
    with pytest.raises(MetricError, match="gain must be one of"):
        NDCGAtK(5, gain_scheme="cubic")


def test_a_metric_without_options_of_its_own_takes_none() -> None:
    class Constant(Metric):
        name, target, range = "constant", TargetCategory.GENERATION_RELEVANCE, (0.0, 1.0)

        def measure(self, sample: EvaluationSample, outputs: SystemOutputs) -> Measurement:
            return Measurement(1.0)

    registry = Registry()
    registry.add("constant", Constant)
    with pytest.raises(MetricError, match="takes no option, got '5'"):
        registry.get("constant[5]")
    with pytest.raises(MetricError, match="no option '_'; there is none"):
        registry.get("constant[_=5]")
