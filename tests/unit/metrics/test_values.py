"""A value of a wrong type gives an error that says where it is, what was expected, and what was found."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_auepora.core.metrics_base import Measurement
from pytest_auepora.core.types import Document, EvaluationSample, Response, RetrievedDocument, SystemOutputs
from pytest_auepora.errors import MetricError
from pytest_auepora.metrics.registry import Registry
from pytest_auepora.metrics.values import expected_behaviour, read_entries, read_list, read_number

from .rankings import graded, wants
from .samples import case, gave, value

LABELS = [
    ("claim_recall", {"claims": 7}, r"labels\['claims'\] must be a list, got int"),
    ("nugget_recall", {"nuggets": 7}, r"labels\['nuggets'\] must be a list, got int"),
    ("nugget_recall", {"nuggets": [7]}, r"a nugget in labels\['nuggets'\] must be a list, got int"),
    ("redaction_efficacy", {"sensitive": 7}, r"labels\['sensitive'\] must be a list, got int"),
    ("secure_field_bypass", {"sensitive": 7}, r"labels\['sensitive'\] must be a list, got int"),
    ("document_noise@5", {"noise_docs": 7}, r"labels\['noise_docs'\] must be a list, got int"),
    ("rubric", {"rubric": 7}, r"labels\['rubric'\] must be a list, got int"),
    ("mistake_reappearance", {"mistakes": [{"name": "a", "aliases": 7}]}, r"aliases in labels\['mistakes'\] must be"),
    ("timeout_rate", {"soft_deadline_ms": "soon"}, "soft_deadline_ms must be a number, got 'soon'"),
]


@pytest.mark.parametrize(("name", "labels", "told"), LABELS)
def test_wrong_labels(name: str, labels: dict[str, Any], told: str) -> None:
    outputs = SystemOutputs([], Response("It is a."), {"end_to_end": 1.0})
    with pytest.raises(MetricError, match=told):
        Registry().get(name).measure(case(**labels), outputs)


def test_a_wrong_schema() -> None:
    pytest.importorskip("jsonschema", reason="the extra jsonschema is not installed")
    with pytest.raises(MetricError, match="answer_schema is not a JSON Schema: it must be a mapping, got 7"):
        Registry().get("json_schema_valid").measure(case(answer_schema=7), gave("{}"))


def test_wrong_alternatives() -> None:
    sample = EvaluationSample("a", "q", reference_answer=Response("a", metadata={"alternatives": 7}))
    with pytest.raises(MetricError, match=r"reference_answer.metadata\['alternatives'\] must be a list, got int"):
        Registry().get("exact_match").measure(sample, gave("a"))


OUTPUTS = [
    ("mean_latency", {"timings": {"end_to_end": "fast"}}, "timing 'end_to_end' must be a number, got 'fast'"),
    ("timeout_rate[5]", {"timings": {"end_to_end": [1]}}, r"timing 'end_to_end' must be a number, got \[1\]"),
    ("retries", {"extra": {"retry": {"attempts": "many"}}}, "attempts in .* must be a whole number, got 'many'"),
    ("retries", {"extra": {"retry": {"attempts": 2, "reasons": 7}}}, r"reasons in extra\['retry'\] must be a list"),
    ("memory_mb", {"extra": {"resources": {"memory_mb": "x"}}}, r"memory_mb in extra\['resources'\] must be a number"),
    ("claim_precision", {"extra": {"claims": [7]}}, r"a claim in claims\['answer'\] must be a list, got int"),
]


@pytest.mark.parametrize(("name", "outputs", "told"), OUTPUTS)
def test_wrong_outputs(name: str, outputs: dict[str, Any], told: str) -> None:
    with pytest.raises(MetricError, match=told):
        Registry().get(name).measure(case(), SystemOutputs([], Response("a"), **outputs))


@pytest.mark.parametrize(
    ("name", "labels", "privacy", "metadata", "told"),
    [
        ("secure_field_bypass", {"secure_field": "no"}, {"bypassed": True}, {}, r"labels\['secure_field'\]"),
        ("secure_field_bypass", {"secure_field": True}, {"bypassed": "false"}, {}, r"extra\['privacy'\]\['bypassed'\]"),
        ("error_detection", {"mistakes": ["a"]}, {}, {"error_detected": "no"}, r"metadata\['error_detected'\]"),
        ("counterfactual_consistency", {"expect_change": "no"}, {}, {}, r"labels\['expect_change'\]"),
    ],
)
def test_a_text_is_never_true(
    name: str, labels: dict[str, Any], privacy: dict[str, Any], metadata: dict[str, Any], told: str
) -> None:
    outputs = SystemOutputs([], Response("a", metadata=metadata), extra={"privacy": privacy})
    with pytest.raises(MetricError, match=f"{told} must be true or false, got"):
        Registry().get(name).measure(case(**labels), outputs)


def test_entities_of_a_document() -> None:
    def found(entities: Any) -> SystemOutputs:
        return SystemOutputs([RetrievedDocument(Document("d", "", {"entities": entities}), 1.0, 1)], Response("a"))

    metric, sample = Registry().get("coverage_entities"), case(entities=["Rome"])
    assert [value(metric, sample, found(given)) for given in ("Rome", ["rome"], {"Rome": 1}, None)] == [1, 1, 1, 0]
    with pytest.raises(MetricError, match=r"metadata\['entities'\] must be a list, got int"):
        metric.measure(sample, found(7))


def test_one_reason_of_a_retry_is_one() -> None:
    outputs = SystemOutputs([], Response("a"), {}, {"retry": {"attempts": 2, "reasons": "timeout"}})
    seen = Registry().get("retries").measure(case(), outputs)
    assert isinstance(seen, Measurement)
    assert seen.details == {"reasons": ["timeout"]}


def test_what_is_read() -> None:
    assert (read_list("a", "x"), read_list(("a", 1), "x"), read_list({"a": 1}, "x")) == (["a"], ["a", 1], ["a"])
    assert (read_entries(None, "x"), read_entries({"a": 1}, "x"), read_entries("a", "x")) == ([], [{"a": 1}], ["a"])
    assert (read_number("0.5", "x"), read_number(2.0, "x", int)) == (0.5, 2)
    for wrong in (float("nan"), 10**400, None, "x"):
        with pytest.raises(MetricError, match="x must be a"):
            read_number(wrong, "x", int if wrong != 10**400 else float)


@pytest.mark.parametrize(
    ("sample", "expected"),
    [
        (EvaluationSample("s", "q"), "answer"),
        (wants("a"), "answer"),
        (wants(), "refuse"),
        (wants(*graded(a=0, b=0)), "refuse"),
        (wants(*graded(a=0, b=1)), "answer"),
        (wants("a", labels={"scenario": "unanswerable"}), "refuse"),
        (wants("a", labels={"scenario": "typo"}), "answer"),
        (wants(labels={"expect": "answer"}), "answer"),
        (wants("a", labels={"expect": "refuse"}), "refuse"),
        (wants(labels={"expect": "clarify"}), "clarify"),
        (wants(labels={"scenario": "unanswerable", "expect": "clarify"}), "clarify"),
    ],
)
def test_what_a_case_calls_for(sample: EvaluationSample, expected: str) -> None:
    assert expected_behaviour(sample) == expected


def test_an_unknown_expectation_is_an_error() -> None:
    with pytest.raises(
        MetricError, match=r"expect must be answer, refuse or clarify, got 'refused' \(did you mean 'ref"
    ):
        expected_behaviour(wants(labels={"expect": "refused"}))
