"""Side by side as data: reports have it, JSON keeps to its schema, CSV has a row for each case and metric."""

from __future__ import annotations

import csv
import io
import json

import pytest

from pytest_auepora.reporting.json.report import json_report
from pytest_auepora.reporting.json.schema import report_schema, side_by_side_schema
from pytest_auepora.reporting.markdown.report import COMMENT_LIMIT, markdown_report
from pytest_auepora.reporting.side_by_side.data import side_by_side_csv, side_by_side_json
from pytest_auepora.reporting.side_by_side.table import side_by_sides

from ..builders import Case, run_of, verdict_of
from ..systems import system
from .test_table import THREE, three


def test_it_is_part_of_the_reports_and_fits() -> None:
    verdicts = [verdict_of(run) for run in THREE]
    text = markdown_report(THREE, verdicts)
    assert text.index("billing side by side") < text.index("billing\\[bm25\\]", text.index("side by side"))
    big = [system(name, p, 1000) for name, p in (("bm25", 0.3), ("dense", 0.6))]
    text = markdown_report(big, [verdict_of(run) for run in big])
    assert len(text) <= COMMENT_LIMIT
    assert "side by side" in text
    assert "recall@5" in text


def test_json_keeps_to_its_schema() -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is in the test group")
    raw = json.loads(side_by_side_json(three()))
    jsonschema.validate(raw, side_by_side_schema())
    report = json.loads(json_report(THREE, [verdict_of(run) for run in THREE]))
    jsonschema.validate(report, report_schema())
    assert report["side_by_side"] == [{k: v for k, v in raw.items() if k != "format"}]
    del raw["rows"][0]["figures"][0]["mark"]
    assert not jsonschema.Draft202012Validator(side_by_side_schema()).is_valid(raw)
    assert "side_by_side" not in json.loads(json_report(THREE[:1], [verdict_of(THREE[0])]))


def test_csv_has_a_row_per_case_and_metric() -> None:
    a, b = (run_of([Case("=cmd"), Case("two", got=[])], variant=v) for v in ("a", "b"))
    b.cases.pop("two")
    other = [run_of([Case("x")], suite="travel", variant=v) for v in ("b", "c")]
    rows = list(csv.DictReader(io.StringIO(side_by_side_csv(side_by_sides([a, b, *other])))))
    assert list(rows[0]) == ["suite", "owner", "id", "metric", "a", "b", "c"]
    assert {
        "suite": "billing",
        "owner": "search-team",
        "id": "'=cmd",
        "metric": "state",
        "a": "passed",
        "b": "passed",
        "c": "",
    } in rows
    assert {
        "suite": "billing",
        "owner": "search-team",
        "id": "two",
        "metric": "recall@5",
        "a": "0.0000",
        "b": "",
        "c": "",
    } in rows
    assert {
        "suite": "travel",
        "owner": "search-team",
        "id": "x",
        "metric": "recall@5",
        "a": "",
        "b": "1.0000",
        "c": "1.0000",
    } in rows
