"""The verdict on a single case: what held in all accepted answers fails it if it fails again and again (SPEC 4.2)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pytest_auepora.core.findings import Finding
from pytest_auepora.core.run import CaseResult
from pytest_auepora.regression.baseline import BaselineCase
from pytest_auepora.regression.checks import accepted_checks, case_rules
from pytest_auepora.regression.compare import compare_case
from pytest_auepora.regression.guards.case_trial import CaseTrial, Confirmed
from pytest_auepora.regression.policy import RegressionPolicy

from ..runs import case, run


def trial(
    now: CaseResult, then: CaseResult | None = None, *, v: int = 0, accepting: bool = False, **policy: Any
) -> CaseTrial:
    """Today's first answer, or answers, to a case, and what was accepted."""
    infos = run(now).metrics
    before = BaselineCase.of(then, infos) if then is not None else None
    given = RegressionPolicy(**policy)
    comparison = compare_case(now, before, infos) if before is not None else None
    rules = case_rules(now, comparison, infos, given, advisory=("recall@1",) if now.labels.get("advisory") else ())
    is_paired = before is not None and comparison is not None and comparison.paired
    accepted = accepted_checks(rules, before) if is_paired and before is not None else None
    out = CaseTrial(now, rules, accepted, v, accepting)
    out.begin([now.as_answer()])
    return out


def ask(found: CaseTrial, *answers: CaseResult, text: str | None = None) -> CaseResult:
    """Ask further, each *answers* in turn, as long as another answer is wanted."""
    for i, one in enumerate(answers):
        if found.open:
            found.take(one.as_answer(), f"answer {i}" if text is None else text)
    return found.result


def the_finding(result: CaseResult) -> Finding:
    (found,) = result.findings
    return found


GOOD, BAD = case("a", mrr=1.0, asserted=True), case("a", mrr=1.0, asserted=False)
ACCEPTED = case("a", mrr=1.0, asserted=[True] * 5)
VARIED = case("a", mrr=[1.0, 0.9, 1.0, 1.0, 1.0], asserted=[True] * 5)
SOMETIMES = case("a", mrr=1.0, asserted=[True, True, True, True, False])
NEVER = case("a", mrr=1.0, asserted=[False] * 5)
TWICE = case("a", mrr=1.0, asserted=[True] * 2)


def bad(**more: Any) -> CaseResult:
    return case("a", mrr=1.0, asserted=False, **more)


def test_a_case_fails_once_as_many_answers_failed_as_chance() -> None:
    found = trial(bad(), ACCEPTED, v=9)
    assert the_finding(found.result).needed == 4
    ask(found, BAD, BAD)
    assert found.open
    result = ask(found, BAD)
    finding = the_finding(result)
    assert (result.state, finding.status, finding.asked, finding.passed) == ("failed", "failed", 4, 0)
    assert (finding.held, finding.accepted, finding.varied, finding.is_worse) == (5, 5, 9, True)


def test_one_answer_that_holds_ends_it() -> None:
    result = ask(trial(bad(), ACCEPTED), BAD, GOOD, BAD)
    finding = the_finding(result)
    assert (result.state, finding.status, finding.asked, finding.passed) == ("passed", "varies", 3, 1)


@pytest.mark.parametrize(("then", "needed"), [(TWICE, 4), (ACCEPTED, 3), (case("a", mrr=1.0, asserted=[True]), 3)])
def test_how_many_answers_must_fail(then: CaseResult, needed: int) -> None:
    assert the_finding(trial(bad(), then).result).needed == needed


def test_a_check_that_failed_in_an_accepted_answer_never_fails() -> None:
    found = trial(bad(), SOMETIMES)
    finding = the_finding(found.result)
    assert (found.open, found.result.state, finding.status, finding.needed) == ({}, "passed", "varies", 0)
    assert (finding.held, finding.accepted) == (4, 5)


def test_an_assertion_that_failed_in_all_accepted_answers() -> None:
    found = trial(bad(), NEVER)
    assert (found.result.state, the_finding(found.result).status) == ("passed", "still failing")


def test_a_threshold_missed_in_all_accepted_answers_stays_red() -> None:
    now = case("a", mrr=0.4)
    now.thresholds = {"mrr": [("min", 0.5)]}
    found = trial(now, case("a", mrr=[0.4, 0.3, 0.4, 0.4, 0.4]))
    assert (found.open, now.state, the_finding(now).held) == ({}, "failed", 0)


