"""What is said of changes that a suite sees, and of those that it does not."""

from __future__ import annotations

import pytest

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


SHOP = "shop: 80 recorded answers to 40 cases (run r1), broken on purpose; nothing was called."


@pytest.mark.parametrize(
    ("red", "lines"),
    [
        (1, [SHOP, "Nothing broken: red in 1 of 25 runs."]),
        (25, [SHOP, "Nothing broken: red in 25 of 25 runs.",
              "These answers fail by themselves (recall@5), so the table says nothing: "
              "choose an accepted run with --run, or accept this one."]),
    ],
)  # fmt: skip
def test_answers_that_fail_by_themselves_are_no_measure(red: int, lines: list[str]) -> None:
    assert unchanged_text(sensitivity(red=red)) == lines


RETRIEVAL = (
    "A change of what is retrieved leaves the answers as they were recorded: "
    "a generator that sees less says something else, which may be seen as well."
)


@pytest.mark.parametrize(
    ("sight", "seen", "lines"),
    [
        (Sight("order shuffled", 3, ("a", "b", "c"), {"mrr@10": 3, "ndcg@10": 2}), 0,
         ["order shuffled: nothing in this suite sees it; mrr@10 falls in 3 of 3 cases, ndcg@10 falls in 2 of 3 "
          "cases.", RETRIEVAL]),
        (Sight("lost facts", 9, tuple("abcdefg"), {}), 25,
         ["lost facts: 7 cases of 9 would not notice: a, b, c, d, e and 2 more; what would: must_contain."]),
        (Sight("stale index", 0), 0, []),  # it can happen nowhere
    ],
)  # fmt: skip
def test_what_is_not_seen_is_told_with_what_would(sight: Sight, seen: int, lines: list[str]) -> None:
    told = sensitivity(sight, detections=(Detection(sight.kind, 0.2, 1, 25, seen),))
    assert sensitivity_lines(told) == lines
