"""The suite guard: the pass rate, numbers that go, few clusters, better, and what a second look decides."""

from __future__ import annotations

import random

import pytest

from pytest_auepora.core.run import CaseResult, Run
from pytest_auepora.regression.compare import compare
from pytest_auepora.regression.guards.suite_guard import judge_comparison, note_shares
from pytest_auepora.regression.outcomes import PASS_RATE, GateOutcome
from pytest_auepora.regression.policy import RegressionPolicy

from .. import runs
from ..runs import case, run, steady


def scored(*scores: float) -> Run:
    return run(*(case(f"c{i:03}", mrr=score) for i, score in enumerate(scores)), names=("mrr",))


def judged(before: Run, now: Run, *, is_steady: bool = False, **policy: object) -> dict[str, GateOutcome]:
    baseline = runs.accepted(before)
    found = compare(now, steady(baseline) if is_steady else baseline)
    given = RegressionPolicy(**policy)  # type: ignore[arg-type]
    note_shares(now, found, given)
    return {gate.part: gate for gate in judge_comparison(now, found, given, {}).gates}


def contracts(*held: list[bool] | bool) -> Run:
    return run(*(case(f"c{i:02}", mrr=1.0, asserted=one) for i, one in enumerate(held)), names=("mrr",))


def test_the_pass_rate_is_the_first_answer_against_the_share() -> None:
    before = contracts([True, False, True, True, True], [True] * 5, [False] * 5)
    gate = judged(before, contracts(False, True, True))[PASS_RATE]
    assert gate.before == pytest.approx((0.8 + 1 + 0) / 3)
    assert gate.value == pytest.approx(2 / 3)
    assert PASS_RATE not in judged(before, contracts(False, True, True), case_guard="off")


def test_a_pass_rate_of_answers_that_differ_in_nothing_decides() -> None:
    alike, shaky = contracts(*[[True, True]] * 4), contracts([True, False], *[[True, True]] * 3)
    now = contracts(False, True, True, True)
    assert [judged(before, now)[PASS_RATE].steady for before in (alike, shaky)] == [True, False]
    assert [judged(before, now)[PASS_RATE].word for before in (alike, shaky)] == ["worse", "inconclusive"]


def test_one_lost_document_and_the_pass_rate() -> None:
    """Below ten steady cases the mean decides; of sixty, chance is not ruled out, whether others vary or not."""
    steady_few, steady_many = contracts(*[[True, True]] * 7), contracts(*[[True, True]] * 60)
    hard_ones = [[True, False, True, True, False]] * 16
    varying = contracts(*[[True] * 5] * 44, *hard_ones)
    today = [False, *[True] * 43, *(i % 5 < 3 for i in range(16))]
    assert judged(steady_few, contracts(False, *[True] * 6))[PASS_RATE].word == "worse"
    assert judged(steady_many, contracts(False, *[True] * 59))[PASS_RATE].word == "same"
    gate = judged(varying, contracts(*today))[PASS_RATE]
    assert (gate.word, gate.steady) == ("inconclusive", False)
    assert gate.test is not None
    assert gate.test.p_adjusted > 0.2


def test_cases_whose_checks_are_off_are_not_in_the_pass_rate() -> None:
    now = contracts(False, False, False, True)
    cases: list[CaseResult] = [*now.cases.values()]
    cases[0].must_pass, cases[1].quarantine, cases[2].xfail = True, "2999-01-01", "not yet"
    assert judged(contracts(*[[True] * 5] * 4), now)[PASS_RATE].n == 1


