"""The verdict in a word."""

from __future__ import annotations

import pytest

from pytest_auepora.regression.outcomes import GateOutcome, GateState, Outcome
from pytest_auepora.regression.verdict import word_of


def gate(word: Outcome, state: GateState = "passed") -> GateOutcome:
    return GateOutcome("regression", state, "m", word=word)


@pytest.mark.parametrize(
    ("gates", "regressed", "word"),
    [
        ([gate("same"), gate("worse", "failed"), gate("better")], [], "worse"),
        ([gate("same"), gate("better")], [], "better"),
        ([gate("same"), gate("inconclusive", "inconclusive")], [], "inconclusive"),
        ([gate("better"), gate("inconclusive", "inconclusive")], [], "better"),
        ([gate("same")], [], "same"),
        ([gate("same")], ["a"], "mixed"),
        ([gate("better")], ["a"], "mixed"),
        ([gate("inconclusive", "inconclusive")], ["a"], "worse"),
        ([gate("worse", "advisory"), gate("same")], [], "same"),
        ([gate("same", "not judged")], [], "not judged"),
        ([gate("same"), GateOutcome("baseline", "not judged", reason="nothing compares")], [], "not judged"),
        ([gate("worse", "failed"), GateOutcome("baseline", "failed", reason="nothing compares")], [], "worse"),
        ([gate("same"), GateOutcome("baseline", "not judged", reason="nothing compares")], ["a"], "worse"),
        ([], [], "not judged"),
    ],
)
def test_the_word(gates: list[GateOutcome], regressed: list[str], word: str) -> None:
    assert word_of(gates, regressed) == word
