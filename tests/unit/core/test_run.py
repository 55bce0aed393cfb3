"""Results and runs: JSON and back, also of newer versions; scores that tests compare."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora.base.records import read_record
from pytest_auepora.core.case_texts import CaseTexts
from pytest_auepora.core.metrics_base import Measurement
from pytest_auepora.core.run import CaseResult, ComparableScore, MetricInfo, Run
from pytest_auepora.core.scoring import Aggregate, Score
from pytest_auepora.errors import NotMeasuredError

from .test_scoring import Const, scores


@given(st.dictionaries(st.text(max_size=4), scores, max_size=4), st.text(max_size=20))
def test_results_survive_json(found: dict[str, Score], query: str) -> None:
    case = CaseResult("a", scores=found, texts=CaseTexts(query), ranks={"d": None, "e": 3}, labels={"tags": ["x"]})
    assert read_record(CaseResult, json.dumps(case.to_dict())) == case
    run = Run("s", "p", "v", {"a": case}, {"m": MetricInfo.of(Const("m", Measurement(0.0)))}, ("a", "b"))
    again = Run.from_dict(json.loads(json.dumps(run.to_dict())))
    assert again == run
    assert again.missing_ids == ("b",)
    assert not again.is_full


def test_results_of_a_newer_version_are_read() -> None:
    assert read_record(CaseResult, '{"case_id": "a", "some_new_key": 1}').case_id == "a"
    info = MetricInfo("m", 1, {}, "LATENCY", "lower", (0.0, 1.0), True, True)
    read = Run.from_dict({"suite": "s", "metrics": {"m": {**asdict(info), "some_new_key": 1}}})
    assert read.metrics["m"] == info


def test_comparable_scores() -> None:
    score = ComparableScore("m", 0.5)
    assert score >= 0.5
    assert score <= 0.5
    assert score > 0.4
    assert score < 0.6
    assert score == 0.5
    assert score != 0.4
    assert score > 0.4
    assert score == ComparableScore("other", 0.5)
    assert repr(score) == "<m 0.5000>"
    missing = ComparableScore("m", None, "no reference_answer")
    for compare in (lambda: missing >= 0, lambda: missing == 0, lambda: missing < 1, lambda: float(missing)):
        with pytest.raises(NotMeasuredError, match="no reference_answer"):
            compare()


def test_scores_calculate_like_numbers() -> None:
    score, other = ComparableScore("m", 0.75), ComparableScore("o", 0.5)
    assert (score - other, other - 0.25, 1 - score) == (0.25, 0.25, 0.25)
    assert (score + other, score + 1, sum([score, other])) == (1.25, 1.75, 1.25)
    assert (score * 2, 2 * score, score / other, 3 / score) == (1.5, 1.5, 1.5, 4)
    assert (-score, abs(score), round(score, 1), round(ComparableScore("m", 1.2))) == (-0.75, 0.75, 0.8, 1)
    assert score == pytest.approx(0.75 + 1e-9)
    assert pytest.approx(score) == 0.75 + 1e-9
    assert score != pytest.approx(0.76)
    assert max(score, other) is score
    assert f"{score:.1%} {score:5.2f} {score}" == "75.0%  0.75 <m 0.7500>"
    with pytest.raises(TypeError):
        _ = score >= "0.5"  # type: ignore[operator]
    with pytest.raises(TypeError):
        _ = score - "0.5"  # type: ignore[operator]


def test_zero_is_false_and_what_was_not_measured_is_neither() -> None:
    assert ComparableScore("m", 0.1)
    assert not ComparableScore("m", 0.0)
    errored = Aggregate("m", None, 1.0, 0, 2, 0, 2)
    for score in (
        ComparableScore("m", None, "the answer is empty"),
        ComparableScore("duplicate_rate@5", 1.0, "the answer is empty", aggregate=errored),  # the worst value
    ):
        with pytest.raises(NotMeasuredError, match=f"{score.name} has no value: the answer is empty"):
            bool(score)


@pytest.mark.parametrize(
    "use", [lambda s: s - 1, lambda s: 1 - s, round, abs, lambda s: -s, lambda s: sum([s]), lambda s: f"{s:.2f}"]
)
def test_what_was_not_measured_is_no_number(use: Callable[[ComparableScore], object]) -> None:
    with pytest.raises(NotMeasuredError, match="m has no value: no reference_answer"):
        use(ComparableScore("m", None, "no reference_answer"))


def test_what_was_not_measured_is_not_approximately_anything() -> None:
    with pytest.raises(NotMeasuredError):
        assert ComparableScore("m", None) == pytest.approx(0.5)
