from __future__ import annotations

from pytest_auepora.base.grouping import grouped


def test_values_and_keys_stay_in_their_order() -> None:
    found = grouped([("b", 1), ("a", 2), ("b", 0)])
    assert list(found.items()) == [("b", [1, 0]), ("a", [2])]
    assert grouped([]) == {}
