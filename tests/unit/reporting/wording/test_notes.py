"""What is worth knowing beside the verdict."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_auepora.core.findings import Finding
from pytest_auepora.core.run import CaseResult, Run
from pytest_auepora.regression.compare import Comparison
from pytest_auepora.regression.outcomes import BaselineNote, GateOutcome
from pytest_auepora.regression.verdict import Verdict
from pytest_auepora.reporting.wording.notes import (
    baseline_text,
    flaky_line,
    is_all_skipped,
    notes_of,
    repeats_line,
    skipped_lines,
)

from ..builders import Case, run_of

KNOWN = Finding("assertion", "must_contain", "varies", held=4, accepted=5, needed=0)
NEWS = Finding("assertion", "must_contain", "varies", held=5, accepted=5, passed=1, asked=3)
UNCONFIRMED = GateOutcome("regression", "inconclusive", "m", word="inconclusive", look="second")


def run_with(*cases: CaseResult) -> Run:
    return Run("s", cases={case.case_id: case for case in cases})


@pytest.mark.parametrize(
    ("run", "verdict", "notes"),
    [
        (run_with(CaseResult("case-7", findings=[KNOWN]), CaseResult("q", quarantine="2999-01-01"),
                  CaseResult("old", quarantine="2001-01-01")),
         Verdict("s", comparison=Comparison(unsteady=("mrr",)), look="only"),
         ["looked once: no further answers were to be had, so today's alone decided",
          "case-7 varies: 4 of 5 accepted, 0 of 1 today: cannot fail alone",
          "mrr: no longer steady, answers to one case differed in this run; "
          "if intended, `pytest --auepora-update` stores it",
          "in quarantine, not held to the baseline: q (until 2999-01-01)",
          "quarantine is over, held to the baseline again: old (until 2001-01-01)"]),
        # cases that vary as when they were accepted share a line
        (run_with(*(CaseResult(i, findings=[f]) for i, f in (("a", KNOWN), ("b", NEWS), ("c", KNOWN)))), Verdict("s"),
         ["b varies: 5 of 5 accepted held, 1 of 3 today",
          "2 cases vary as when accepted, and cannot fail alone: a (4 of 5 accepted), c (4 of 5 accepted)"]),
        (Run("s"), Verdict("s", [UNCONFIRMED], look="second"),
         ["every case was asked again: the further answers do not confirm a loss"]),
        (Run("s"), Verdict("s", [GateOutcome("threshold", "not judged", "m", reason="suite not selected")]),
         ["gates not judged: the test `suite` was not selected"]),
    ],
)  # fmt: skip
def test_what_cases_gates_and_looks_say_for_themselves(run: Run, verdict: Verdict, notes: list[str]) -> None:
    assert notes_of(run, verdict) == notes


@pytest.mark.parametrize(("flaky", "line"), [({}, ""), ({"a": 0.4}, "1 flaky case: a (passes in 40 % of the answers)")])
def test_flaky_cases(flaky: dict[str, float], line: str) -> None:
    assert flaky_line(Verdict("s", flaky=flaky)) == line


@pytest.mark.parametrize(
    ("repeats", "line"),
    [((1,), "seed 7"), ((5,), "each case asked 5 times, seed 7"), ((2, 5), "asked 2 to 5 times, seed 7")],
)
def test_repeats_and_the_seed_share_a_line(repeats: tuple[int, ...], line: str) -> None:
    run = run_with(*(CaseResult(f"case-{times}", repeats=times) for times in repeats))
    assert repeats_line(replace(run, provenance={"seed": 7})) == line


@pytest.mark.parametrize(
    ("note", "text"),
    [(BaselineNote(), ""), (BaselineNote("none", "a/s.json"), "no baseline yet (a/s.json)"),
     (BaselineNote("unreadable", detail="s.json:3: cut short"), "s.json:3: cut short")],
)  # fmt: skip
def test_why_there_is_no_baseline(note: BaselineNote, text: str) -> None:
    assert baseline_text(note) == text


def test_why_cases_were_skipped_is_told_once_for_all() -> None:
    measured = run_of([Case("one"), Case("two"), Case("three")])
    for case_id, reason in (("one", "no KEY"), ("two", "no KEY"), ("three", "draft")):
        measured.cases[case_id] = replace(measured.cases[case_id], state="skipped", error=reason)
    assert skipped_lines(measured) == ["skipped: 2 cases (one, two): no KEY", "skipped: three: draft"]
    assert is_all_skipped(measured)
    measured.cases["three"] = replace(measured.cases["three"], state="passed", error="")
    assert not is_all_skipped(measured)
    assert not is_all_skipped(run_of([]))
