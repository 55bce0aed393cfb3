"""Structured answers held against a JSON Schema."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from pytest_auepora.core.metrics_base import Measurement
from pytest_auepora.core.types import Response, SystemOutputs
from pytest_auepora.errors import MetricError, MissingExtraError
from pytest_auepora.metrics.generation.structure import JsonSchemaValid
from tests.unit.metrics.samples import case, reason, value

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
