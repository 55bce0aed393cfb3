"""What an update asks again, what it learns from that, and what a baseline keeps of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_auepora.core.run import CaseResult, Run
from pytest_auepora.regression.accept import merge
from pytest_auepora.regression.compare import compare
from pytest_auepora.regression.determinism import lucky_baseline_notes, record_repeats, repeat_plan

from .runs import case, metrics, run

INFOS = run(names=("mrr", "recall@1")).metrics


@pytest.mark.parametrize(("n", "times"), [(1, 4), (7, 4), (25, 4), (26, 4), (34, 3), (50, 2), (60, 2), (99, 2)])
def test_every_case_of_a_small_suite_is_asked_again(n: int, times: int) -> None:
    assert repeat_plan(map(str, range(n))) == {str(i): times for i in range(n)}


def test_of_a_large_suite_the_same_hundred_are_asked_once_more() -> None:
    names = [f"case-{i}" for i in range(1000)]
    plan = repeat_plan(names)
    assert (len(plan), set(plan.values())) == (100, {1})
    assert repeat_plan(reversed(names)).keys() == plan.keys()
    assert repeat_plan(names[:100]) == dict.fromkeys(names[:100], 1)
    assert repeat_plan(names, 0) == {}


def answered(name: str, *scores: float, recall: float | None = None) -> CaseResult:
    """A case that was asked as often as there are *scores*; the first answer is the one that counts."""
    answers = [case(name, mrr=score, recall_at_1=recall) for score in scores]
    record_repeats(answers[0], answers, INFOS)
    return answers[0]


def test_a_metric_is_steady_while_answers_do_not_differ() -> None:
    told = merge(None, run(answered("a", 1, 1, 1, recall=1), answered("b", 0, 0, 0.5)), {"all"})[0].metrics
    assert (told["mrr"]["steady"], told["mrr"]["pairs"]) == (False, 4)
    assert (told["recall@1"]["steady"], told["recall@1"]["pairs"]) == (True, 2)


def test_rounding_is_no_difference_and_na_is_one() -> None:
    assert answered("a", 0.5, 0.50004).extra["again"]["varied"] == []
    pair = [case("a", mrr=0.5), case("a", mrr=None)]
    record_repeats(pair[0], pair, INFOS)
    assert pair[0].extra["again"]["varied"] == ["mrr"]


def test_by_how_much_the_accepted_answer_is_ahead_of_the_others() -> None:
    assert answered("a", 0.9, 0.5, 0.7).extra["again"]["ahead"] == {"mrr": pytest.approx(0.3)}
    assert "ahead" not in answered("a", 1, 1, 1).extra["again"]


def test_an_answer_that_errored_says_nothing() -> None:
    pair = [case("a", mrr=0.5), case("a", state="error", mrr="boom")]
    record_repeats(pair[0], pair, INFOS)
    assert "again" not in pair[0].extra


def test_what_nobody_asked_again_is_not_known_and_not_steady() -> None:
    baseline = merge(None, run(case("a", mrr=1.0)), {"all"})[0]
    assert "steady" not in baseline.metrics["mrr"]
    assert baseline.steady == frozenset()


def test_a_part_of_the_suite_merges_what_is_known() -> None:
    before = merge(None, run(answered("a", 1, 1, 1), answered("b", 0, 0, 0)), {"all"})[0]
    part = run(answered("a", 1, 1), expected=("a", "b"))
    same = merge(before, part, {"all"})[0]
    assert same.dumps() == before.dumps(), "nothing new: byte for byte"
    ended = merge(before, run(answered("a", 1, 0.5), expected=("a", "b")), {"all"})[0].metrics["mrr"]
    assert (ended["steady"], ended["pairs"]) == (False, 4)


def test_an_update_that_changes_nothing_is_byte_identical() -> None:
    now = run(answered("a", 1, 1, 1), answered("b", 0.5, 0.5, 0.5))
    before = merge(None, now, {"all"})[0]
    assert merge(before, now, {"all"})[0].dumps() == before.dumps()


def test_an_answer_that_contradicts_the_flag_ends_it() -> None:
    before = merge(None, run(answered("a", 1, 1), answered("b", 1, 1)), {"all"})[0]
    found = compare(run(answered("a", 0, 1), case("b", mrr=1.0)), before)
    assert (found.steady, found.unsteady) == ((), ("mrr",))
    assert metrics("mrr")


def asked_again(*ahead: float, name: str = "mrr") -> Run:
    cases = [case(f"c{i:02}", mrr=0.5) for i in range(len(ahead))]
    for result, by in zip(cases, ahead, strict=True):
        result.extra["again"] = {"pairs": {name: 4}, "varied": [name], "ahead": {name: by}}
    return run(*cases, names=(name,))


def test_an_update_that_accepts_lucky_answers_says_so() -> None:
    (note,) = lucky_baseline_notes(asked_again(*[0.1] * 8, *[-0.1] * 2))
    assert note.startswith("mrr: the accepted answers happen to score better than those asked again")
    assert lucky_baseline_notes(asked_again(*[0.1] * 6, *[-0.1] * 4)) == [], "chance gives as much"
    assert lucky_baseline_notes(asked_again(*[-0.1] * 10)) == [], "worse ones make later runs look better"
    assert lucky_baseline_notes(asked_again(*[0.1] * 9)) == [], "too few to tell"
    lower = asked_again(*[-0.1] * 10)
    lower.metrics["mrr"] = replace(lower.metrics["mrr"], direction="lower")
    assert len(lucky_baseline_notes(lower)) == 1
    lower.metrics["mrr"] = replace(lower.metrics["mrr"], baselined=False)
    assert lucky_baseline_notes(lower) == []


def test_a_replay_keeps_what_is_known_to_be_steady() -> None:
    old, _ = merge(None, run(case("a", mrr=0.5)), {"all"})
    old.metrics["mrr"] |= {"steady": True, "pairs": 12}
    replayed = replace(run(case("a", mrr=0.5)), origin={"kind": "replayed", "run": "r", "taken": 1})
    assert merge(old, replayed, {"all"})[0].metrics["mrr"] == old.metrics["mrr"]
    assert "steady" not in merge(old, run(case("a", mrr=0.5)), {"all"})[0].metrics["mrr"], "it was not asked again"
    old.metrics["mrr"]["version"] = 0
    assert "steady" not in merge(old, replayed, {"all"})[0].metrics["mrr"], "another metric of the same name"
