"""What is worth knowing beside the verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import pytest

from pytest_auepora.core.findings import Finding
from pytest_auepora.core.run import CaseResult, Run
from pytest_auepora.regression.compare import Change, Comparison, Incomparable
from pytest_auepora.regression.outcomes import Advisory, BaselineNote, GateOutcome, Note, NoteKind
from pytest_auepora.regression.verdict import Verdict
from pytest_auepora.reporting.formats.json_report import judge_usage
from pytest_auepora.reporting.wording.notes import (
    advisory_text,
    baseline_text,
    cost_text,
    flaky_line,
    is_all_skipped,
    judge_lines,
    note_text,
    notes_of,
    skipped_lines,
    system_lines,
    varies_lines,
)

from ..builders import Case, run_of

K = Incomparable(changes=(Change("k", 5, 10),))


@pytest.mark.parametrize(
    ("note", "text"),
    [
        (Note("slices too small", ("lang=de",), data={"clusters": {"lang=de": 3}}),
         "slices of fewer than 10 clusters are not judged: lang=de (3)"),
        (Note("not comparable with the anchor", ("mrr",), why=K), "not comparable with the anchor: mrr (k 5 → 10)"),
        (Note("falls add up", ("mrr",), data={"falls": 3, "before": 0.8, "after": 0.74}),
         "mrr: 3 accepted falls in a row add up from 0.800 to 0.740; "
         "an anchor keeps such steps from adding up: `pytest --auepora-update=anchor`"),
        (Note("no label met", ("a.md",), data={"cases": 2, "returned": [["x1", "x.md"]], "source": None}),
         "no label was met in 2 cases: wanted a.md; returned x1 of x.md; "
         "a plain label is an id, {doc: …} names a source document: `auepora help recall-is-zero`"),
        (Note("provenance differs", why=Incomparable(changes=(Change("model", "a", "b"),))),
         "not all cases have the same provenance: model a and b"),
        (Note("resumed", detail="r1", data={"taken": 3, "cases": 9}),
         "3 of 9 answers taken from run r1, the others asked"),
        (Note("recorded otherwise", detail="r1", why=K),
         "run r1 has another provenance, so no answers were taken: k 5 → 10"),
        (Note("recorded at another commit", detail="r1", why=Incomparable(changes=(Change("commit", "aa", "bb"),))),
         "run r1 was made at commit aa, this is bb"),
        (Note("call limit", ("a",), data={"limit": 9}), "--auepora-max-calls 9 was used up; not asked again: a"),
        (Note("call limit", data={"limit": None}), "auepora_budget was used up"),
    ],
)  # fmt: skip
def test_the_sentence_of_a_note(note: Note, text: str) -> None:
    assert note_text(note) == text


@pytest.mark.parametrize("kind", get_args(NoteKind))
def test_every_kind_has_a_sentence(kind: NoteKind) -> None:
    assert len(note_text(Note(kind, ("a",), "detail"))) > 5


@pytest.mark.parametrize(
    ("why", "text"),
    [
        (Advisory("policy"), "the golden file says judge: advisory"),
        (Advisory("no calibration", "c/rubric.json"),
         "judge not calibrated: there is no c/rubric.json; `auepora help judges`"),
        (Advisory("another judge", changes=(Change("model", "a", "b"),)),
         "judge not calibrated: the calibration is of another one (model a → b); run `auepora calibrate` again"),
        (Advisory("not good enough", detail="κ 0.4 is below 0.6"), "judge not calibrated: κ 0.4 is below 0.6"),
        (Advisory("unusable", detail="c.json: not JSON"), "c.json: not JSON"),
        (Advisory("judge gone"),
         "the judge that was calibrated is not there: no model is named now; its gates count only with it"),
    ],
)  # fmt: skip
def test_why_a_judge_is_advisory(why: Advisory, text: str) -> None:
    assert advisory_text(why) == text


def test_judges_without_a_file_in_one_folder_share_a_note() -> None:
    missing = {name: Advisory("no calibration", f"c/{name}.json") for name in ("a", "b")}
    assert notes_of(Run("s"), Verdict("s", advisory=missing)) == [
        "advisory: cannot fail the run: a, b (judge not calibrated: there is no c/<metric>.json; `auepora help judges`)"
    ]


def test_what_an_advisory_judge_would_have_failed() -> None:
    found = [Finding("threshold", "rubric", "advisory", op="min", limit=0.8, after=0.2)]
    run = Run("s", cases={i: CaseResult(i, findings=found) for i in "abc"})
    verdict = Verdict(
        "s", [GateOutcome("threshold", "advisory", "rubric", op="min", limit=0.8, value=0.2, would_be="failed")]
    )
    assert notes_of(run, verdict) == [
        "advisory: rubric: would fail: 0.2000 is not >= 0.8 (over 0 of 0 cases)",
        "advisory: would fail cases: 3 cases (a, b and 1 more): rubric 0.200, wanted >= 0.8",
    ]


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


def run_that_spent(*spent: dict[str, dict[str, Any]]) -> Run:
    run = Run("s")
    run.add(CaseResult(str(i), judge_usage=usage) for i, usage in enumerate(spent))
    return run


def test_a_run_without_a_judge_says_nothing() -> None:
    assert judge_lines(run_that_spent({})) == []
    assert judge_usage(run_that_spent({})) == {}


def test_several_judged_metrics_are_told_apart() -> None:
    run = run_that_spent(
        {
            "a": {
                "requests": 3,
                "retries": 1,
                "prompt_tokens": 30,
                "completion_tokens": 3,
                "notes": ["m: seed left out"],
            }
        },
        {"a": {"cache_hits": 2}, "b": {"requests": 1, "unreported": 1}},
    )
    assert judge_lines(run) == [
        "judge: 4 requests (1 retry, 2 more from the cache), 30 + 3 tokens, 1 reply without token counts",
        "judge by metric: a 3 requests (1 retry, 2 more from the cache), 30 + 3 tokens; "
        "b 1 request, 1 reply without token counts",
        "m: seed left out",
    ]
    assert judge_usage(run)["total"]["requests"] == 4


@pytest.mark.parametrize(
    ("spent", "lines"),
    [
        ([], []),
        ([{"m": {"calls": 2, "input_tokens": 2000, "output_tokens": 9, "cost": 0.5}}, {}],
         ["system: 2 model calls, 2,000 + 9 tokens, cost 0.5"]),
        ([{"m": {"calls": 1, "unreported": 1, "unpriced": 1}}],
         ["system: 1 model call, 1 without token counts"]),
        ([{"m": {"calls": 2, "input_tokens": 5, "unpriced": 1, "cost": 1.0}, "": {"calls": 1, "unpriced": 1}}],
         ["system: 3 model calls, 5 + 0 tokens, cost 1, 2 without a cost",
          "system by model: m 2 model calls, 5 + 0 tokens, cost 1, 1 without a cost; "
          "unnamed 1 model call, 0 + 0 tokens"]),
    ],
)  # fmt: skip
def test_what_the_system_spent(spent: list[dict[str, dict[str, Any]]], lines: list[str]) -> None:
    run = Run("s")
    run.add(CaseResult(str(i), system_usage=usage) for i, usage in enumerate(spent))
    assert system_lines(run) == lines


def test_costs_are_exact_to_the_millionth() -> None:
    assert [cost_text(c) for c in (0.0, 1.5, 0.000022, 1234.5678914)] == ["0", "1.5", "0.000022", "1,234.567891"]


def test_why_cases_were_skipped_is_told_once_for_all() -> None:
    measured = run_of([Case("one"), Case("two"), Case("three")])
    for case_id, reason in (("one", "no KEY"), ("two", "no KEY"), ("three", "draft")):
        measured.cases[case_id] = replace(measured.cases[case_id], state="skipped", error=reason)
    assert skipped_lines(measured) == ["skipped: 2 cases (one, two): no KEY", "skipped: three: draft"]
    assert is_all_skipped(measured)
    measured.cases["three"] = replace(measured.cases["three"], state="passed", error="")
    assert not is_all_skipped(measured)
    assert not is_all_skipped(run_of([]))
