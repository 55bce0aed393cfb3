from __future__ import annotations

from typing import Any

from pytest_auepora.pytest_plugin.xdist import RunProvenance


def merged(*said: tuple[str, dict[str, Any]]) -> tuple[dict[str, Any], str]:
    provenance = RunProvenance()
    for case_id, one in said:
        provenance.add(case_id, one)
    return provenance.merged()


def test_what_all_say_is_said_of_the_run() -> None:
    assert merged() == ({}, "")
    assert merged(("a", {"model": "m", "dims": 3}), ("b", {"model": "m", "dims": 3})) == (
        {"model": "m", "dims": 3},
        "",
    )
    assert merged(("a", {"model": "m"}), ("skipped", {})) == ({"model": "m"}, "")


def test_what_differs_is_neither_of_the_two() -> None:
    one, other = ("a", {"model": "m", "corpus": "3.12", "seed": 1}), ("b", {"model": "m", "corpus": "3.11"})
    for said in ((one, other), (other, one)):
        found, note = merged(*said)
        assert found == {"model": "m", "corpus": "3.11 and 3.12", "seed": "1 and not said"}
        assert note.startswith("not all cases were asked under the same conditions: ")
        assert set(note.partition(": ")[2].split(", ")) == {"corpus 3.11 and 3.12", "seed 1 and not said"}


def test_what_was_said_of_a_case_that_was_asked_again_is_past() -> None:
    assert merged(("a", {"model": "x"}), ("a", {"model": "y"})) == ({"model": "y"}, "")
