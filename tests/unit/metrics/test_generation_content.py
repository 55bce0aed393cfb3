"""chrF, recall of the expected content, support by the evidence, structure."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from pytest_auepora.core.metrics_base import Measurement, Metric
from pytest_auepora.core.types import Document, Response, SystemOutputs
from pytest_auepora.errors import MetricError, MissingExtraError
from pytest_auepora.metrics.generation.chrf import Chrf
from pytest_auepora.metrics.generation.evidence import KPrecision, UnsupportedNumbers
from pytest_auepora.metrics.generation.recall import (
    AnswerRecall,
    ContainsAnswer,
    InformationIntegration,
    NuggetRecall,
)
from pytest_auepora.metrics.generation.structure import JsonSchemaValid
from pytest_auepora.metrics.registry import Registry

from .samples import case, gave, reason, value

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


# --- chrF


def test_chrf() -> None:
    metric = Chrf()
    assert value(metric, case("北京"), gave("北京")) == 1
    assert 0 < value(metric, case("北京大学"), gave("北京")) < 1
    assert value(metric, case("abc"), gave("xyz")) == 0
    assert value(Chrf(lowercase=True), case("ABC"), gave("abc")) == 1
    assert metric.measure(case("abc"), gave(" ")) == Measurement(
        0.0, [0, 3, 0, 0, 2, 0, 0, 1, 0, *[0] * 9], {"note": "the answer is empty"}
    )
    assert reason(metric, case(), gave("x")) == "no reference_answer"


def test_chrf_of_the_corpus_stands_beside_the_mean() -> None:
    samples, outputs = [case("the cat sat"), case("a dog")], [gave("the cat sat"), gave("cats")]
    result = Chrf().compute(samples, outputs)
    alone = [value(Chrf(), s, o) for s, o in zip(samples, outputs, strict=True)]
    assert result.value == sum(alone) / 2
    assert 0 < result.details["corpus"] != result.value


# --- recall of the expected content


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
    assert (
        reason(NuggetRecall(), case(nuggets=[{"any_of": ["x"], "importance": "okay"}]), gave("x")) == "no vital nugget"
    )
    with pytest.raises(MetricError, match="at least one wording"):
        NuggetRecall().measure(case(nuggets=[{"any_of": [" "]}]), gave("x"))


def test_information_integration_wants_every_part() -> None:
    metric, sample = InformationIntegration(), case(nuggets=NUGGETS)
    whole = gave("Within 30 days, original receipt with the date, by e-mail")
    assert value(metric, sample, whole) == 1
    assert metric.measure(sample, gave("Within 30 days by e-mail")) == Measurement(
        0.0, details={"missing": ["original receipt with the date"]}
    )
    assert reason(metric, case(nuggets=["x"]), gave("x")) == "fewer than two nuggets"
    assert reason(metric, case(), gave("x")) == "no nuggets"


# --- evidence


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


# --- structure

SCHEMA = {"type": "object", "required": ["days"], "properties": {"days": {"type": "integer", "minimum": 1}}}


def structured(answer: dict[str, Any] | None, text: str = "") -> SystemOutputs:
    return SystemOutputs([], Response(text, structured=answer))


def test_json_schema_valid() -> None:
    pytest.importorskip("jsonschema", reason="the extra jsonschema is not installed")
    metric, sample = JsonSchemaValid(), case(answer_schema=SCHEMA)
    assert value(metric, sample, structured({"days": 30})) == 1
    assert value(metric, sample, structured(None, '{"days": 30}')) == 1
    seen = metric.measure(sample, structured({"days": "30"}))
    assert seen == Measurement(0.0, details={"problems": ["$.days: '30' is not of type 'integer'"]})
    for text in ("", "thirty", "{'days': 30}", "[NaN]", "[" * 100_000):
        assert value(metric, sample, structured(None, text)) == 0
    assert reason(metric, case(), structured({})) == "no answer_schema"
    assert value(metric, case(answer_schema=False), structured({})) == 0


def test_a_schema_that_is_none_is_an_error() -> None:
    pytest.importorskip("jsonschema", reason="the extra jsonschema is not installed")
    with pytest.raises(MetricError, match="no JSON Schema"):
        JsonSchemaValid().measure(case(answer_schema={"type": "thing"}), structured({}))
    with pytest.raises(MetricError, match="no JSON Schema"):
        JsonSchemaValid().measure(case(answer_schema=["type"]), structured({}))


def test_a_reference_to_another_document_is_never_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("jsonschema", reason="the extra jsonschema is not installed")

    def no_network(*args: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket.socket, "connect", no_network)
    remote = case(answer_schema={"$ref": "http://127.0.0.1:9/schema.json"})
    with pytest.raises(MetricError, match="refers to another document"):
        JsonSchemaValid().measure(remote, structured({}))


def test_the_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "jsonschema", None)
    with pytest.raises(MissingExtraError, match=r"pytest-auepora\[jsonschema\]"):
        JsonSchemaValid().measure(case(answer_schema={}), structured({}))
