"""What one check says: how often it held when accepted, how often it fails today."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_auepora.core.findings import Finding
from pytest_auepora.core.run import CaseResult
from pytest_auepora.core.scoring import Score
from pytest_auepora.regression import checks
from pytest_auepora.regression.checks import ASSERTIONS
from pytest_auepora.reporting.diagnosis import diagnose
from pytest_auepora.reporting.wording import checks as words
from pytest_auepora.reporting.wording.cases import diagnosis_text
from pytest_auepora.reporting.wording.checks import (
    BROKEN,
    evidence_lines,
    failed_lines,
    fault_text,
    finding_line,
    problem_lines,
    still_failing_lines,
)

from ..builders import Case, infos_of, judged

MUST = Case("case-12", labels={"must_contain": ["30 days"]})
BAD = MUST.with_(answer="Bananas.")


def check(**changes: object) -> Finding:
    return Finding("assertion", "must_contain", **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("finding", "line"),
    [
        (check(held=5, accepted=5, asked=4, needed=4, varied=9),
         "FAILED case-12 must_contain: held in 5 of 5 accepted answers, failed 4 of 4 today "
         "(4 needed: 9 checks varied when accepted)"),
        (check(held=2, accepted=2, asked=4, needed=4),
         "FAILED case-12 must_contain: held in 2 of 2 accepted answers, failed 4 of 4 today (4 needed)"),
        (check(held=5, accepted=5, asked=4, needed=4, varied=1),
         "FAILED case-12 must_contain: held in 5 of 5 accepted answers, failed 4 of 4 today "
         "(4 needed: 1 check varied when accepted)"),
        (check(held=1, accepted=1, asked=3, needed=3),
         "FAILED case-12 must_contain: held in 1 of 1 accepted answer, failed 3 of 3 today "
         "(3 needed, without a guarantee: one answer was accepted)"),
        (check(asked=3, needed=3), "FAILED case-12 must_contain: failed 3 of 3 today (3 needed)"),
        (check(status="not asked again", held=5, accepted=5, needed=4),
         "FAILED case-12 must_contain: held in 5 of 5 accepted answers, failed 1 of 1 today, not asked again"),
        (check(status="varies", held=5, accepted=5, passed=1, asked=3, needed=4),
         "case-12 varies: 5 of 5 accepted held, 1 of 3 today"),
        (check(status="varies", held=4, accepted=5, needed=0),
         "case-12 varies: 4 of 5 accepted, 0 of 1 today: cannot fail alone"),
        (check(status="varies", passed=1, asked=2), "case-12 varies: 1 of 2 today held"),
        (check(status="suspect", held=5, accepted=5, asked=4, suspect="cached"),
         "case-12 suspect: 5 of 5 accepted held, 0 of 4 today: the answers look cached"),
        (check(status="suspect", held=5, accepted=5, suspect="no further answer"),
         "case-12 suspect: 5 of 5 accepted held, 0 of 1 today: no further answer was to be had"),
        (check(status="still failing", accepted=5),
         "case-12 still failing must_contain: 0 of 5 accepted held, 0 of 1 today"),
    ],
)  # fmt: skip
def test_the_line_of_a_check(finding: Finding, line: str) -> None:
    assert finding_line("case-12", finding) == line


@pytest.mark.parametrize(
    ("finding", "text"),
    [
        (check(details={"missing": ["30 days"]}), "must_contain: the answer misses '30 days'"),
        (check(details={"missing": ["a"], "forbidden_present": ["b"]}), "must_contain: the answer misses 'a'"),
        (Finding("assertion", "forbidden", details={"forbidden_present": ["60 days"]}),
         "forbidden: the answer says '60 days'"),
        (Finding("assertion", "answer_schema", details={"problems": ["no key 'a'"]}),
         "answer_schema: the answer breaks its schema: no key 'a'"),
        (check(), "must_contain: it does not hold"),
        (Finding("threshold", "recall@5", op="min", limit=0.8, after=0.79996), "recall@5 0.79996, wanted >= 0.8"),
        (Finding("threshold", "mean_latency", op="max", limit=2, after=3.0), "mean_latency 3.00 s, wanted <= 2"),
        (Finding("fell", "recall@5", before=1.0, after=0.2, limit=0.5), "recall@5 fell from 1.00 to 0.20 (limit 0.5)"),
        (Finding("fell", "recall@5", before=0.704, after=0.2, limit=0.5),
         "recall@5 fell from 0.704 to 0.200 (limit 0.5)"),
        (Finding("fell", "duplicate_rate@5", before=0.1, after=0.9, limit=0.5),
         "duplicate_rate@5 rose from 0.10 to 0.90 (limit 0.5)"),
        (Finding("fell", "cost", before=0.0001, after=0.0002, limit=3e-05),
         "cost rose from 0.0001 to 0.0002 (limit 0.00003)"),
        (Finding("no number", "token_f1", reason="no answer"), "token_f1 has no number (no answer)"),
        (Finding("metric raised", "token_f1", reason="KeyError: 'x'"), "token_f1 raised KeyError: 'x'"),
        (Finding("raised", reason="ValueError: no index"), "raised ValueError: no index"),
        (Finding("timed out", reason="no answer within 5 s"), "timed out: no answer within 5 s"),
    ],
)  # fmt: skip
def test_what_failed(finding: Finding, text: str) -> None:
    info = infos_of(["mean_latency"]).get(finding.metric)
    assert fault_text(finding, info) == text


def test_every_assertion_has_its_words() -> None:
    assert {detail for _, detail in ASSERTIONS.values()} == BROKEN.keys()


@pytest.mark.parametrize(
    ("metric", "part", "target"),
    [("hit@1", "retrieval", "RETRIEVAL_RELEVANCE"), ("retries", "system", "OPERATIONAL")],
)
def test_an_assertion_on_any_part_is_told(metric: str, part: str, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one that is called like its metric, whose threshold counts the same fault."""
    monkeypatch.setitem(vars(checks)["ASSERTIONS"], metric, (metric, "twice"))
    monkeypatch.setitem(vars(words)["BROKEN"], "twice", ("", "returned twice:"))
    failed = [Finding("assertion", metric, details={"twice": ["a.md"]}), Finding("threshold", metric)]
    result = CaseResult("a", "failed", {metric: Score("number", 0.0, details={"twice": ["a.md"]})}, findings=failed)
    info = {metric: replace(infos_of(["hit@1"])["hit@1"], name=metric, target=target)}
    assert problem_lines(result, info) == [f"{metric}: returned twice: a.md"]
    diagnosis = diagnose(result, None, info)
    assert diagnosis is not None
    assert diagnosis_text(diagnosis, result, info) == f"{part}: returned twice: a.md"
    assert diagnosis.fault == "assertion"


