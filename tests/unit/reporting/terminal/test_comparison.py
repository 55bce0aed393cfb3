"""Two runs compared, in a terminal."""

from __future__ import annotations

import pytest

from pytest_auepora.history.compare import compare
from pytest_auepora.reporting.terminal.comparison import comparison_lines
from pytest_auepora.reporting.terminal.layout import render

from ...history.test_compare import at, pair_of_runs
from ..builders import run_of


def text_of(width: int = 100) -> str:
    a, b = pair_of_runs()
    report = compare(a, b, names=("first", "second"), steady=[*b.metrics])
    return render(comparison_lines(report, width=width))


def test_the_word_the_metrics_and_the_cases() -> None:
    lines = text_of().splitlines()
    assert lines[0] == "billing: worse  first → second"
    assert lines[1] == "changed: model m-1 → m-2"
    assert lines[3].split() == ["metric", "a", "b", "b", "-", "a", "cases"]
    assert "found before, missed now" in lines
    assert any(line.startswith("  regression: rank 1 → missed; newly failing: ") for line in lines)
    assert "only in first: gone" in lines
    assert [line for line in lines if "hit@" in line] == []


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    assert max(map(len, text_of(width).splitlines())) <= width


def test_names_are_as_they_are_and_steer_no_terminal() -> None:
    a, b = run_of([at(1, "<b>|x_y")]), run_of([at(2, "<b>|x_y")])
    text = render(comparison_lines(compare(a, b, names=("__a__", "\x1b[31mred"))))
    assert "__a__" in text
    assert "<b>|x_y: rank 1" in text
    assert "\x1b" not in text
