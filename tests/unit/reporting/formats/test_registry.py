from __future__ import annotations

from pathlib import Path

import pytest

from pytest_auepora.base.complaints import Problem
from pytest_auepora.errors import AueporaError
from pytest_auepora.reporting.annotations import annotation_lines
from pytest_auepora.reporting.formats.registry import FORMATS, read_target, report_text
from pytest_auepora.reporting.report import Report

from ..builders import MISTAKES, Case, baseline_of, run_of, verdict_of

NUMBERS_ONLY = {"csv", "summary"}
"""Formats without the mistakes in golden files."""


@pytest.mark.parametrize(
    ("text", "kind", "path"),
    [
        ("md:out/report.md", "md", "out/report.md"),
        ("csv:scores.txt", "csv", "scores.txt"),
        ("summary:s.json", "summary", "s.json"),
        ("report.md", "md", "report.md"),
        ("a/b.JSON", "json", "a/b.JSON"),
        ("C:\\reports\\a.csv", "csv", "C:\\reports\\a.csv"),
        ("md:C:\\a.md", "md", "C:\\a.md"),
    ],
)
def test_targets(text: str, kind: str, path: str) -> None:
    assert read_target(text) == (kind, Path(path))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("jsn:report.json", "no report format 'jsn' \\(did you mean 'json'\\?\\); available: md, json"),
        ("report.txt", "'report.txt' does not say its format"),
        ("", "does not say its format"),
        ("markdown:a.txt", "'md'"),
        ("markdown", "'md'.*FORMAT:FILE"),
        ("md:", "'md:' names no file"),
    ],
)
def test_targets_that_cannot_be_read(text: str, message: str) -> None:
    with pytest.raises(AueporaError, match=message):
        read_target(text)


@pytest.mark.parametrize("kind", FORMATS)
def test_every_format_writes_something_that_ends_in_a_line(kind: str) -> None:
    run = run_of([Case("a"), Case("b", error="E: x")])
    text = report_text(kind, Report([run], [verdict_of(run)]))
    assert text.strip()
    assert text.endswith("\n")


@pytest.mark.parametrize("kind", sorted(FORMATS.keys() - NUMBERS_ONLY))
def test_mistakes_are_in_every_format_with_more_than_numbers(kind: str) -> None:
    run, mistakes = run_of([Case("a")]), [Problem("a.yaml", 2, 1, "wrong")]
    assert "wrong" in report_text(kind, Report([run], [verdict_of(run)], mistakes))


def test_annotations_begin_with_mistakes() -> None:
    run = run_of([Case("a", error="E: x")])
    judged = [run], [verdict_of(run)]
    first = annotation_lines(Report(*judged, mistakes=MISTAKES, prefix="rag")).splitlines()
    assert first[0].startswith("::error file=rag/a.golden.yaml,title=golden file,line=2::unknown metric")
    assert first[2].startswith("::error file=rag/b.golden.yaml,title=golden file::")


def test_what_is_listed_and_not_red_is_a_warning() -> None:
    known = Case("known", labels={"must_contain": ["never said"]})
    baseline = baseline_of(run_of([known]))
    run = run_of([known], baseline=baseline)
    judged = [run], [verdict_of(run, baseline=baseline)]
    assert annotation_lines(Report(*judged)).startswith(
        "::warning file=golden/billing.golden.yaml,title=billing%3A known still"
    )
