"""What every report says first: its outcome, and its headline."""

from __future__ import annotations

from pytest_auepora.reporting.report import Report

from .builders import MISTAKES, Case, run_of, verdict_of


def test_nothing_passes_where_golden_files_cannot_be_read() -> None:
    run = run_of([Case("a")])
    assert Report([run], [verdict_of(run)]).outcome == "passed"
    report = Report([run], [verdict_of(run)], MISTAKES[:1])
    assert report.outcome == "not judged"
    assert report.headline.endswith("; 1 mistake in 1 file")
    assert Report(mistakes=MISTAKES).headline == "nothing was measured; 3 mistakes in 2 files"
    assert Report().outcome == "not judged"


def test_a_stopped_run_does_not_pass() -> None:
    run = run_of([Case("a")])
    report = Report([run], [verdict_of(run)], is_stopped=True)
    assert report.outcome == "not judged"
    assert (
        report.headline
        == "1 passed (no baseline yet (billing.json): thresholds only); stopped early: not everything ran"
    )
    failed = run_of([Case("a", error="E: x")])
    assert Report([failed], [verdict_of(failed)], is_stopped=True).outcome == "failed"