def test_changed_thresholds_judge_the_accepted_answers_anew() -> None:
    now = case("a", mrr=0.4)
    now.thresholds = {"mrr": [("min", 0.5)]}
    trial(now, case("a", mrr=[0.6, 0.4, 0.6, 0.6, 0.6]))
    assert (now.state, the_finding(now).status, the_finding(now).held) == ("passed", "varies", 4)


@pytest.mark.parametrize("then", [None, case("a", mrr=1.0, asserted=[True] * 5, content="edited since")])
def test_a_new_or_edited_case_fails_after_three_in_a_row(then: CaseResult | None) -> None:
    found = trial(bad(), then)
    assert the_finding(found.result).needed == 3
    assert ask(found, BAD, BAD).state == "failed"
    assert not the_finding(found.result).is_worse, "there is nothing that it is worse than"


def test_a_score_may_not_fall_far_below_its_centre() -> None:
    then = case("a", mrr=[1.0, 0.6, 0.8, 0.8, 0.8])
    assert trial(case("a", mrr=0.3), then).result.findings == [], "0.5 below the centre is allowed"
    fell = case("a", mrr=0.29)
    finding = the_finding(trial(fell, then).result)
    assert (finding.kind, finding.metric, finding.before, finding.after, finding.limit) == (
        "fell",
        "mrr",
        0.8,
        0.29,
        0.5,
    )


@pytest.mark.parametrize("case_guard", ["suite", "off"])
def test_falls_are_no_check_where_the_file_leaves_them(case_guard: str) -> None:
    assert trial(case("a", mrr=0.0), case("a", mrr=[1.0] * 5), case_guard=case_guard).result.findings == []


def test_a_number_may_not_go_where_an_accepted_answer_had_one() -> None:
    found = trial(case("a", mrr=None), case("a", mrr=[1.0] * 5))
    assert the_finding(found.result).kind == "no number"
    assert ask(found, case("a", mrr=None), case("a", mrr=0.9)).state == "passed"
    by_chance = trial(case("a", mrr=None), case("a", mrr=[1.0, None, 1.0, 1.0, 1.0]))
    assert (by_chance.open, the_finding(by_chance.result).status) == ({}, "varies")
    assert trial(case("a", mrr=None), case("a", mrr=[None, None])).result.findings == []


def test_a_metric_that_raises_is_one_fault() -> None:
    now = case("a", mrr="error")
    now.thresholds = {"mrr": [("min", 0.5)]}
    found = trial(now, case("a", mrr=[1.0] * 5))
    assert (the_finding(now).kind, the_finding(now).reason) == ("metric raised", "boom")
    assert ask(found, case("a", mrr="error"), case("a", mrr="error")).state == "failed"
    assert trial(case("a", mrr="error"), case("a", mrr=[1.0, "error", 1.0, 1.0, 1.0])).result.state == "passed"


def raised(*, timed_out: bool = False) -> CaseResult:
    out = case("a", state="error", mrr="error")
    out.error, out.timed_out = "ValueError: no", timed_out
    return out


def test_a_system_that_raises_is_asked_again() -> None:
    found = trial(raised(), ACCEPTED)
    assert the_finding(found.result).reason == "ValueError: no"
    assert ask(found, raised(), GOOD).state == "passed", "it answered the third time"
    assert found.result.raised_at_first
    assert ask(trial(raised(), ACCEPTED), raised(), raised()).state == "error"


def test_a_time_out_is_asked_once_more() -> None:
    found = trial(raised(timed_out=True), ACCEPTED)
    assert ask(found, raised(timed_out=True)).state == "error"
    assert the_finding(found.result).kind == "timed out"


def test_must_pass_fails_by_its_first_answer() -> None:
    now = case("a", mrr=0.0, asserted=True)
    now.must_pass = True
    found = trial(now, ACCEPTED, case_guard="off")
    assert (found.open, now.state, the_finding(now).needed) == ({}, "failed", 1)


def test_an_expected_failure_is_decided_by_the_first_answer() -> None:
    now = bad()
    now.xfail = "no index yet"
    assert trial(now, NEVER).result.state == "failed"


def test_quarantine_turns_checks_off_but_for_errors() -> None:
    now = bad()
    now.quarantine = "2999-01-01"
    assert (trial(now, ACCEPTED).result.state, the_finding(now).status) == ("passed", "excused")
    broken = raised()
    broken.quarantine = "2999-01-01"
    assert trial(broken, ACCEPTED).open


def test_assertions_that_are_reported_only_are_no_checks() -> None:
    assert trial(bad(), ACCEPTED, assertions="report").result.findings == []


