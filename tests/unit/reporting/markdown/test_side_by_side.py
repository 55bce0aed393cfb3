"""Side by side in Markdown."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt

from pytest_auepora.reporting.markdown.side_by_side import side_by_side_markdown
from pytest_auepora.reporting.side_by_side.table import side_by_side

from ..systems import system


def test_markdown_shows_the_same_and_nothing_a_name_could_do() -> None:
    runs = [system("a|b <script>", 0.5), system("@team `x`", 0.9)]
    text = side_by_side_markdown(side_by_side(runs))
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    assert "<script" not in html
    assert "a|b &lt;script&gt;" in html
    assert "@\u200bteam `x`" in html
    assert html.count("<table>") == 3
    cells = re.findall(r"<td[^>]*>(.*?)</td>", html)
    assert "1.000 *" not in cells
    assert any(re.fullmatch(r"\+0\.\d+ \[\+0\.\d+, \+0\.\d+\] ✓", cell) for cell in cells), cells
