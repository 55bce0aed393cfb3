"""What an update asks again, what it learns from that, and what a baseline keeps of it."""

from __future__ import annotations

import pytest

from pytest_auepora.core.run import CaseResult
from pytest_auepora.regression.accept import again_plan, merge, note_again
from pytest_auepora.regression.compare import compare

from .runs import case, metrics, run

INFOS = run(names=("mrr", "recall@1")).metrics


@pytest.mark.parametrize(("n", "times"), [(1, 4), (7, 4), (25, 4), (26, 4), (34, 3), (50, 2), (60, 2), (99, 2)])
def test_every_case_of_a_small_suite_is_asked_again(n: int, times: int) -> None:
    assert again_plan(map(str, range(n))) == {str(i): times for i in range(n)}


def test_of_a_large_suite_the_same_hundred_are_asked_once_more() -> None:
    names = [f"case-{i}" for i in range(1000)]
    plan = again_plan(names)
    assert (len(plan), set(plan.values())) == (100, {1})
    assert again_plan(reversed(names)).keys() == plan.keys()
    assert again_plan(names[:100]) == dict.fromkeys(names[:100], 1)
    assert again_plan(names, 0) == {}


def answered(name: str, *scores: float, recall: float | None = None) -> CaseResult:
    """A case that was asked as often as there are *scores*; the first answer is the one that counts."""
    answers = [case(name, mrr=score, recall_at_1=recall) for score in scores]
    note_again(answers[0], answers, INFOS)
    return answers[0]


def test_a_metric_is_steady_while_answers_do_not_differ() -> None:
    told = merge(None, run(answered("a", 1, 1, 1, recall=1), answered("b", 0, 0, 0.5)), {"all"})[0].metrics
    assert (told["mrr"]["steady"], told["mrr"]["pairs"]) == (False, 4)
    assert (told["recall@1"]["steady"], told["recall@1"]["pairs"]) == (True, 2)


def test_rounding_is_no_difference_and_na_is_one() -> None:
    assert answered("a", 0.5, 0.50004).extra["again"]["varied"] == []
    pair = [case("a", mrr=0.5), case("a", mrr=None)]
    note_again(pair[0], pair, INFOS)
    assert pair[0].extra["again"]["varied"] == ["mrr"]


def test_by_how_much_the_accepted_answer_is_ahead_of_the_others() -> None:
    assert answered("a", 0.9, 0.5, 0.7).extra["again"]["ahead"] == {"mrr": pytest.approx(0.3)}
    assert "ahead" not in answered("a", 1, 1, 1).extra["again"]


def test_an_answer_that_errored_says_nothing() -> None:
    pair = [case("a", mrr=0.5), case("a", state="error", mrr="boom")]
    note_again(pair[0], pair, INFOS)
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