def test_an_advisory_judge_fails_nothing() -> None:
    now = case("a", recall_at_1=0.2)
    now.thresholds, now.labels = {"recall@1": [("min", 0.5)]}, {"advisory": True}
    assert (trial(now, case("a", recall_at_1=[1.0] * 5)).result.state, the_finding(now).status) == (
        "passed",
        "advisory",
    )


def test_what_is_about_to_be_accepted_is_held_to_thresholds() -> None:
    now = case("a", mrr=0.4, asserted=False)
    now.thresholds = {"mrr": [("min", 0.5)]}
    found = trial(now, case("a", mrr=[1.0] * 5, asserted=[True] * 5), accepting=True)
    assert {finding.kind: finding.status for finding in now.findings} == {
        "threshold": "failed", "assertion": "excused", "fell": "excused",
    }  # fmt: skip
    assert found.open == {}


def test_no_further_answer_makes_a_case_that_varied_suspect() -> None:
    for then, status in ((VARIED, "suspect"), (ACCEPTED, "failed"), (None, "failed")):
        found = trial(bad(), then)
        found.settle()
        assert the_finding(found.result).status == status
    suspect = trial(bad(), VARIED)
    suspect.settle()
    assert (suspect.result.state, the_finding(suspect.result).suspect) == ("passed", "no further answer")


def test_equal_answers_of_a_case_that_varied_look_cached() -> None:
    found = trial(bad(), VARIED)
    found.texts = ["the same"]
    result = ask(found, BAD, BAD, text="the same")
    assert (result.state, the_finding(result).suspect) == ("passed", "cached")
    alike = trial(bad(), ACCEPTED)
    alike.texts = ["the same"]
    assert ask(alike, BAD, BAD, text="the same").state == "failed", "it always answers so"


def test_answers_that_tell_nothing_do_not_look_cached() -> None:
    """A refusal is worded alike each time; so is an error, and no answer at all."""
    found = trial(bad(), VARIED)
    found.texts = [None]
    for _ in range(2):
        found.take(BAD.as_answer(), None)
    assert (found.result.state, the_finding(found.result).suspect) == ("failed", "")


def test_equal_scores_of_a_steady_metric_do_not_look_cached() -> None:
    varied = case("a", mrr=1.0, recall_at_1=[0.9, 1.0, 1.0, 1.0, 1.0])
    lost = case("a", mrr=0.0, recall_at_1=1.0)
    for now, status in ((lost, "failed"), (case("a", mrr=1.0, recall_at_1=0.0), "suspect")):
        found = trial(replace(now, findings=[]), varied)
        found.texts = ["the same"]
        ask(found, now, now, text="the same")
        assert the_finding(found.result).status == status, "the document is gone, whatever is said"


def test_where_very_much_varies_a_case_that_varied_cannot_fail() -> None:
    found = trial(bad(), VARIED, v=5000)
    assert (found.open, the_finding(found.result).suspect) == ({}, "too much varies")
    assert the_finding(trial(bad(), ACCEPTED, v=5000).result).needed == 10


@pytest.mark.parametrize(("n", "most"), [(3, 10), (200, 10), (201, 11), (1000, 50)])
def test_beyond_a_cap_failures_are_not_confirmed(n: int, most: int) -> None:
    confirmed = Confirmed(n, most - 1)
    assert not confirmed.is_full
    confirmed.red += 1
    found = trial(bad(), VARIED)
    found.settle(confirmed)
    assert confirmed.is_full
    assert (found.result.state, the_finding(found.result).status) == ("failed", "not asked again")


def test_once_a_check_fails_the_case_the_others_need_no_answer() -> None:
    now = case("a", mrr=0.0, asserted=False)
    now.thresholds = {"mrr": [("min", 0.5)]}
    found = trial(now, case("a", mrr=[0.1] * 5, asserted=[True] * 5))
    assert (found.open, {f.kind: f.status for f in now.findings}) == (
        {}, {"threshold": "failed", "assertion": "not asked again"},
    )  # fmt: skip


def test_repeats_are_the_first_of_the_answers() -> None:
    now = bad()
    found = trial(now, ACCEPTED)
    now.findings.clear()
    found.open.clear()
    found.begin([BAD.as_answer(), BAD.as_answer(), BAD.as_answer()])
    assert now.state == "failed"
    now.findings.clear()
    found.begin([BAD.as_answer(), GOOD.as_answer()])
    assert (now.state, the_finding(now).status) == ("passed", "varies")