def test_numbers_that_go_are_judged_over_all_cases() -> None:
    before = run(*(case(f"c{i:02}", mrr=[1.0, None, 1.0, 1.0, 1.0]) for i in range(20)), names=("mrr",))
    as_before = run(*(case(f"c{i:02}", mrr=None if i % 5 < 1 else 1.0) for i in range(20)), names=("mrr",))
    gone = run(*(case(f"c{i:02}", mrr=None if i < 12 else 1.0) for i in range(20)), names=("mrr",))
    name = "has a number(mrr)"
    assert [judged(before, now)[name].word for now in (as_before, gone)] == ["inconclusive", "worse"]
    assert judged(before, gone)[name].before == pytest.approx(0.8)
    assert judged(before, gone)["mrr"].word == "same", "a case without a number is no pair"
    assert name not in judged(scored(1, 1), scored(1, 1))


@pytest.mark.parametrize(("is_steady", "word"), [(True, "worse"), (False, "inconclusive")])
def test_few_cases_fail_at_once_only_in_a_steady_metric(is_steady: bool, word: str) -> None:
    found = judged(scored(1, 1, 1, 1), scored(0.9, 1, 1, 1), is_steady=is_steady)
    assert found["mrr"].word == word


@pytest.mark.parametrize(("policy", "wants", "words"), [
    ("auto", True, ["inconclusive", "worse"]), ("tolerance", False, ["worse", "worse"]),
    ("statistical", False, ["inconclusive", "inconclusive"]),
])  # fmt: skip
def test_few_steady_cases_are_asked_again(policy: str, wants: bool, words: list[str]) -> None:
    """Two answers alike do not show that a metric never varies; ten cases do."""
    baseline, now = steady(runs.accepted(scored(1, 1, 1, 1))), scored(0.9, 1, 1, 1)
    given = RegressionPolicy(policy=policy)  # type: ignore[arg-type]
    assert judge_comparison(now, compare(now, baseline), given, {}, can_look=True).wants_look is wants
    seconds = scored(1, 1, 1, 1), scored(0.8, 1, 1, 1)
    looks = [
        judge_comparison(now, compare(now, baseline), given, {}, further=[(run, compare(run, baseline))])
        for run in seconds
    ]
    assert [look.gates[0].word for look in looks] == words


def test_five_cases_that_all_fell_are_enough_and_four_are_not() -> None:
    words = [judged(scored(*[0.9] * n), scored(*[0.7 - i / 50 for i in range(n)]))["mrr"].word for n in (4, 5)]
    assert words == ["inconclusive", "worse"]


def test_a_metric_of_few_cases_is_judged_by_its_own_clusters() -> None:
    """Two cases have answers to compare, sixty have rankings: the two alone decide nothing."""
    cases = [case(f"c{i:02}", recall_at_1=1.0, mrr=1.0 if i < 2 else None) for i in range(60)]
    now = [case(f"c{i:02}", recall_at_1=1.0, mrr=0.8 if i < 2 else None) for i in range(60)]
    found = judged(run(*cases), run(*now))
    assert (found["mrr"].word, found["mrr"].state, found["recall@1"].word) == ("inconclusive", "inconclusive", "same")


def test_better_takes_the_same_evidence_as_worse() -> None:
    low, high = scored(*[0.2] * 40), scored(*[0.9 if i < 12 else 0.2 for i in range(40)])
    assert judged(low, high)["mrr"].word == "better"
    assert judged(low, high)["mrr"].state == "passed"
    assert judged(high, low)["mrr"].word == "worse"


def test_an_expected_failure_is_in_no_member() -> None:
    now = scored(0.1, 1, 1, 1)
    now.cases["c000"].xfail = "not yet"
    assert judged(scored(1, 1, 1, 1), now, is_steady=True)["mrr"].n == 3


@pytest.mark.slow
def test_an_unchanged_sampling_system_is_seldom_worse() -> None:
    rng, red, runs = random.Random(1), 0, 200
    for _ in range(runs):
        n = rng.choice((6, 10, 20))
        levels = [rng.random() for _ in range(n)]
        before, now = (scored(*(float(rng.random() < p) for p in levels)) for _ in range(2))
        red += any(gate.state == "failed" for gate in judged(before, now).values())
    assert red <= 0.05 * runs + 2 * (0.05 * 0.95 * runs) ** 0.5
