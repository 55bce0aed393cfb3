"""What the page asks for, and what it is told when that goes wrong."""

from __future__ import annotations

import html
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.cli.view.library import Library

from .conftest import LABEL, TOKEN, Page
from .histories import Stored


def told(page: Page, path: str, code: int = 200) -> Any:
    reply = page(path)
    assert reply.code == code, reply.body
    return json.loads(reply.body)


def test_the_page_is_one_file_that_asks_its_server(page: Page) -> None:
    reply = page("/")
    assert reply.headers["content-type"] == "text/html; charset=utf-8"
    assert "const runView" in reply.body
    assert ".verdict" in reply.body
    assert 'id="data"' not in reply.body
    policy, _, frames = reply.headers["content-security-policy"].rpartition("; ")
    assert "connect-src 'self'" in policy
    assert frames.startswith("frame-ancestors ")
    assert policy in html.unescape(reply.body)


def test_runs_are_listed_latest_first(page: Page, history: Stored) -> None:
    found = told(page, "/api/runs")
    assert [one["id"] for one in found["runs"]] == [history.other, history.worse, history.good]
    assert found["suites"] == ["billing"]
    assert found["runs"][2]["commit"] == "abcdef1234"
    none = told(page, "/api/runs?suite=nothing")
    assert none["found"] == 0
    assert len(told(page, "/api/runs?from=2")["runs"]) == 1


def test_a_run_its_cases_and_one_of_them(page: Page, history: Stored) -> None:
    assert told(page, f"/api/run?run={history.worse}")["outcome"] == "failed"
    against = told(page, f"/api/run?run={history.worse}&against={history.other}")["against"]
    assert history.other in against
    assert len(told(page, f"/api/run?run={history.worse}")["rows"]) == 4
    assert [row["index"] for row in told(page, f"/api/rows?run={history.worse}")] == [0, 1, 2, 3]
    assert told(page, f"/api/slices?run={history.worse}&label=scenario")[0]["metric"] == "recall@5"
    one = told(page, f"/api/case?run={history.worse}&case=steady")
    assert one["judges"] == [
        {"metric": "helpful", "value": "0.800", "labels": {}, "file": "labels/billing.helpful.jsonl"}
    ]


@pytest.mark.parametrize("text", ['{"title": 3}', '{"title": ["\\ud800"]}'])
def test_a_damaged_verdict_is_said(page: Page, history: Stored, tmp_path: Path, text: str) -> None:
    with closing(sqlite3.connect(tmp_path / ".auepora" / "history.sqlite")) as connection, connection:
        connection.execute("UPDATE eval_runs SET verdict_json = ?", (text,))
    error = told(page, f"/api/run?run={history.worse}", 500)["error"]
    assert ("history.sqlite: " in error, history.worse in error) == (True, True)


@pytest.mark.parametrize(
    ("path", "code", "said"),
    [
        ("/api/run?run=nope", 404, "no run 'nope'"),
        ("/api/case?run=last&case=nope", 404, "has no case 'nope'"),
        ("/api/case?run=last", 404, "has no case ''"),
        ("/api/run?run=last&against=nope", 404, "no run 'nope'"),
    ],
)
def test_what_is_not_there_is_said(page: Page, path: str, code: int, said: str) -> None:
    assert said in told(page, path, code)["error"]


@pytest.mark.parametrize(
    ("body", "code", "said"),
    [
        (LABEL, 200, ""),
        (LABEL.replace(b"true", b"4"), 400, "expected run, case, metric, person and label"),
        (LABEL.replace(b'"anna"', b'" "'), 500, "a label needs the name"),
        (LABEL.replace(b"steady", b"nope"), 404, "has no case 'nope'"),
        (b"no JSON", 400, "expected run, case"),
        (b"[" * 60_000, 400, "expected run, case"),
        (b'{"run":' * 9_000, 400, "expected run, case"),
        (LABEL.replace(b"true", b"[" * 20_000 + b"]" * 20_000), 400, "expected run, case"),
        (b"[" * 100_000, 413, "too long"),
    ],
)
def test_a_label_is_written_or_refused(page: Page, body: bytes, code: int, said: str) -> None:
    reply = page("/api/label", "POST", body, Origin=f"http://{page.host}", x_auepora_token=TOKEN)
    assert reply.code == code
    found = json.loads(reply.body)
    assert said in found.get("error", "")
    assert code != 200 or found == {"labels": {"anna": True}}
    assert told(page, "/api/case?run=last&case=steady")["judges"][0]["labels"] == found.get("labels", {})


def test_the_export_is_one_file_without_a_server(page: Page, history: Stored) -> None:
    reply = page(f"/export?run={history.worse}&against={history.good}")
    disposition = reply.headers["content-disposition"]
    assert disposition.startswith("attachment; ")
    assert disposition.endswith(f'-{history.worse}.html"')
    assert "fell-out" in reply.body
    assert 'id="data"' in reply.body


def test_an_empty_history_is_no_error(page: Page, history: Stored, monkeypatch: pytest.MonkeyPatch) -> None:
    store = type(history.library.store)(history.library.root / "nothing.sqlite")
    monkeypatch.setattr(history.library, "store", store)
    assert isinstance(history.library, Library)
    assert told(page, "/api/runs")["runs"] == []
    assert "no run 'last'" in told(page, "/api/run?run=last", 404)["error"]
