"""The rows of the cases of a run: what they show, and what sorts, counts and filters them."""

from __future__ import annotations

from typing import Any

from pytest_auepora.core.findings import Finding
from pytest_auepora.reporting.page.case_rows import CaseRows
from pytest_auepora.reporting.wording.cases import case_diagnosis
from pytest_auepora.reporting.wording.checks import finding_line

from ..builders import Case, baseline_of, run_of, verdict_of
from .pages import BAD_ID, red


def row(name: str) -> dict[str, Any]:
    run, verdict = red()
    found: dict[str, Any] = next(one for one in CaseRows(run, verdict).all if one["id"] == name)
    return found


def test_every_case_says_what_filters_show_it() -> None:
    run, verdict = red()
    assert {one["id"]: one.get("is", []) for one in CaseRows(run, verdict).all} == {
        "steady": [], BAD_ID: ["failed", "worse"], "wrong-answer": ["failed", "worse"],
        "raises": ["failed", "worse"], "mended": ["improved"], "not-today": [],
    }  # fmt: skip


def test_a_row_has_what_is_read_of_it() -> None:
    one = row(BAD_ID)
    assert one["kind"] == "newly failing"
    assert one["change"] == ["recall@5", "-1.000"]
    assert one["labels"] == {"scenario": "typo"}
    assert one["tags"] == ["smoke", "refund"]
    run, verdict = red()
    assert one["why"] == case_diagnosis(run.cases[BAD_ID], verdict.case_comparisons[BAD_ID], run.metrics)
    assert one["cells"][0] == [0.0, "0.000", -1, True, 1.0]


def test_the_first_rows_are_the_worst() -> None:
    rows = CaseRows(*red())
    assert [one["kind"] for one in rows.first] == [
        "newly failing", "newly failing", "errored", "fixed", "unchanged", "skipped",
    ]  # fmt: skip
    assert sorted(one["index"] for one in rows.first) == [one["index"] for one in rows.all] == [*range(len(rows))]


def test_labels_have_the_cases_of_each_value() -> None:
    labels = CaseRows(*red()).labels
    assert labels["scenario"] == {"plain": ["steady", "wrong-answer"], "typo": [BAD_ID]}
    assert labels["tag"] == {"refund": [BAD_ID], "smoke": ["steady", BAD_ID]}


def test_flaky_cases_are_marked() -> None:
    run = run_of([Case("a"), Case("b")])
    verdict = verdict_of(run)
    verdict.flaky["a"] = 2 / 3
    assert [one.get("is", []) for one in CaseRows(run, verdict).all] == [["flaky"], []]


def test_what_varies_is_listed_and_fails_nothing() -> None:
    run = run_of([Case("a", labels={"must_contain": ["30 days"]})])
    varies = Finding("assertion", "must_contain", "varies", held=5, accepted=5, passed=1, asked=3)
    run.cases["a"].findings = [varies]
    verdict = verdict_of(run)
    verdict.varies = ["a"]
    (one,) = CaseRows(run, verdict).all
    assert one["is"] == ["varies"]
    assert one["said"] == [finding_line("a", varies)]


def test_the_worst_score_there_is_looks_like_it() -> None:
    lost = Case("lost", got=["x"])
    run = run_of([lost, Case("found")], baseline=baseline_of(run_of([lost, Case("found")])))
    bad, good = CaseRows(run, verdict_of(run)).all
    assert (bad["kind"], bad["cells"][0][1:4]) == ("passed", ["0.000", 0, True])
    assert good["cells"][0][3] is False


def test_an_empty_answer_is_shown_as_one() -> None:
    run = run_of([Case("a", answer=""), Case("b", error="E: down")])
    empty, errored = CaseRows(run, verdict_of(run)).all
    assert empty["answer"] == ""
    assert "answer" not in errored
