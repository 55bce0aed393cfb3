"""must_contain and forbidden phrases."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from pytest_auepora.core.metrics_base import Measurement
from pytest_auepora.core.types import Response, SystemOutputs
from pytest_auepora.errors import MetricError, MissingExtraError
from pytest_auepora.metrics.registry import Registry
from pytest_auepora.metrics.text.assertions import AssertionPass, JsonSchemaValid, phrase_finder

from ..samples import case, gave, is_na, reason, value

METRIC = AssertionPass()


def test_both_sides_must_hold_and_details_say_what_does_not() -> None:
    sample = case(must_contain=["30 days", "by e-mail"], forbidden=["60 days"])
    assert METRIC.measure(sample, gave("Within 30\n days, by E-Mail.")) == Measurement(1.0)
    seen = METRIC.measure(sample, gave("Within 60 days by e-mail"))
    assert seen == Measurement(0.0, details={"missing": ["30 days"], "forbidden_present": ["60 days"]})


@pytest.mark.parametrize(
    ("text", "phrase", "match", "found"),
    [
        ("It takes 130 days", "30 days", "word", False),
        ("It takes 130 days", "30 days", "substring", True),
        ("130 days or 30 days", "30 days", "word", True),
        ("costs $30.", "$30", "word", True),
        ("costs $300", "$30", "word", False),
        ("x$30", "$30", "word", True),
        ("We don\u2019t refund", "don't", "word", True),
        ("STRASSE", "Straße", "word", True),
        ("\uff21級", "a級", "word", True),
        ("我在北京大学", "北京", "word", True),
        ("कितना", "क", "word", False),
        ("résumé", "r\u0065\u0301sume\u0301", "word", True),
        ("code 42-b", r"\d+-[a-z]$", "regex", True),
        ("Code", "code", "regex", False),
        ("Code", "(?i)code", "regex", True),
        ("anything", "", "word", True),
    ],
)
def test_how_phrases_are_found(text: str, phrase: str, match: str, found: bool) -> None:
    assert phrase_finder(text, match)(phrase) is found
    sample = case(must_contain=[phrase], match=match)
    assert value(METRIC, sample, gave(text)) == found


def test_not_applicable() -> None:
    assert "neither" in reason(METRIC, case(), gave("x"))
    assert "neither" in reason(METRIC, case(must_contain=[], forbidden=None), gave("x"))
    assert is_na(METRIC, case(must_contain=["x"], relevant=[]), gave("x"))
    assert is_na(METRIC, case(must_contain=["x"], expect="refuse"), gave("x"))
    assert value(METRIC, case(must_contain=["x"], relevant=[], expect="answer"), gave("x")) == 1


def test_an_empty_answer_passes_nothing() -> None:
    assert value(METRIC, case(forbidden=["x"]), gave("")) == 0


def test_a_single_phrase_and_a_number_are_phrases_too() -> None:
    assert value(METRIC, case(must_contain="30 days"), gave("30 days")) == 1
    assert value(METRIC, case(must_contain=[30]), gave("in 30 days")) == 1


def test_what_cannot_be_read_is_an_error() -> None:
    with pytest.raises(MetricError, match="did you mean 'regex'"):
        METRIC.measure(case(must_contain=["x"], match="regx"), gave("x"))
    for pattern in ("(", "(?a)(?u)x", "(" * 9_999 + ")" * 9_999):
        with pytest.raises(MetricError, match="cannot be read"):
            METRIC.measure(case(must_contain=[pattern], match="regex"), gave("x"))


def test_name() -> None:
    assert METRIC.name == "assertion_pass"
    assert isinstance(Registry().get("assertion_pass"), AssertionPass)


def test_a_catastrophic_pattern_is_ended_and_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_auepora.metrics.text.assertions._SEARCH_SECONDS", 0.05)
    sample = case(must_contain=[r"^(a|aa)+$"], match="regex")
    with pytest.raises(MetricError, match=r"was ended after 0\.05 s"):
        METRIC.measure(sample, gave("a" * 60 + "b"))


def test_a_pattern_that_takes_all_memory_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def search(*args: object, **kwargs: object) -> None:
        raise MemoryError

    monkeypatch.setattr("regex.search", search)
    with pytest.raises(MetricError, match="was ended for lack of memory"):
        METRIC.measure(case(must_contain=["(?R)"], match="regex"), gave("x"))


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
    with pytest.raises(MetricError, match="not a JSON Schema"):
        JsonSchemaValid().measure(case(answer_schema={"type": "thing"}), structured({}))
    with pytest.raises(MetricError, match="not a JSON Schema"):
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
