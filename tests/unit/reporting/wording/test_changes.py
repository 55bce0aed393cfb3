"""What is different: settings, prompts, provenance."""

from __future__ import annotations

import pytest

from pytest_auepora.regression.compare import Change, Comparison, Incomparable
from pytest_auepora.reporting.wording.changes import change_text, incomparable_text, provenance_lines

PROMPTS = Change("judge prompt", "v1:" + "a" * 16, "v1:" + "b" * 16)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (Change("k", 5, 10), "k 5 → 10"),
        (Change("model", None, "m-2"), "model (nothing) → m-2"),
        (Change("options", {"a": 1}, ["x"]), 'options {"a": 1} → ["x"]'),
        (PROMPTS, "another prompt: v1:aaaaaaaa → v1:bbbbbbbb"),
        (Change("model", "x" * 90, "y"), f"model {'x' * 39}… → y"),
    ],
)
def test_one_change(change: Change, text: str) -> None:
    assert change_text(change) == text


def test_prompts_are_told_without_hashes_where_there_is_no_room() -> None:
    assert change_text(PROMPTS, hashes=False) == "another prompt"


@pytest.mark.parametrize(
    ("why", "text"),
    [
        (Incomparable(changes=(Change("k", 5, 10), Change("norm", "a", "b"))), "k 5 → 10, norm a → b"),
        (Incomparable("not stored"), "the baseline does not hold what it is computed from"),
        (Incomparable("damaged", detail="in a"), "the baseline's data are damaged: in a"),
    ],
)
def test_why_a_metric_does_not_compare(why: Incomparable, text: str) -> None:
    assert incomparable_text(why) == text


def test_what_changed_since_the_baseline() -> None:
    assert provenance_lines(Comparison(provenance={"index": ("v1", "v2")})) == ["index v1 → v2"]
    assert provenance_lines(None) == []
