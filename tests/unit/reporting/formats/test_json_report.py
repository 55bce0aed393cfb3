from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora.base.records import meanings
from pytest_auepora.core.run import CaseResult, Run
from pytest_auepora.errors import AueporaError
from pytest_auepora.regression.outcomes import GateOutcome, GateState, Note
from pytest_auepora.regression.verdict import Verdict
from pytest_auepora.reporting.formats.json_report import (
    json_report,
    read_json_report,
    report_schema,
    side_by_side_schema,
)
from pytest_auepora.reporting.formats.markdown_report import markdown_report
from pytest_auepora.reporting.formats.side_by_side_formats import side_by_side_json
from pytest_auepora.reporting.report import Report
from pytest_auepora.reporting.sentences import sentences_of
from pytest_auepora.reporting.side_by_side import side_by_side, side_by_sides

from ..builders import METRICS, MISTAKES, Case, baseline_of, run_of, verdict_of

CASES = [Case(f"case-{i}", got=["refunds.md", "x"], tags=["smoke"]) for i in range(12)]


def red() -> tuple[Run, Verdict]:
    names = [*METRICS, "bleu"]
    old = run_of([*CASES, Case("vanished")], names, provenance={"embedding": "e5", "chunker_version": 1})
    baseline = baseline_of(old)
    now = [c.with_(got=["x"], thresholds={"recall@5": 0.5}) for c in CASES[:3]]
    now += [CASES[3].with_(error="E: x\n  File y"), CASES[4].with_(skipped=True), CASES[5].with_(relevant=None)]
    run = run_of([*now, *CASES[6:], Case("new")], names, baseline=baseline, provenance={"embedding": "bge"})
    verdict = verdict_of(run, {"recall@5": 0.9, "p95_latency": 2.0}, baseline=baseline)
    verdict.notes.append(Note("stopped"))
    return run, verdict


def reports() -> list[tuple[list[Run], list[Verdict]]]:
    green = run_of(CASES)
    partial = run_of(CASES[:2], expected=[c.id for c in CASES])
    bad = red()
    return [
        ([], []),
        ([green], [verdict_of(green)]),
        ([partial], [verdict_of(partial, baseline=baseline_of(green))]),
        ([bad[0], green], [bad[1], verdict_of(green, baseline=baseline_of(green))]),
    ]


@pytest.mark.parametrize("at", [3, *(pytest.param(at, marks=pytest.mark.slow) for at in range(3))])
def test_it_keeps_to_its_schema(at: int) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is in the test group")
    schema = report_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads(json_report(Report(*reports()[at]))), schema)


@pytest.mark.parametrize("at", range(4))
def test_reading_it_gives_the_same_runs_and_verdicts(at: int) -> None:
    runs, verdicts = reports()[at]
    text = json_report(Report(runs, verdicts))
    read = read_json_report(text)
    assert read.runs == runs
    assert read.verdicts == verdicts
    assert json_report(read) == text


def test_other_reports_can_be_made_from_it_alone() -> None:
    report = Report(*reports()[3])
    assert markdown_report(read_json_report(json_report(report))) == markdown_report(report)


def test_systems_side_by_side_are_read_as_they_were_compared() -> None:
    """What aggregates a metric of the project is not known to those who read its report."""
    runs = [run_of(CASES, variant=name) for name in ("bm25", "dense")]
    compared = [replace(one, notes=("by the project",)) for one in side_by_sides(runs)]
    report = Report(runs, [verdict_of(run) for run in runs], known_comparisons=compared)
    assert [*read_json_report(json_report(report)).comparisons()] == compared


def test_it_starts_with_what_happened() -> None:
    report = Report(*reports()[3])
    raw = json.loads(json_report(report))
    assert list(raw)[:4] == ["format", "outcome", "headline", "suites"]
    assert (raw["outcome"], raw["headline"]) == ("failed", report.headline)
    assert raw["suites"][0]["counts"]["newly failing"] == 3


def test_json_knows_no_infinity() -> None:
    run = run_of(CASES[:1])
    run.cases["case-0"].scores["recall@5"].details = {"x": math.nan, "y": [math.inf, {"z": -math.inf}], "ok": 1.5}
    text = json_report(Report([run], [verdict_of(run)]))
    raw = json.loads(text, parse_constant=pytest.fail)
    assert raw["suites"][0]["run"]["metrics"]["mean_latency"]["range"] == [0.0, None]
    details = raw["suites"][0]["run"]["cases"]["case-0"]["scores"]["recall@5"]["details"]
    assert details == {"x": None, "y": [None, {"z": None}], "ok": 1.5}
    assert read_json_report(text).runs[0].metrics["mean_latency"].range == (0.0, math.inf)


