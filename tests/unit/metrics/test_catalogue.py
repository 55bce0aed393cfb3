"""chrF, recall of the expected content, support by the evidence, structure."""

from __future__ import annotations

import pytest

from pytest_auepora.core.metrics_base import Metric
from pytest_auepora.metrics.generation.assertions import JsonSchemaValid
from pytest_auepora.metrics.generation.bleu import Chrf
from pytest_auepora.metrics.generation.evidence import KPrecision, UnsupportedNumbers
from pytest_auepora.metrics.generation.recall import InformationIntegration, NuggetRecall
from pytest_auepora.metrics.generation_overlap import AnswerRecall, ContainsAnswer
from pytest_auepora.metrics.registry import Registry

MADE: list[Metric] = [
    Chrf(),
    Chrf(char_order=4, beta=1.5, lowercase=True),
    AnswerRecall(),
    AnswerRecall(ignore_articles=False),
    ContainsAnswer(multilingual=False),
    NuggetRecall(),
    NuggetRecall(only="all", strict=True),
    InformationIntegration(),
    KPrecision(),
    KPrecision(evidence_source="relevant"),
    UnsupportedNumbers(evidence_source="relevant"),
    JsonSchemaValid(),
]


@pytest.mark.parametrize("metric", MADE, ids=lambda m: m.name)
def test_names_of_metrics_made_in_code_are_accepted(metric: Metric) -> None:
    again = Registry().get(metric.name)
    assert type(again) is type(metric)
    assert (again.name, again.params(), again.target) == (metric.name, metric.params(), metric.target)
    assert metric.formula
    assert metric.source
    assert metric.oracle
