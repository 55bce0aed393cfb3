"""``auepora report``: a run that was kept, or a JSON report, as it was judged then."""

from __future__ import annotations

import json
import re
import sqlite3

import pytest

from pytest_auepora.base.complaints import Problem
from pytest_auepora.cli.report import summary_text
from pytest_auepora.history.settings import FOLDER
from pytest_auepora.reporting.formats.registry import FORMATS, report_text
from pytest_auepora.reporting.report import Report
from pytest_auepora.reporting.text import text_width

from ..reporting.builders import Case, run_of, system, verdict_of
from .conftest import Shell, write_report


def test_a_slip_gets_a_suggestion(shell: Shell, ids: list[str]) -> None:
    said = shell("report", ids[0].replace("-", "_"))
    assert f"'{ids[0]}'" in said.err


@pytest.mark.parametrize("kind", ["text", "md", "json", "csv", "summary"])
def test_an_old_run_is_reported_as_it_was_judged(shell: Shell, ids: list[str], kind: str) -> None:
    said = shell("report", ids[1], "--format", kind)
    assert said.code == 0
    if kind == "json":
        told = json.loads(said.out)
        assert told["outcome"] == "failed"
        gate = told["suites"][0]["verdict"]["gates"][0]
        assert (gate["op"], gate["limit"]) == ("min", 0.5)
    elif kind in ("text", "md"):
        assert "recall@5" in said.out
    shell("report", ids[1], "--format", kind, "--out", "made")
    assert (shell.path / "made").read_text(encoding="utf-8") == said.out


def test_an_html_report_goes_to_a_file_with_the_runs_before(shell: Shell, ids: list[str]) -> None:
    assert shell("report", "last", "--format", "html", "--out", "out.html").code == 0
    text = (shell.path / "out.html").read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert '"history":{"metrics":[{' in text
    assert re.search(r'"earlier":"[^"]+"', text)
    assert '"history":{"metrics":[]' in shell("report", ids[0], "--format", "html").out


@pytest.mark.parametrize("kind", [kind for kind in FORMATS if kind != "html"])
def test_every_report_is_made_from_the_json_alone(shell: Shell, kind: str) -> None:
    runs, verdicts = write_report(shell, "ci.json", "bm25", "dense")
    said = shell("report", "ci.json", "--format", kind)
    assert said.code == 0
    assert said.out == report_text(kind, Report(runs, verdicts))


def test_the_summary_of_a_json_report(shell: Shell) -> None:
    write_report(shell, "ci.json", "bm25", "dense")
    said = shell("report", "ci.json")
    assert "billing[bm25]" in said.out
    assert "billing side" in said.out


@pytest.mark.parametrize(("text", "code"), [(None, 2), ("{", 3), ("{}", 3), ('{"format": 99, "suites": []}', 3)])
def test_a_file_that_is_no_report(shell: Shell, text: str | None, code: int) -> None:
    if text is not None:
        shell.write("odd.json", text)
    said = shell("report", "odd.json")
    assert (said.code, said.err.startswith("auepora: odd.json: ")) == (code, True), said.err


def test_a_report_that_cannot_be_written(shell: Shell) -> None:
    write_report(shell, "ci.json", "bm25")
    shell.write("file", "")
    said = shell("report", "ci.json", "--out", "file/a.md")
    assert (said.code, "written" in said.err) == (3, True)


def test_mistakes_in_golden_files_stand_above_the_summary() -> None:
    run = run_of([Case("one")])
    mistakes = [Problem("a.golden.yaml", 3, 1, "what\x1b[2J"), Problem("a.golden.yaml", 0, 0, "no case")]
    lines = summary_text(Report([run], [verdict_of(run)], mistakes)).splitlines()
    assert lines[:3] == [
        "2 mistakes in 1 file",
        "a.golden.yaml:3:1: what\\x1b[2J",
        "a.golden.yaml: no case",
    ]
    assert lines[3:] == summary_text(Report([run], [verdict_of(run)])).splitlines()
    assert summary_text(Report()) == ""


def test_the_summary_is_as_wide_as_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = [system(name, 0.5, 6) for name in ("bm25", "a configuration with a long name")]
    for columns in (60, 140):
        monkeypatch.setenv("COLUMNS", str(columns))
        widest = max(map(text_width, summary_text(Report(runs, [verdict_of(run) for run in runs])).splitlines()))
        assert widest <= columns
    assert widest > 60


@pytest.mark.parametrize("text", ["3", "{", '{"title": 3}'])
def test_a_verdict_that_cannot_be_read_is_named_with_its_run(shell: Shell, ids: list[str], text: str) -> None:
    with sqlite3.connect(shell.path / FOLDER / "history.sqlite") as database:
        database.execute("UPDATE eval_runs SET verdict_json = ?", [text])
    database.close()
    said = shell("report", ids[0])
    assert (said.code, f"run {ids[0]}" in said.err) == (3, True), said
