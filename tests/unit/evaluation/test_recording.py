"""Answers as they are kept: everything a metric reads comes back, and what does not is missed, not made up."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np
import pytest

from pytest_auepora.adapters.systems import as_system
from pytest_auepora.base.json import encode
from pytest_auepora.base.records import RecordError, read_record
from pytest_auepora.calls.call import CallResult
from pytest_auepora.core.metrics_base import Measurement, Metric
from pytest_auepora.core.run import CaseResult, MetricInfo
from pytest_auepora.core.types import (
    Document,
    EvaluationSample,
    Response,
    RetrievedDocument,
    SystemOutputs,
    TargetCategory,
)
from pytest_auepora.evaluation.measure import CaseCall, measure_calls
from pytest_auepora.evaluation.recording import RecordedAnswer, Recording, record
from pytest_auepora.io.golden.model import GoldenCase
from pytest_auepora.metrics.registry import Registry
from pytest_auepora.regression.baseline import metric_key

CASE = GoldenCase(
    EvaluationSample("one", "How long?", [Document("a")], reference_answer=Response("thirty days")),
    content_hash="abc", top_k=5,
)  # fmt: skip
SYSTEM = as_system(lambda query: query)


def outputs(**changes: Any) -> SystemOutputs:
    hit = RetrievedDocument(Document("a", "within thirty days " * 30, {"page": 3, "entities": ["x"]}), 0.1 + 0.2, 1)
    other = RetrievedDocument(Document("b", "\u3042 \x00", {}), -1e-300, 2)
    given = SystemOutputs(
        [hit, other], Response("thirty", {"days": 30}, {"citations": ["a"], "refused": False}),
        {"retrieval": 0.25, "end_to_end": 1 / 3}, {"status": 200, "trace": {"deep": [1, None, "x"]}},
    )  # fmt: skip
    return replace(given, **changes)


def metrics(*names: str) -> dict[str, Metric]:
    return {name: Registry().get(name) for name in names}


def keys(used: dict[str, Metric]) -> dict[str, dict[str, Any]]:
    return {name: metric_key(MetricInfo.of(metric)) for name, metric in used.items()}


def measured(
    call: CallResult, used: dict[str, Metric], case: GoldenCase = CASE, **how: Any
) -> tuple[CaseResult, Recording]:
    """Return what is measured on *call*, and what is recorded of it."""
    (done,) = measure_calls([CaseCall(case, call)], SYSTEM, used)
    assert not isinstance(done.answer, RecordedAnswer)
    kept = record(case, done.result, done.answer, used, **{"cap": 1_000_000, **how})
    return done.result, read_record(Recording, encode(kept))  # as it comes back from a file


def recorded(given: SystemOutputs, used: dict[str, Metric], **how: Any) -> tuple[CaseResult, RecordedAnswer]:
    """Measure *given* and record it."""
    result, kept = measured(CallResult(given, seconds=0.5, concurrency=4), used, **how)
    return result, RecordedAnswer(kept, keys(used))


def restored(kept: RecordedAnswer) -> SystemOutputs:
    assert kept.outputs is not None
    return kept.outputs.restore()


def again(kept: RecordedAnswer, used: dict[str, Metric]) -> CaseResult:
    return measure_calls([CaseCall(CASE, CallResult(kept))], SYSTEM, used)[0].result


USED = metrics("recall@1", "token_f1", "k_precision", "mean_latency", "citation_coverage")


def test_everything_comes_back() -> None:
    given = outputs()
    result, kept = recorded(given, USED)
    assert restored(kept) == given
    assert again(kept, USED) == result
    new = metrics("rougeL", "coverage_entities")
    assert again(kept, new).scores == measured(CallResult(given, seconds=0.5), new)[0].scores


def test_an_error_stays_what_it_was() -> None:
    result, kept = measured(CallResult(error=ConnectionError("no route"), seconds=2.0), USED)
    assert kept.outputs is None
    assert again(RecordedAnswer(kept), USED) == result


def test_what_json_cannot_carry_is_lost_by_name() -> None:
    extra = {"when": date(2031, 1, 1), "n": np.float64(0.5), "ids": np.array([1, 2]), "pair": (1, 2), "odd": {1: 2}}
    result, kept = recorded(outputs(extra=extra), USED)
    assert restored(kept).extra == {"n": 0.5, "ids": [1, 2], "pair": [1, 2]}
    assert again(kept, USED).scores == result.scores
    new = again(kept, metrics("rougeL", "retries")).scores
    assert new["rougeL"].state == "number"
    assert new["retries"].state == "error"
    assert kept.lacks(metrics("retries")["retries"], CASE.sample) == {"extra": "not JSON"}


def test_largest_texts_are_cut_and_metrics_of_them_missed() -> None:
    result, kept = recorded(outputs(), USED, cap=300)
    assert kept.recording.is_cut
    assert [hit.doc.text[-3:] for hit in restored(kept).retrieved] == ["wi…", "\u3042 \x00"]
    assert again(kept, USED) == result  # measured then, by the same metrics
    scores = again(RecordedAnswer(kept.recording), USED).scores  # by others
    assert scores["recall@1"].value == 1.0
    assert scores["token_f1"].value == result.scores["token_f1"].value
    assert scores["k_precision"].state == "error"
    assert kept.lacks(metrics("k_precision")["k_precision"], CASE.sample) == {"documents": "cut"}


def test_rankings_of_quotes_miss_cut_documents() -> None:
    quoted = replace(CASE.sample, relevant_docs=[Document("a", "within thirty", {"match": "quote"})])
    case = replace(CASE, sample=quoted)
    recall = metrics("recall@1")
    _, kept = measured(CallResult(outputs()), recall, case, cap=300)
    answer = RecordedAnswer(kept)
    assert answer.lacks(recall["recall@1"], CASE.sample) == {}
    assert answer.lacks(recall["recall@1"], quoted) == {"documents": "cut"}


@pytest.mark.slow
def test_forty_thousand_documents_are_cut_in_linear_time() -> None:
    def seconds(n: int) -> float:
        hits = [RetrievedDocument(Document(f"d{i}", "text" * 20, {"page": i}), 0.5, i) for i in range(n)]
        result, given = measured(CallResult(outputs()), {})[0], outputs(retrieved=hits)
        start = time.process_time()
        record(CASE, result, given, {}, cap=1000)
        return time.process_time() - start

    assert min(seconds(40_000) for _ in range(3)) < 20 * min(seconds(4_000) for _ in range(3))


@pytest.mark.parametrize("cap", [1, 100, 400, 5000])
def test_no_cap_is_too_small(cap: int) -> None:
    _, kept = recorded(outputs(), USED, cap=cap)
    assert again(kept, USED).scores.keys() == USED.keys()


def test_what_a_redaction_is_not_shown_is_not_kept() -> None:
    def redact(result: CaseResult) -> None:
        result.outputs["answer"] = "[…]"

    result, kept = recorded(outputs(), USED, redact=redact)
    said = repr(kept.recording)
    assert not any(word in said for word in ("trace", "page", "30}", "200"))
    back = restored(kept)
    assert back.response.metadata == {"citations": ["a"], "refused": False}  # which it is shown, and let be
    assert back.retrieved[0].doc.text == outputs().retrieved[0].doc.text
    assert back.response.text == "[…]"
    assert kept.recording.outputs is not None
    assert kept.recording.outputs.lost == {
        "answer": "changed", "metadata": "unseen", "structured": "unseen", "extra": "unseen",
        "document_metadata": "unseen",
    }  # fmt: skip
    assert again(kept, USED).scores == result.scores
    assert again(kept, USED).outputs["answer"] == "[…]"


@pytest.mark.parametrize("how", ["removed", "renamed", "emptied"])
def test_a_ranking_that_was_changed_is_not_there(how: str) -> None:
    def redact(result: CaseResult) -> None:
        if how == "removed":
            result.outputs["retrieved"].pop()
        elif how == "renamed":
            result.outputs["retrieved"][0]["id"] = "…"
        else:
            result.outputs.clear()

    _, kept = recorded(outputs(), USED, redact=redact)
    assert restored(kept).retrieved == []
    assert again(kept, recall := metrics("recall@3")).scores["recall@3"].state == "error"
    assert kept.lacks(recall["recall@3"], CASE.sample) == {"ranking": "changed"}


class Moody(Metric):
    """A number that nobody gets twice."""

    name = "moody"
    target = TargetCategory.GENERATION_CORRECTNESS
    deterministic = False
    reads = frozenset({"answer"})

    def __init__(self) -> None:
        self.asked = 0

    def measure(self, sample: EvaluationSample, outputs: SystemOutputs) -> Measurement:
        self.asked += 1
        return Measurement(1 / self.asked)


def test_a_judged_score_is_kept_while_its_metric_is_the_same() -> None:
    moody = Moody()
    result, kept = recorded(outputs(), {"moody": moody})
    assert again(kept, {"moody": moody}).scores == result.scores
    assert moody.asked == 1
    moody.version = 2
    assert again(kept, {"moody": moody}).scores["moody"].value == 0.5


@pytest.mark.parametrize("hidden", [{}, {"trace": object()}], ids=["all is there", "something is not"])
def test_scores_of_today_take_the_place_of_those_of_then(hidden: dict[str, Any]) -> None:
    moody = Moody()
    _, kept = recorded(outputs(extra=hidden), {"moody": moody})
    moody.version = 2
    today = again(kept, {"moody": moody})

    def redact(result: CaseResult) -> None:
        result.scores["moody"].details = {}

    today.scores["moody"].details = {"rationale": "what nobody may read"}
    now = RecordedAnswer(kept.rescored(today, {"moody": moody}, redact=redact), keys({"moody": moody}))
    assert "nobody" not in repr(now.recording)
    assert "nobody" in repr(kept.rescored(today, {"moody": moody}))
    assert again(now, {"moody": moody}).scores["moody"].value == 0.5
    assert moody.asked == 2
    assert restored(now).response == restored(kept).response
    assert now.rescored(again(now, {"moody": moody}), {"moody": moody}) == now.recording


def test_it_answers_the_same_question_only() -> None:
    _, kept = recorded(outputs(), USED)
    assert kept.differs(CASE) == ""
    assert kept.differs(replace(CASE, content_hash="def"))
    assert re.findall(r"\d+", kept.differs(replace(CASE, top_k=7))) == ["5", "7"]


def test_labels_that_had_moved_are_matched_as_they_were() -> None:
    gold = [Document("old", "", {"match": "moved", "ids": ["a"]})]
    relabelled = replace(CASE, sample=replace(CASE.sample, relevant_docs=gold), moved={"match": "span", "labels": {}})
    result, text = measured(CallResult(outputs()), USED, relabelled)
    kept = again(RecordedAnswer(text, keys(USED)), USED)  # asked with the case of the golden file
    assert (kept.scores, kept.ranks, kept.expected) == (result.scores, result.ranks, result.expected)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{}", "there is no key 'hash'"),
        ('{"hash":"h","top_k":5,"seconds":0.1,"concurrency":0}', "concurrency: expected a whole number from 1 on"),
    ],
)
def test_a_damaged_recording_is_told(text: str, said: str) -> None:
    with pytest.raises(RecordError, match=said):
        read_record(Recording, text)
