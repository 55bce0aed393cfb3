"""What every report says first: its outcome, and its headline."""

from __future__ import annotations

import pytest

from pytest_auepora.reporting.report import Report

from .builders import MISTAKES, Case, run_of, verdict_of


def test_nothing_passes_where_golden_files_cannot_be_read() -> None:
    run = run_of([Case("a")])
    assert Report([run], [verdict_of(run)]).outcome == "passed"
    report = Report([run], [verdict_of(run)], MISTAKES[:1])
    assert report.outcome == "not judged"
    assert Report().outcome == "not judged"


@pytest.mark.parametrize(
    ("report", "headline"),
    [
        (Report(), "nothing was measured"),
        (Report(mistakes=MISTAKES[:1]), "nothing was measured; 1 mistake in 1 file"),
        (Report(mistakes=MISTAKES), "nothing was measured; 3 mistakes in 2 files"),
        (Report(is_stopped=True), "nothing was measured; stopped early: not everything ran"),
    ],
)
def test_the_headline_says_what_was_not_read_and_not_run(report: Report, headline: str) -> None:
    assert report.headline == headline


def test_a_stopped_run_does_not_pass() -> None:
    run = run_of([Case("a")])
    report = Report([run], [verdict_of(run)], is_stopped=True)
    assert report.outcome == "not judged"
    failed = run_of([Case("a", error="E: x")])
    assert Report([failed], [verdict_of(failed)], is_stopped=True).outcome == "failed"