def test_what_json_cannot_hold_is_written_as_text() -> None:
    run = run_of(CASES[:1], provenance={"index": Path("a/b")})
    (read,) = read_json_report(json_report(Report([run], [verdict_of(run)]))).runs
    assert read.provenance == {"index": str(Path("a/b"))}


def test_so_are_keys_that_json_does_not_know() -> None:
    run = run_of(CASES[:1])
    run.cases["case-0"].scores["recall@5"].details = {"at": {(1, 2): "x", 3: Path("a")}}
    read = read_json_report(json_report(Report([run], [verdict_of(run)]))).runs[0]
    assert read.cases["case-0"].scores["recall@5"].details == {"at": {"(1, 2)": "x", "3": "a"}}


def test_keys_of_newer_versions_are_ignored() -> None:
    raw = json.loads(json_report(Report(*reports()[3])))
    raw["since"] = raw["suites"][0]["later"] = raw["suites"][0]["verdict"]["gates"][0]["later"] = 1
    raw["suites"][0]["run"]["later"] = raw["suites"][0]["run"]["cases"]["case-1"]["later"] = 1
    assert read_json_report(json.dumps(raw)) == read_json_report(json_report(Report(*reports()[3])))


def test_the_sentences_stand_beside_the_data() -> None:
    run, verdict = red()
    (suite,) = json.loads(json_report(Report([run], [verdict])))["suites"]
    assert suite["sentences"] == asdict(sentences_of(run, verdict))
    assert len(suite["sentences"]["gates"]) == len(suite["verdict"]["gates"])
    assert {"case-0", "case-3"} <= suite["sentences"]["cases"].keys() < run.cases.keys(), "of some is nothing to say"


HEAD = '{"format": 2, "outcome": "passed", "headline": ""'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not an auepora report"),
        ("[]", "expected a mapping"),
        ('{"format": 1}', "format 1, this version reads 2"),
        ('{"format": 2}', "there is no key 'outcome'"),
        (f'{HEAD}, "suites": [{{}}]}}', "there is no key 'suites.0.title'"),
        (f'{HEAD}, "suites": 3}}', "suites: expected a list, found 3"),
    ],
)
def test_something_else_is_refused(text: str, message: str) -> None:
    with pytest.raises(AueporaError, match=message.replace("(", "\\(")):
        read_json_report(text)


@given(st.text(max_size=30))
def test_garbage_is_refused_with_our_own_error(text: str) -> None:
    with pytest.raises(AueporaError):
        read_json_report(text)


SCHEMAS = {"report": report_schema, "side by side": side_by_side_schema}


def report() -> Any:
    run = run_of([Case("a"), Case("b", error="E: x")])
    return json.loads(json_report(Report([run], [verdict_of(run, {"recall@5": 0.9})])))


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
    defined = report_schema()["$defs"]
    gate = defined["GateOutcome"]["properties"]
    assert list(gate) == [f.name for f in fields(GateOutcome)]
    assert gate["state"]["enum"] == list(get_args(GateState))
    assert gate["line"]["description"] == meanings(GateOutcome)["line"]
    assert list(defined["CaseResult"]["properties"]) == [f.name for f in fields(CaseResult)]
    assert list(defined["Run"]["properties"]) == [f.name for f in fields(Run)]


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_field_has_a_meaning(name: str) -> None:
    schema = SCHEMAS[name]()
    found = [schema, *schema["$defs"].values()]
    bare = [
        (one.get("title"), key)
        for one in found
        for key, field in one.get("properties", {}).items()
        if "description" not in field and key != "format" and "prefixItems" not in one
    ]
    assert [pair for pair in bare if pair[1] not in ("id", "key", "before", "after")] == [], "but of pairs"


def test_what_may_be_absent_is_not_required() -> None:
    schema = report_schema()
    assert {"mistakes", "side_by_side", "stopped"} == set(schema["properties"]) - set(schema["required"])


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
        (("format",), 1),
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


def test_mistakes_are_kept() -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is in the test group")
    run = run_of([Case("a")])
    text = json_report(Report([run], [verdict_of(run)], mistakes=MISTAKES))
    jsonschema.validate(json.loads(text), report_schema())
    assert read_json_report(text) == Report([run], [verdict_of(run)], MISTAKES)
    assert read_json_report(json_report(Report([run], [verdict_of(run)]))).mistakes == []


@pytest.mark.parametrize(
    "found", ["3", "[1]", "null", '[{"path": "a"}]', '[{"path":"a","line":1e999,"col":1,"message":""}]']
)
def test_a_forged_list_of_mistakes_is_refused(found: str) -> None:
    with pytest.raises(AueporaError, match="not an auepora report"):
        read_json_report(f'{HEAD}, "suites": [], "mistakes": {found}}}')
