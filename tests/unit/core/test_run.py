"""Results and runs: JSON and back, also of newer versions; scores that tests compare."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora.core.case_texts import CaseTexts
from pytest_auepora.core.metrics_base import Measurement
from pytest_auepora.core.run import CaseResult, ComparableScore, MetricInfo, Run
from pytest_auepora.core.scoring import Score
from pytest_auepora.errors import NotMeasuredError

from .test_scoring import Const, scores


@given(st.dictionaries(st.text(max_size=4), scores, max_size=4), st.text(max_size=20))
def test_results_survive_json(found: dict[str, Score], query: str) -> None:
    case = CaseResult("a", scores=found, texts=CaseTexts(query), ranks={"d": None, "e": 3}, labels={"tags": ["x"]})
    assert CaseResult.from_dict(json.loads(json.dumps(case.to_dict()))) == case
    run = Run("s", "p", "v", {"a": case}, {"m": MetricInfo.of(Const("m", Measurement(0.0)))}, ("a", "b"))
    again = Run.from_dict(json.loads(json.dumps(run.to_dict())))
    assert again == run
    assert again.missing_ids == ("b",)
    assert not again.is_full


def test_results_of_a_newer_version_are_read() -> None:
    assert CaseResult.from_dict({"case_id": "a", "some_new_key": 1}).case_id == "a"
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
