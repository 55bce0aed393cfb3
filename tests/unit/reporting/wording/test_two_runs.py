"""One run beside another, in words."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pytest_auepora.history.compare import CompareReport, QueryNote, compare
from pytest_auepora.reporting.wording.two_runs import causes, counts_text, left_out, note_text, problems

from ...history.test_compare import pair_of_runs

CHANCE = "chance alone may do this (p 0.5 > 0.05 (corrected for 5 metrics))"


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (counts_text, "1 win, 1 loss, 1 draw, 1 regression over 4 cases, hits by chunk id"),
        (causes, ["model m-1 → m-2"]),
        (left_out,
         ["not comparable (the golden case was edited): edited", "only in first: gone", "only in second: new"]),
        (problems,
         [f"recall@5: 1.0000 → 0.7500 over 4 cases: worse by 0.25 (1 worse, 0 better); {CHANCE}, "
          "a loss of up to 0.8383 is not ruled out, about 22 more cases would decide it",
          f"mrr@10: 0.7083 → 0.3958 over 4 cases: worse by 0.3125 (2 worse, 1 better); {CHANCE}, "
          "a loss of up to 1.1226 is not ruled out, about 27 more cases would decide it",
          "loss: mrr@10 fell from 1.00 to 0.25 (limit 0.5), in one answer",
          "regression: recall@5 fell from 1.00 to 0.00 (limit 0.5); mrr@10 fell from 1.00 to 0.00 (limit 0.5), "
          "in one answer"]),
    ],
)  # fmt: skip
def test_what_two_runs_differ_in(told: Callable[[CompareReport], object], said: object) -> None:
    assert told(compare(*pair_of_runs(), names=("first", "second"))) == said


@pytest.mark.parametrize(
    ("note", "text"),
    [
        (None, ""),
        (QueryNote("errored", error="E: x"), "errored: E: x"),
        (QueryNote(error_before="E: y", changed=True), "errored in the earlier run: E: y; model m-1 → m-2"),
        (QueryNote("newly failing"), "newly failing: recall@5 fell from 1.00 to 0.00 (limit 0.5)"),
    ],
)
def test_the_note_on_a_case_names_errors_before_checks(note: QueryNote | None, text: str) -> None:
    assert note_text(compare(*pair_of_runs()), "regression", note) == text
