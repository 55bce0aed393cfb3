"""Results and runs: JSON and back, also of newer versions."""

from __future__ import annotations

import json
from dataclasses import asdict

from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora.base.records import read_record
from pytest_auepora.core.case_texts import CaseTexts
from pytest_auepora.core.metrics_base import Measurement
from pytest_auepora.core.run import CaseResult, MetricInfo, Run
from pytest_auepora.core.scoring import Score

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
