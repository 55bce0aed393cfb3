"""Where sentences end, and where a full stop is no end."""

from __future__ import annotations

import pytest

from pytest_auepora.metrics.text.tokens import sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n ", []),
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("It costs 5.50 euros a day. Pay now.", ["It costs 5.50 euros a day.", "Pay now."]),
        ("Dr. Who met J. Smith, i.e. the boss. He left.", ["Dr. Who met J. Smith, i.e. the boss.", "He left."]),
        ("See e.g. that page. no capital follows", ["See e.g. that page. no capital follows"]),
        ('He said "no." She left.', ['He said "no."', "She left."]),
        ("Paid. [1] Late. [2, 3]\nFree [4].", ["Paid. [1]", "Late. [2, 3]", "Free [4]."]),
        ("- one thing\n2. another thing\n* a third", ["one thing", "another thing", "a third"]),
        ("三十日以内です。返品できます。はい", ["三十日以内です。", "返品できます。", "はい"]),
        ("Open 9:00 - 17:00\n\n---\nClosed.", ["Open 9:00 - 17:00", "Closed."]),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected
