"""Golden files that would take too much: nested deep, or aliases of aliases."""

from __future__ import annotations

from pathlib import Path

from tests.unit.io.files import problems


def test_deep_nesting_is_refused_however_deep(tmp_path: Path) -> None:
    for depth in (101, 5000):
        assert "nest more than 100 deep" in problems(tmp_path, "cases: " + "[" * depth + "]" * depth)[0]
        assert "nest more than 100 deep" in problems(tmp_path, "x: &a 1\ncases: " + "[" * depth + "]" * depth)[0]


def test_a_bomb_of_aliases_is_refused_before_it_goes_off(tmp_path: Path) -> None:
    lines = ["a: &a [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"{b}: &{b} [{', '.join([f'*{a}'] * 10)}]" for a, b in zip("abcdefgh", "bcdefghi", strict=True)]
    (problem,) = problems(tmp_path, "\n".join(lines) + "\ncases: *i\n")
    assert "aliases blow this file up by" in problem
    assert "the limit is 1,000,000" in problem
