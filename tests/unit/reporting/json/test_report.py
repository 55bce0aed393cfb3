from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora.core.run import Run
from pytest_auepora.errors import AueporaError
from pytest_auepora.regression.verdict import Verdict
from pytest_auepora.reporting.json.report import json_report, read_json_report
from pytest_auepora.reporting.json.schema import report_schema
from pytest_auepora.reporting.markdown.report import markdown_report

from ..builders import METRICS, Case, baseline_of, run_of, verdict_of

CASES = [Case(f"case-{i}", got=["refunds.md", "x"], tags=["smoke"]) for i in range(12)]


def red() -> tuple[Run, Verdict]:
    names = [*METRICS, "bleu"]
    old = run_of([*CASES, Case("vanished")], names, provenance={"embedding": "e5", "chunker_version": 1})
    baseline = baseline_of(old)
    now = [c.with_(got=["x"], thresholds={"recall@5": 0.5}) for c in CASES[:3]]
    now += [CASES[3].with_(error="E: x\n  File y"), CASES[4].with_(skipped=True), CASES[5].with_(relevant=None)]
    run = run_of([*now, *CASES[6:], Case("new")], names, baseline=baseline, provenance={"embedding": "bge"})
    verdict = verdict_of(run, {"recall@5": 0.9, "p95_latency": 2.0}, baseline=baseline)
    verdict.notes.append("a note")
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


@pytest.mark.parametrize("at", range(4))
def test_it_keeps_to_its_schema(at: int) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is in the test group")
    schema = report_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads(json_report(*reports()[at])), schema)


@pytest.mark.parametrize("at", range(4))
def test_reading_it_gives_the_same_runs_and_verdicts(at: int) -> None:
    runs, verdicts = reports()[at]
    text = json_report(runs, verdicts)
    read_runs, read_verdicts, _ = read_json_report(text)
    assert read_runs == runs
    assert read_verdicts == verdicts
    assert json_report(read_runs, read_verdicts) == text


def test_other_reports_can_be_made_from_it_alone() -> None:
    runs, verdicts = reports()[3]
    assert markdown_report(*read_json_report(json_report(runs, verdicts))[:2]) == markdown_report(runs, verdicts)


def test_it_starts_with_what_happened() -> None:
    raw = json.loads(json_report(*reports()[3]))
    assert list(raw)[:4] == ["format", "outcome", "headline", "suites"]
    assert raw["outcome"] == "failed"
    assert raw["headline"].startswith("3 newly failing, 1 errored, ")
    assert raw["suites"][0]["counts"]["newly failing"] == 3


def test_json_knows_no_infinity() -> None:
    run = run_of(CASES[:1])
    run.cases["case-0"].scores["recall@5"].details = {"x": math.nan, "y": [math.inf, {"z": -math.inf}], "ok": 1.5}
    text = json_report([run], [verdict_of(run)])
    raw = json.loads(text, parse_constant=pytest.fail)
    assert raw["suites"][0]["run"]["metrics"]["mean_latency"]["range"] == [0.0, None]
    details = raw["suites"][0]["run"]["cases"]["case-0"]["scores"]["recall@5"]["details"]
    assert details == {"x": None, "y": [None, {"z": None}], "ok": 1.5}
    assert read_json_report(text)[0][0].metrics["mean_latency"].range == (0.0, math.inf)


def test_what_json_cannot_hold_is_written_as_text() -> None:
    run = run_of(CASES[:1], provenance={"index": Path("a/b")})
    assert read_json_report(json_report([run], [verdict_of(run)]))[0][0].provenance == {"index": str(Path("a/b"))}


def test_so_are_keys_that_json_does_not_know() -> None:
    run = run_of(CASES[:1])
    run.cases["case-0"].scores["recall@5"].details = {"at": {(1, 2): "x", 3: Path("a")}}
    read = read_json_report(json_report([run], [verdict_of(run)]))[0][0]
    assert read.cases["case-0"].scores["recall@5"].details == {"at": {"(1, 2)": "x", "3": "a"}}


def test_keys_of_newer_versions_are_ignored() -> None:
    raw = json.loads(json_report(*reports()[3]))
    raw["since"] = raw["suites"][0]["later"] = raw["suites"][0]["verdict"]["gates"][0]["later"] = 1
    raw["suites"][0]["run"]["later"] = raw["suites"][0]["run"]["cases"]["case-1"]["later"] = 1
    assert read_json_report(json.dumps(raw)) == read_json_report(json_report(*reports()[3]))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not an auepora report"),
        ("[]", "there is no 'format' key"),
        ('{"format": 7}', "report format 7, this version reads 1"),
        ('{"format": 1}', "not an auepora report: there is no key 'suites'"),
        ('{"format": 1, "suites": [{"run": {}, "verdict": {}}]}', "there is no key 'suites.0.run.suite'"),
        ('{"format": 1, "suites": 3}', "suites: expected a list, found 3"),
    ],
)
def test_something_else_is_refused(text: str, message: str) -> None:
    with pytest.raises(AueporaError, match=message.replace("(", "\\(")):
        read_json_report(text)


@given(st.text(max_size=30))
def test_garbage_is_refused_with_our_own_error(text: str) -> None:
    with pytest.raises(AueporaError):
        read_json_report(text)
