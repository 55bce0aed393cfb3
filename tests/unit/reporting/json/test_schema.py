"""The schemas: derived from the classes that are written, and strict about what these hold."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields
from typing import Any, get_args

import pytest

from pytest_auepora.core.run import CaseResult, Run
from pytest_auepora.regression.guards.gates import GateOutcome, GateState
from pytest_auepora.reporting.json.report import json_report
from pytest_auepora.reporting.json.schema import MEANING, report_schema, side_by_side_schema
from pytest_auepora.reporting.side_by_side.data import side_by_side_json
from pytest_auepora.reporting.side_by_side.table import side_by_side

from ..builders import Case, run_of, verdict_of

SCHEMAS = {"report": report_schema, "side by side": side_by_side_schema}


def report() -> Any:
    run = run_of([Case("a"), Case("b", error="E: x")])
    return json.loads(json_report([run], [verdict_of(run, {"recall@5": 0.9})]))


def systems() -> Any:
    return json.loads(side_by_side_json(side_by_side([run_of([Case("a")], variant=name) for name in "xy"])))


def changed(raw: Any, path: tuple[str | int, ...], value: Any) -> Any:
    """*raw* with *value* at *path*."""
    place = raw
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return raw


def fits(schema: Any, raw: Any) -> bool:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is in the test group")
    return bool(jsonschema.Draft202012Validator(schema).is_valid(raw))


def objects(schema: Any) -> Iterator[dict[str, Any]]:
    """All schemas of objects with named keys in *schema*."""
    for one in schema.values() if isinstance(schema, dict) else schema:
        if isinstance(one, (dict, list)):
            yield from objects(one)
    if isinstance(schema, dict) and "properties" in schema and isinstance(schema.get("required"), list):
        yield schema


def test_they_follow_the_classes_that_are_written() -> None:
    suite = report_schema()["properties"]["suites"]["items"]["properties"]
    gate = suite["verdict"]["properties"]["gates"]["items"]
    assert gate["required"] == [f.name for f in fields(GateOutcome)]
    assert gate["properties"]["state"]["enum"] == list(get_args(GateState))
    assert gate["properties"]["p"]["type"] == ["number", "null"]
    assert gate["properties"]["line"] == {**gate["properties"]["n"], "description": MEANING["GateOutcome.line"]}
    cases = suite["run"]["properties"]["cases"]["additionalProperties"]
    assert cases["required"] == [f.name for f in fields(CaseResult)]
    assert list(suite["run"]["properties"]) == [f.name for f in fields(Run)]


def test_a_range_is_a_pair() -> None:
    suite = report_schema()["properties"]["suites"]["items"]["properties"]
    found = suite["run"]["properties"]["metrics"]["additionalProperties"]["properties"]["range"]
    assert (found["type"], found["minItems"], found["maxItems"]) == ("array", 2, 2)


def test_what_may_be_absent_is_not_required() -> None:
    schema = report_schema()
    assert {"mistakes", "side_by_side"} == set(schema["properties"]) - set(schema["required"])


def test_every_meaning_is_of_a_field() -> None:
    text = json.dumps([report_schema(), side_by_side_schema()], ensure_ascii=False)
    assert [key for key, said in MEANING.items() if json.dumps(said, ensure_ascii=False) not in text] == []


@pytest.mark.parametrize("name", SCHEMAS)
def test_what_is_required_is_described(name: str) -> None:
    found = list(objects(SCHEMAS[name]()))
    assert len(found) > 2
    assert [one for one in found if set(one["required"]) - set(one["properties"])] == []


@pytest.mark.parametrize("name", SCHEMAS)
def test_nobody_can_change_it_for_others(name: str) -> None:
    first = SCHEMAS[name]()
    first["properties"].clear()
    first["required"].append("x")
    assert "x" not in SCHEMAS[name]()["required"]
    assert SCHEMAS[name]()["properties"]


@pytest.mark.parametrize("name", SCHEMAS)
def test_they_are_schemas_and_hold_what_they_describe(name: str) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is in the test group")
    schema = SCHEMAS[name]()
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(report() if name == "report" else systems(), schema)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("format",), 2),
        (("outcome",), "fine"),
        (("suites", 0, "outcome"), "fine"),
        (("suites", 0, "run", "cases", "a", "state"), "ok"),
        (("suites", 0, "run", "cases", "a", "scores", "recall@5", "value"), "1"),
        (("suites", 0, "run", "expected_ids"), "a"),
        (("suites", 0, "run", "metrics", "recall@5", "range"), [0.0]),
        (("suites", 0, "verdict", "gates", 0, "n"), -1),
        (("suites", 0, "verdict", "comparison"), 3),
        (("mistakes",), [{"path": "a"}]),
    ],
)
def test_the_report_notices_what_is_wrong(path: tuple[str | int, ...], value: Any) -> None:
    assert not fits(report_schema(), changed(report(), path, value))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("format",), 0),
        (("rows", 0, "n"), "1"),
        (("rows", 0, "figures", 0, "mark"), "worst"),
        (("columns", 0, "passed"), -1),
        (("cases", 0, "systems"), None),
    ],
)
def test_side_by_side_notices_what_is_wrong(path: tuple[str | int, ...], value: Any) -> None:
    assert not fits(side_by_side_schema(), changed(systems(), path, value))
