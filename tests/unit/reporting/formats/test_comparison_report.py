"""The comparison of two stored runs in Markdown and in a terminal."""

from __future__ import annotations

import pytest

from pytest_auepora.history.compare import compare
from pytest_auepora.reporting.formats.comparison_report import comparison_lines, render_report_md
from pytest_auepora.reporting.terminal.layout import render
from pytest_auepora.reporting.text import escape_markdown
from pytest_auepora.reporting.wording.two_runs import causes, counts_text, left_out, problems

from ...history.test_compare import at, pair_of_runs
from ..builders import Case, run_of


def test_the_markdown() -> None:
    a, b = pair_of_runs()
    report = compare(a, b, names=("first", "second"), steady=[*b.metrics])
    text = render_report_md(report)
    assert text.startswith("## billing: worse\n")
    for said in (counts_text(report), *causes(report), *problems(report), *left_out(report)):
        assert escape_markdown(said) in text
    for heading in ("### Regressions", "### Losses", "### Wins"):
        assert heading in text
    assert "| regression | rank 1 | missed |" in text


def test_the_markdown_says_na_and_gives_everything_one_name() -> None:
    names = ["recall@5", "assertion_pass"]
    held = Case("held", relevant=None, labels={"must_contain": ["30 days"]})
    text = render_report_md(compare(run_of([held], names), run_of([held], names)))
    assert "| hit@5 | n/a | n/a | n/a |" in text
    assert text.count("assertion_pass") == 1
    assert "groundedness" not in text


def test_the_markdown_escapes_what_users_wrote() -> None:
    a, b = run_of([at(1, "<b>|x")]), run_of([at(2, "<b>|x")])
    text = render_report_md(compare(a, b, names=("`a`", "@everybody")))
    assert "<b>" not in text
    assert "\\|x" in text
    assert "@everybody" not in text


def text_of(width: int = 100) -> str:
    a, b = pair_of_runs()
    report = compare(a, b, names=("first", "second"), steady=[*b.metrics])
    return render(comparison_lines(report, width=width))


def test_the_word_the_metrics_and_the_cases() -> None:
    lines = text_of().splitlines()
    assert lines[0] == "billing: worse  first → second"
    assert lines[1] == "changed: model m-1 → m-2"
    assert lines[3].split() == ["metric", "a", "b", "b", "-", "a", "cases"]
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
