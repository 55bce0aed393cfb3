"""A metric over a part of the cases."""

from __future__ import annotations

import pytest

from pytest_auepora.core.metrics_base import Measurement
from pytest_auepora.core.types import EvaluationSample
from pytest_auepora.errors import MetricError
from pytest_auepora.metrics.additional import PercentileLatency
from pytest_auepora.metrics.pairs import SlicedMetric
from pytest_auepora.metrics.retrieval_basic import RecallAtK

from .rankings import got, wants

TYPO, PLAIN = wants("a", labels={"scenario": "typo"}), wants("a")


def is_typo(sample: EvaluationSample) -> bool:
    return sample.labels.get("scenario") == "typo"


@pytest.mark.parametrize("predicate", [is_typo, "scenario:typo", "scenario: typo"])
def test_cases_outside_do_not_count(predicate: str) -> None:
    result = SlicedMetric(RecallAtK(1), predicate).compute([TYPO, PLAIN, TYPO], [got("a"), got("x"), got("x")])
    assert (result.value, result.details) == (0.5, {"num_samples": 2, "num_skipped": 1})


def test_its_name() -> None:
    assert SlicedMetric(RecallAtK(1), is_typo).name == "recall@1/is_typo"
    assert SlicedMetric(RecallAtK(1), is_typo, name="typos").compute([], []).name == "typos"


@pytest.mark.parametrize(
    ("labels", "predicate", "inside"),
    [
        ({"lang": "de"}, "lang:de", True),
        ({"lang": ["de", "en"]}, "lang:en", True),
        ({"hard": True}, "hard:true", True),
        ({"level": 3}, "level:3", True),
        ({}, "lang:none", True),
        ({"lang": "de"}, "lang:en", False),
        ({"when": "a:b"}, "when:a:b", True),
    ],
)
def test_slices_in_words(labels: dict[str, object], predicate: str, inside: bool) -> None:
    seen = SlicedMetric("recall@1", predicate).measure(wants("a", labels=labels), got("a"))
    assert isinstance(seen, Measurement) is inside


def test_metadata_can_be_sliced_by() -> None:
    sample = wants("a", metadata={"team": "search"})
    assert SlicedMetric("recall@1", "team:search").predicate(sample)


@pytest.mark.parametrize("words", ["typo", ":typo", " :x"])
def test_a_slice_is_key_and_value(words: str) -> None:
    with pytest.raises(MetricError, match="a slice is key:value"):
        SlicedMetric("recall@1", words)


def test_it_takes_after_its_base() -> None:
    made = SlicedMetric(PercentileLatency(95), is_typo)
    base = PercentileLatency(95)
    for name in ("target", "direction", "range", "deterministic", "baselined", "version"):
        assert getattr(made, name) == getattr(base, name)
    assert SlicedMetric("recall@1", is_typo).required_fields() == ["relevant_docs"]
    assert made.params()["slice"] == "p95_latency/is_typo"
