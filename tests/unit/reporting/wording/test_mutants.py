"""What is said of changes that a suite sees, and of those that it does not."""

from __future__ import annotations

from pytest_auepora.cause.mutate import Detection, Sensitivity, Sight
from pytest_auepora.reporting.wording.mutants import detection_rows, sensitivity_lines, unchanged_text


def sensitivity(*sights: Sight, detections: tuple[Detection, ...] = (), red: int = 0) -> Sensitivity:
    nothing = Detection("", 0.0, 0, 25, red, {}, {"recall@5": red} if red else {})
    return Sensitivity("shop", "r1", 40, 80, detections=[nothing, *detections], sights=[*sights])


def test_a_row_has_the_rates_and_what_saw_the_change_most_often() -> None:
    detections = (
        Detection("refusals", 0.02, 1, 100, 40, {"token_f1": 40}),
        Detection("refusals", 0.05, 2, 100, 90, {"token_f1": 30, "must_contain": 60}, {"pass rate": 55}),
    )
    told = sensitivity(Sight("refusals", 30), detections=detections)
    assert detection_rows(told) == [
        ["refusals", "30", "40/100", "90/100", "must_contain, pass rate, token_f1"]
    ]  # fmt: skip


def test_answers_that_fail_by_themselves_are_no_measure() -> None:
    told = "\n".join(unchanged_text(sensitivity(red=25)))
    assert "red in 25 of 25 runs" in told
    assert "fail by themselves (recall@5)" in told
    assert "fail by themselves" not in "\n".join(unchanged_text(sensitivity(red=1)))


def test_what_nothing_sees_is_told_with_what_would() -> None:
    blind = Sight("order shuffled", 3, ("a", "b", "c"), {"mrr@10": 3, "ndcg@10": 2})
    told = sensitivity(blind, detections=(Detection("order shuffled", 0.2, 1, 25, 0),))
    assert sensitivity_lines(told)[0] == (
        "order shuffled: nothing in this suite sees it; mrr@10 falls in 3 of 3 cases, ndcg@10 falls in 2 of 3 cases."
    )


def test_single_cases_that_would_not_notice_are_named() -> None:
    some = Sight("lost facts", 9, tuple("abcdefg"), {})
    told = sensitivity(some, detections=(Detection("lost facts", 0.2, 2, 25, 25),))
    assert sensitivity_lines(told) == [
        "lost facts: 7 cases of 9 would not notice: a, b, c, d, e and 2 more; what would: must_contain."
    ]  # fmt: skip


def test_a_change_that_can_happen_nowhere_is_not_told() -> None:
    assert sensitivity_lines(sensitivity(Sight("stale index", 0))) == []
