"""Places of complaints, and messages that repeat no input of megabytes."""

from __future__ import annotations

from pytest_auepora.base.complaints import Problem, cut_lines


def test_a_complaint_begins_with_its_place() -> None:
    assert str(Problem("a.yaml", 3, 5, "no query")) == "a.yaml:3:5: no query"
    assert str(Problem("a.yaml", 0, 0, "no case")) == "a.yaml: no case", "the whole file is meant"


def test_long_lines_lose_their_middle_and_short_ones_nothing() -> None:
    long = f"a.txt:1: got {'x y ' * 3_000_000}, expected z"
    first, second = cut_lines(f"{long}\nnext: {'q' * 1000}").split("\n")
    assert len(first) < 2_100
    assert first.startswith("a.txt:1: got x y")
    assert first.endswith(", expected z")
    assert second == f"next: {'q' * 1000}"