def test_checks_with_the_same_evidence_share_its_line() -> None:
    result, _, infos = judged(BAD.with_(again=[BAD.with_(answer=f"Bananas {n}.") for n in range(4)]), [MUST] * 5)
    assert problem_lines(result, infos) == [
        "must_contain: the answer misses '30 days'",
        "token_f1 fell from 1.00 to 0.00 (limit 0.5)",
        "held in 5 of 5 accepted answers, failed 3 of 3 today (3 needed)",
    ]


def test_checks_whose_evidence_differs_are_named_with_it() -> None:
    found = [check(held=2, accepted=2), Finding("threshold", "recall@5")]
    result = CaseResult("a", findings=found)
    assert evidence_lines(result) == ["must_contain: held in 2 of 2 accepted answers, failed 1 of 1 today"]
    found[1].asked = 3
    assert evidence_lines(result) == [
        "must_contain: held in 2 of 2 accepted answers, failed 1 of 1 today", "recall@5: failed 3 of 3 today",
    ]  # fmt: skip


def test_so_do_they_in_a_list_of_failures() -> None:
    result, _, _ = judged(BAD.with_(again=[BAD.with_(answer=f"Bananas {n}.") for n in range(4)]), [MUST] * 5)
    assert failed_lines(result) == [
        "FAILED case-12 must_contain, token_f1: held in 5 of 5 accepted answers, failed 3 of 3 today (3 needed)"
    ]


def test_one_answer_without_a_baseline_has_no_evidence() -> None:
    result, _, infos = judged(BAD)
    assert problem_lines(result, infos) == ["must_contain: the answer misses '30 days'"]


def test_what_fails_as_when_it_was_accepted_is_still_failing() -> None:
    result, _, infos = judged(BAD, BAD)
    assert (result.state, problem_lines(result, infos)) == ("passed", [])
    assert still_failing_lines(result, infos) == ["must_contain: the answer misses '30 days'"]


def test_a_users_words_about_the_baseline_are_no_finding() -> None:
    raised = Finding("metric raised", "own", reason="IndexError: index rebuilt since the baseline", held=0, accepted=2)
    case = CaseResult("a", "failed", findings=[raised])
    assert not raised.is_worse
    assert problem_lines(case, {})[0].startswith("own raised IndexError: index rebuilt since the baseline")
