"""Recall of the expected content."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_auepora.core.metrics_base import Measurement
from pytest_auepora.errors import MetricError
from pytest_auepora.metrics.generation_overlap import AnswerRecall, ContainsAnswer
from pytest_auepora.metrics.text.assertions import InformationIntegration, NuggetRecall

from ..samples import case, gave, is_na, reason, value


def test_answer_recall_and_containment() -> None:
    long = gave("As far as we know, the Eiffel Tower, in Paris, is 330 metres tall.")
    assert value(AnswerRecall(), case("330 metres high"), long) == pytest.approx(2 / 3)
    assert value(AnswerRecall(), case(["nothing like it", "in Paris"]), long) == 1
    assert value(AnswerRecall(), case("tall tall"), long) == 0.5
    assert value(ContainsAnswer(), case("Eiffel tower in Paris"), long) == 1
    assert value(ContainsAnswer(), case("Tower Paris"), long) == 0
    assert value(ContainsAnswer(), case(["London", "paris"]), long) == 1
    assert value(ContainsAnswer(), case("30 metres"), long) == 0
    assert value(ContainsAnswer(), case("北京"), gave("中国的首都是北京。")) == 1
    assert value(ContainsAnswer(), case("a b"), gave("x a")) == 0


NUGGETS: list[Any] = [
    {"any_of": ["30 days", "one month"], "importance": "vital"},
    {"any_of": ["original receipt with the date"]},
    {"any_of": ["by e-mail"], "importance": "okay"},
]


def test_nugget_recall() -> None:
    sample = case(nuggets=NUGGETS)
    answer = gave("You have one month; bring the original receipt. Write by e-mail.")
    seen = NuggetRecall().measure(sample, answer)
    assert seen == Measurement(0.75, details={"partly": ["original receipt with the date"]})
    assert value(NuggetRecall(strict=True), sample, answer) == 0.5
    assert value(NuggetRecall(only="all"), sample, answer) == pytest.approx(2.5 / 3)
    assert NuggetRecall().measure(sample, gave("No idea.")) == Measurement(
        0.0, details={"missing": ["30 days", "original receipt with the date"]}
    )
    assert value(NuggetRecall(), case(nuggets="30 days"), gave("30 days")) == 1


def test_nuggets_that_cannot_be_counted() -> None:
    assert reason(NuggetRecall(), case(), gave("x")) == "no nuggets"
    assert is_na(NuggetRecall(), case(nuggets=[{"any_of": ["x"], "importance": "okay"}]), gave("x"))
    with pytest.raises(MetricError, match="at least one wording"):
        NuggetRecall().measure(case(nuggets=[{"any_of": [" "]}]), gave("x"))


def test_information_integration_wants_every_part() -> None:
    metric, sample = InformationIntegration(), case(nuggets=NUGGETS)
    whole = gave("Within 30 days, original receipt with the date, by e-mail")
    assert value(metric, sample, whole) == 1
    assert metric.measure(sample, gave("Within 30 days by e-mail")) == Measurement(
        0.0, details={"missing": ["original receipt with the date"]}
    )
    assert is_na(metric, case(nuggets=["x"]), gave("x"))
    assert reason(metric, case(), gave("x")) == "no nuggets"
