"""Values in a temporary file: written and read in any order, taken apart or not, held or not."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_auepora.core.spool import Held, Spool


def test_a_spool_is_read_and_written_in_any_order() -> None:
    spool: Spool[str] = Spool()
    for word in ("one", "two"):
        spool.append(word)
    assert spool[0] == "one"
    spool.append("three" * 10_000)
    spool[0] = "anew"
    assert (list(spool), spool[1:2], spool[-1], len(spool)) == (
        ["anew", "two", "three" * 10_000], ["two"], "three" * 10_000, 3,
    )  # fmt: skip
    with pytest.raises(IndexError):
        spool[3]
    with pytest.raises(IndexError):
        spool[-4]
    with pytest.raises(IndexError):
        spool[3] = "beyond"
    assert next(iter(spool)) == "anew"


class Words(Spool["set[str]"]):
    def _taken_apart(self, value: set[str]) -> Any:
        return sorted(value)

    def _made(self, kept: Any) -> set[str]:
        return set(kept)


def test_objects_are_put_together_again() -> None:
    words = Words()
    for said in ({"a", "b"}, set[str]()):
        words.append(said)
    words[0] = {"c"}
    assert (list(words), words[0], words[:1]) == ([{"c"}, set()], {"c"}, [{"c"}])


def test_what_is_held_is_the_same_until_another_is_read_or_written_there() -> None:
    held: Held[list[int]] = Held()
    for n in range(3):
        held.append([n])
    first = held.at(2)
    assert held.at(2) is first
    held[0] = [10]
    held.append([3])
    assert held.at(2) is first
    held[-2] = [20]
    assert (held.at(2), held.at(0)) == ([20], [10])
