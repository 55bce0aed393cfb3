from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_auepora.reporting.markdown.text import escape, escape_html, escape_step
from pytest_auepora.reporting.text import printable

from .test_report import Page


@settings(max_examples=200)
@given(
    st.text(alphabet=st.characters(codec="utf-8"), max_size=40)
    | st.text(alphabet="\\`*_[]|~$<&>!#@:w.ab ()-", max_size=40)
)
def test_escaped_text_reads_as_written(text: str) -> None:
    markdown_it = pytest.importorskip("markdown_it", reason="the Markdown parser markdown-it-py is not installed")
    parser = markdown_it.MarkdownIt("commonmark").enable(["table", "strikethrough"])
    tokens = parser.parse(f"- ✗ {escape(text)} .\n")
    inline = next((t for t in tokens if t.type == "inline"), None)
    assert inline is not None
    assert {child.type for child in inline.children} <= {"text", "text_special"}
    shown = "".join(child.content for child in inline.children).replace("\u200b", "")
    assert shown == f"✗ {printable(text)} .".replace("\u200b", "")


@given(st.text(max_size=40))
def test_escaped_html_is_text(text: str) -> None:
    page = Page(f"<pre>{escape_html(printable(text))}</pre>")
    assert page.seen == {"pre"}


def test_what_means_nothing_is_left_as_it_is() -> None:
    """Reports in Markdown are read in terminals, too."""
    assert escape("p 0.03 <= 0.05 & R&D < 1") == "p 0.03 <= 0.05 & R&amp;D < 1"
    assert escape("<b> </b> <!-- <? &lt; &quot; <") == "&lt;b> &lt;/b> &lt;!-- &lt;? &amp;lt; &amp;quot; &lt;"


def test_commands_of_ours_are_code_and_nothing_else_is() -> None:
    assert escape_step("varies: `x`, ``, <b>|`pytest -q`") == "varies: \\`x\\`, \\`\\`, &lt;b>\\|`pytest -q`"
