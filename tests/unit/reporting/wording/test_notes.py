"""What is worth knowing beside the verdict."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_auepora.core.findings import Finding
from pytest_auepora.core.run import CaseResult, Run
from pytest_auepora.regression.compare import Change, Comparison, Incomparable
from pytest_auepora.regression.outcomes import BaselineNote, GateOutcome
from pytest_auepora.regression.verdict import Verdict
from pytest_auepora.reporting.wording.notes import (
    baseline_text,
    flaky_line,
    is_all_skipped,
    notes_of,
    skipped_lines,
    varies_lines,
)

from ..builders import Case, run_of

K = Incomparable(changes=(Change("k", 5, 10),))


def test_what_the_cases_and_the_looks_say_for_themselves() -> None:
    varies = Finding("assertion", "must_contain", "varies", held=4, accepted=5, needed=0)
    run = Run("s", cases={"case-7": CaseResult("case-7", findings=[varies]),
                          "q": CaseResult("q", quarantine="2999-01-01")})  # fmt: skip
    verdict = Verdict("s", comparison=Comparison(unsteady=("mrr",)), look="only")
    notes = notes_of(run, verdict)
    assert notes[0].startswith("looked once: no further answers were to be had")
    assert notes[1] == "case-7 varies: 4 of 5 accepted, 0 of 1 today: cannot fail alone"
    assert notes[2].startswith("mrr: no longer steady")
    assert notes[3] == "in quarantine, not held to the baseline: q (until 2999-01-01)"


def test_cases_that_vary_as_when_accepted_share_a_line() -> None:
    known = Finding("assertion", "must_contain", "varies", held=4, accepted=5, needed=0)
    news = Finding("assertion", "must_contain", "varies", held=5, accepted=5, passed=1, asked=3)
    found = {"a": known, "b": news, "c": known}
    run = Run("s", cases={name: CaseResult(name, findings=[finding]) for name, finding in found.items()})
    assert varies_lines(run) == [
        "b varies: 5 of 5 accepted held, 1 of 3 today",
        "2 cases vary as when accepted, and cannot fail alone: a (4 of 5 accepted), c (4 of 5 accepted)",
    ]


def test_a_second_look_that_does_not_agree_is_said() -> None:
    verdict = Verdict(
        "s", [GateOutcome("regression", "inconclusive", "m", word="inconclusive", look="second")], look="second"
    )
    assert notes_of(Run("s"), verdict) == ["every case was asked again: the further answers do not confirm a loss"]


def test_flaky_cases() -> None:
    assert flaky_line(Verdict("s", flaky={"a": 0.4})) == "1 flaky case: a (passes in 40 % of the answers)"


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
