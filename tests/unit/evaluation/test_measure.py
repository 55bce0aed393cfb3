"""From a finished call to scores: answers, exceptions, shapes nobody can read."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_auepora.adapters.systems import as_system
from pytest_auepora.calls.call import CallResult
from pytest_auepora.core.metrics_base import Metric, NotApplicable
from pytest_auepora.core.types import Document, EvaluationSample, Response, SystemOutputs, TargetCategory
from pytest_auepora.evaluation.measure import CaseCall, Convert, measure_calls
from pytest_auepora.io.golden.model import GoldenCase
from pytest_auepora.metrics.registry import Registry

CASE = GoldenCase(EvaluationSample("one", "How long?", [Document("a")], reference_answer=Response("thirty days")))
SYSTEM = as_system(lambda query: query)
METRICS = {name: Registry().get(name) for name in ("recall@1", "token_f1", "mean_latency")}


def scores(*calls: CallResult, **how: Any) -> list[dict[str, float | None]]:
    done = measure_calls([CaseCall(CASE, call) for call in calls], SYSTEM, METRICS, **how)
    return [{name: score.value for name, score in one.result.scores.items()} for one in done]


def test_calls_are_measured_together_and_stay_in_order() -> None:
    good, bad = CallResult(("thirty days", ["a"]), seconds=0.5), CallResult(("never", ["b"]), seconds=0.25)
    assert scores(good, bad) == [
        {"recall@1": 1.0, "token_f1": 1.0, "mean_latency": 0.5},
        {"recall@1": 0.0, "token_f1": 0.0, "mean_latency": 0.25},
    ]


@pytest.mark.parametrize("call", [CallResult(error=ConnectionError("no route")), CallResult(object())])
def test_what_is_no_answer_is_an_error_under_every_metric(call: CallResult) -> None:
    (done,) = measure_calls([CaseCall(CASE, call)], SYSTEM, METRICS)
    assert done.answer is None
    assert done.result.state == "error"
    assert {score.state for score in done.result.scores.values()} == {"error"}


def test_a_label_that_cannot_be_compared_is_an_error() -> None:
    quoted = [Document("refunds.md", "thirty days", {"match": "quote"})]
    case = GoldenCase(EvaluationSample("one", "How long?", quoted, reference_answer=Response("thirty days")))
    without_text = {"answer": "thirty days", "documents": [{"id": "a", "source": "refunds.md"}]}
    (done,) = measure_calls([CaseCall(case, CallResult(without_text))], SYSTEM, METRICS)
    assert done.result.scores["token_f1"].value == 1
    recall = done.result.scores["recall@1"]
    assert (recall.state, "'a'" in recall.reason, "refunds.md" in recall.reason) == ("error", True, True)
    assert done.result.ranks == {}
    assert [hit["grade"] for hit in done.result.outputs["retrieved"]] == [0]


def test_a_conversion_of_the_project_comes_first() -> None:
    def convert(value: Any, sample: EvaluationSample) -> SystemOutputs | None:
        return SystemOutputs([], Response(f"thirty {value}")) if value == "days" else None

    converted, left = scores(CallResult("days"), CallResult("thirty days"), convert=convert)
    assert converted["token_f1"] == left["token_f1"] == 1.0


@pytest.mark.parametrize("convert", [None, lambda value, sample: SystemOutputs([], Response(value))])
def test_a_call_that_looks_an_answer_up_has_no_time(convert: Convert | None) -> None:
    (untimed,) = scores(CallResult("days", seconds=0.5), convert=convert, timed=False)
    assert untimed["mean_latency"] is None


def test_outputs_that_a_conversion_shares_are_left_as_they_are() -> None:
    shared = SystemOutputs([], Response("days"))
    calls = [CallResult("days", seconds=seconds) for seconds in (0.5, 0.25)]
    measured = scores(*calls, convert=lambda value, sample: shared)
    assert [values["mean_latency"] for values in measured] == [0.5, 0.25]
    assert not shared.timings


def test_retries_are_noted_where_a_call_can_be_repeated() -> None:
    call = CallResult("x", attempts=2, has_retry_policy=True, retry_reasons=["503"])
    (done,) = measure_calls([CaseCall(CASE, call)], SYSTEM, METRICS)
    assert isinstance(done.answer, SystemOutputs)
    assert done.answer.extra["retry"] == {"attempts": 2, "reasons": ["503"]}


def test_labels_that_are_gone_say_why_there_is_no_score() -> None:
    moved = {"match": "none", "labels": {"p#1": {"match": "none"}, "p#2": {"match": "exact"}}}
    case = GoldenCase(EvaluationSample("one", "q", None), moved=moved)
    (done,) = measure_calls([CaseCall(case, CallResult("x"))], SYSTEM, {"recall@1": METRICS["recall@1"]})
    assert done.result.scores["recall@1"].reason == "labels moved: p#1"


def test_moved_labels_explain_no_other_missing_score() -> None:
    class Silent(Metric):
        name, target = "silent", TargetCategory.GENERATION_RELEVANCE

        def measure(self, sample: EvaluationSample, outputs: SystemOutputs) -> NotApplicable:
            return NotApplicable("no relevant_docs")

    moved = {"match": "none", "labels": {"p#1": {"match": "none"}}}
    case = GoldenCase(EvaluationSample("one", "q", None), moved=moved)
    (done,) = measure_calls([CaseCall(case, CallResult("x"))], SYSTEM, {"silent": Silent()})
    assert done.result.scores["silent"].reason == "no relevant_docs"
