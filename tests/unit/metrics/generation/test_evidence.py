"""Support of the answer by what was retrieved."""

from __future__ import annotations

from pytest_auepora.core.metrics_base import Measurement
from pytest_auepora.core.types import Document
from pytest_auepora.metrics.generation.evidence import KPrecision, UnsupportedNumbers

from ..samples import case, gave, reason, value


def test_k_precision_clips() -> None:
    answer = gave("refunds, refunds and more refunds", "the refunds", "refunds and returns")
    seen = KPrecision().measure(case(), answer)
    assert seen == Measurement(3 / 5, details={"unsupported": ["refunds", "more"]})
    assert value(KPrecision(), case(), gave("", "text")) == 0
    assert value(KPrecision(), case(), gave("北京大学", "在北京")) == 0.5
    nothing = KPrecision().measure(case(), gave("x"))
    assert nothing == Measurement(0.0, details={"unsupported": ["x"], "note": "nothing was retrieved"})


def test_unsupported_numbers() -> None:
    metric = UnsupportedNumbers()
    assert metric.direction == "lower"
    sample = case(query="Which of the 3 plans?")
    outputs = gave("Plan 3 costs $1,000 a year, from 1 May 2024, and 7 GB.", "one thousand dollars", "since 2024-05-01")
    assert metric.measure(sample, outputs) == Measurement(0.25, details={"unsupported": ["7 gb"]})
    assert reason(metric, sample, gave("none")) == "no number in the answer"
    assert reason(metric, sample, gave("")) == "the answer is empty"
    assert value(metric, sample, gave("4 plans")) == 1
    assert reason(metric, case(), gave("4", Document("d1"))) == "the retrieved documents carry no text"
