"""Wrong facts in the context."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_auepora.core.metrics_base import Measurement, NotApplicable
from pytest_auepora.core.types import EvaluationSample, Response, SystemOutputs
from pytest_auepora.errors import MetricError
from pytest_auepora.metrics.robustness import ErrorCorrection, ErrorDetection, MisleadingRate, MistakeReappearance

from .samples import is_na, reason, said, value


def asked(name: str = "s", of: str | None = None, scenario: str = "misinformation", **labels: Any) -> EvaluationSample:
    given = {"variant_of": of, "scenario": scenario} if of else {}
    return EvaluationSample(name, "q", reference_answer=Response("Athens"), labels={**given, **labels})


def test_who_is_misled() -> None:
    cases = [
        (asked("a"), said("In Athens.")), (asked("a1", "a"), said("In Rome.")), (asked("a2", "a"), said("Athens!")),
        (asked("b"), said("In Rome.")), (asked("b1", "b"), said("In New York.")),
        (asked("c"), said("Athens")), (asked("c1", "c", "typo"), said("New York")),
    ]  # fmt: skip
    metric = MisleadingRate("contains_answer")
    result = metric.compute([s for s, _ in cases], [o for _, o in cases])
    assert (result.value, result.details) == (1 / 2, {"num_samples": 2, "misled": 1, "num_skipped": 1})
    assert metric.direction == "lower"


def test_nobody_could_be_misled() -> None:
    result = MisleadingRate().compute([asked("a"), asked("a1", "a")], [said("Rome"), said("New York")])
    assert (result.value, result.details["num_samples"]) == (0.0, 0)
    assert MisleadingRate().measure(EvaluationSample("s", "q"), said("x")) == NotApplicable("no reference_answer")


def test_right_from_some_score_on() -> None:
    pair = [asked("a"), asked("a1", "a")]
    outputs = [said("Athens"), said("Athens in Greece")]
    assert MisleadingRate("token_f1").compute(pair, outputs).value == 1.0
    assert MisleadingRate("token_f1", at_least=0.4).compute(pair, outputs).value == 0.0


def test_a_metric_without_scores_of_cases_cannot_tell() -> None:
    with pytest.raises(MetricError, match="response_diversity scores no single case"):
        MisleadingRate("response_diversity").measure(asked(), said("Athens"))


def test_mistakes_that_come_back() -> None:
    sample = asked(mistakes=["New York|NYC", "2004 BC"])
    assert MistakeReappearance().measure(sample, said("It was in nyc.")) == Measurement(
        0.5, details={"repeated": ["New York"]}
    )
    assert value(MistakeReappearance(), sample, said("Athens, 2004")) == 0.0
    assert is_na(MistakeReappearance(), asked(), said("x"))
    assert reason(MistakeReappearance(), sample, said(" ")) == "no answer"
    assert MistakeReappearance().direction == "lower"


WRONG: dict[str, Any] = {"mistakes": ["New York"]}
NOTICED = "There are Factual Errors in the provided documents. It was in Athens."


@pytest.mark.parametrize(
    ("outputs", "detected", "corrected"),
    [
        (said(NOTICED), 1.0, 1.0),
        (said("There are factual errors in the provided documents."), 1.0, 0.0),
        (said("In New York."), 0.0, None),
        (said("Athens", error_detected=True), 1.0, 1.0),
        (said(NOTICED, error_detected=False), 0.0, None),
        (said(""), 0.0, None),
    ],
)
def test_errors_noticed_and_corrected(outputs: SystemOutputs, detected: float, corrected: float | None) -> None:
    sample = asked(**WRONG)
    assert value(ErrorDetection(), sample, outputs) == detected
    if corrected is None:
        assert is_na(ErrorCorrection(), sample, outputs)
    else:
        assert value(ErrorCorrection(), sample, outputs) == corrected


def test_only_where_mistakes_are_planted() -> None:
    assert is_na(ErrorDetection(), asked(), said(NOTICED))
    assert is_na(ErrorCorrection(), asked(), said(NOTICED))


def test_own_phrases() -> None:
    assert value(ErrorDetection(["stimmt nicht"]), asked(**WRONG), said("Das stimmt  nicht.")) == 1.0
