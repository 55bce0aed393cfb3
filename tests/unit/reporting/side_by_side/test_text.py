"""Side by side on a terminal: within its width, and the cases on which systems disagree."""

from __future__ import annotations

import re
from functools import cache

import pytest

from pytest_auepora.reporting.side_by_side.table import SideBySide, side_by_side
from pytest_auepora.reporting.side_by_side.text import side_by_side_lines
from pytest_auepora.reporting.terminal.layout import render
from pytest_auepora.reporting.text import text_width

from ..systems import system
from .test_table import THREE, three


@cache
def five() -> SideBySide:
    return side_by_side([*THREE, system("with a long name of its own", 0.6), system("e5-large-v2/int8", 0.9)])


@pytest.mark.parametrize("width", [60, 80, 140])
@pytest.mark.parametrize("ascii_only", [False, True])
def test_no_line_is_wider_than_the_terminal(width: int, ascii_only: bool) -> None:
    text = render(side_by_side_lines(five(), width=width, ascii_only=ascii_only))
    assert max(map(text_width, text.splitlines())) <= width
    assert text.count("recall@5 ") >= 2
    assert not ascii_only or text.isascii()
    for name in ("bm25", "dense", "hybrid", "int8"):
        assert name in text


def test_the_terminal_names_the_cases_on_which_they_disagree() -> None:
    text = render(side_by_side_lines(three(), width=100))
    assert re.search(r"15 cases that only some of them pass \(recall@5 beside\)", text), text
    assert re.search(r"^case-\d+ +✗ 0.000 +✓ 1.000", text, re.MULTILINE)
    assert "… and 5 more" in text
