"""The comparison of two stored runs in Markdown."""

from __future__ import annotations

from pytest_auepora.history.compare import compare
from pytest_auepora.reporting.formats.comparison_report import render_report_md

from ...history.test_compare import at, pair_of_runs
from ..builders import Case, run_of


def test_the_markdown() -> None:
    a, b = pair_of_runs()
    text = render_report_md(compare(a, b, names=("first", "second"), steady=[*b.metrics]))
    assert text.startswith("## billing: worse\n")
    assert "1 win, 1 loss, 1 draw, 1 regression" in text
    assert "Changed: model m-1 → m-2." in text
    for heading in ("### Regressions", "### Losses", "### Wins"):
        assert heading in text
    assert "| regression | 1 | miss |" in text
    assert "only in first: gone" in text
    assert "not comparable (the golden case was edited): edited" in text
    fell = [line for line in text.splitlines() if line.startswith("- regression: ")]
    assert fell == [
        "- regression: recall@5 fell from 1.00 to 0.00 (limit 0.5); mrr@10 fell from 1.00 to 0.00 (limit 0.5), "
        "in one answer"
    ]


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
