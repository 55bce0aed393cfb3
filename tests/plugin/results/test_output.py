"""The text of a failed case: where it stands, in CI, and where there is no terminal."""

from __future__ import annotations

from xml.sax.saxutils import escape

import pytest

from ..conftest import Example


def test_a_failure_says_where_its_case_stands(project: Example) -> None:
    project.break_retriever()
    result = project.run("-rf", "--tb=line")
    text = str(result.stdout)
    line = (project.golden.read_text().splitlines()).index("  - id: refund-window") + 1
    assert f"{project.golden}:{line}: Failed: retrieval: refunds was not" in text
    assert "FAILED shop.golden.yaml::refund-window - Failed: retrieval: refunds was not" in text


def test_ci_lists_each_failed_case_in_one_line(project: Example, monkeypatch: pytest.MonkeyPatch) -> None:
    """There pytest writes the whole message of each failure into its short summary, which is above it already."""
    project.break_retriever()
    monkeypatch.setenv("CI", "true")
    monkeypatch.setenv("COLUMNS", "60")
    result = project.run("-rf", "--junitxml=junit.xml")
    short = result.outlines[next(i for i, line in enumerate(result.outlines) if "short test summary" in line) + 1 :]
    cases = [line for line in short if "shop.golden.yaml::refund-window" in line]
    headline = "retrieval: refunds was not found (not the one returned), and the answer misses '30 days'"
    assert cases == [f"FAILED shop.golden.yaml::refund-window - Failed: {headline}"]
    assert not any(line.startswith(("query", "expected", "  ")) for line in short)
    assert f'<failure message="Failed: {escape(headline)}">' in project.read("junit.xml")
    assert "expected   " in project.read("junit.xml")


def test_without_a_terminal_a_failure_says_why_as_ever(project: Example) -> None:
    project.break_retriever()
    result = project.run("-p", "no:terminal", "--junitxml=report.xml")
    assert result.ret == 1
    assert "wanted &gt;= 0.5" in project.read("report.xml")
