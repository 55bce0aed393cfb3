"""One run beside another, in words."""

from __future__ import annotations

from pytest_auepora.history.compare import QueryNote, compare
from pytest_auepora.reporting.wording.two_runs import causes, counts_text, left_out, note_text, problems

from ...history.test_compare import pair_of_runs


def test_what_two_runs_differ_in() -> None:
    a, b = pair_of_runs()
    report = compare(a, b, names=("first", "second"))
    assert counts_text(report).endswith("hits by chunk id")
    assert causes(report) == ["model m-1 → m-2"]
    assert "only in first: gone" in left_out(report)
    assert "not comparable (the golden case was edited): edited" in left_out(report)
    assert any(line.startswith("regression: recall@5 fell from 1.00 to 0.00") for line in problems(report))


def test_the_note_on_a_case_names_errors_before_checks() -> None:
    report = compare(*pair_of_runs())
    assert note_text(report, "win", None) == ""
    assert note_text(report, "win", QueryNote("errored", error="E: x")) == "errored: E: x"
    assert note_text(report, "win", QueryNote(error_before="E: y", changed=True)) == (
        "errored in the earlier run: E: y; model m-1 → m-2"
    )
    assert note_text(report, "regression", QueryNote("newly failing")).startswith("newly failing: recall@5 fell")
