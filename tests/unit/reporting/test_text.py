from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_auepora.reporting.terminal.layout import Cell, render
from pytest_auepora.reporting.text import (
    Code,
    Sentence,
    clip,
    escape_html,
    escape_markdown,
    harmless,
    in_ascii,
    printable,
    text_width,
    wrap,
)

from .formats.test_markdown_report import Page

TEXT = st.text(alphabet=st.sampled_from("abc de fg…✓返金規定한글é\u0301\u200b\u20dd🙂ש-"), max_size=60)


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("refund", 6),
        ("返金", 4),
        ("ﾊﾝｶｸ", 4),
        ("\uff26\uff55\uff4c\uff4c", 8),
        ("한글", 4),
        ("\u1112\u1161\u11ab", 2),  # the same syllable, spelled in letters
        ("é", 1),
        ("e\u0301", 1),
        ("a\u200bb", 2),
        ("🙂", 2),
        ("שלום", 4),
        ("", 0),
    ],
)
def test_text_width(text: str, columns: int) -> None:
    assert text_width(text) == columns


@given(TEXT, st.integers(0, 30))
def test_clipping_keeps_to_its_room(text: str, room: int) -> None:
    cut = clip(text, room)
    assert text_width(cut) <= room
    assert cut == text or text_width(text) > room
    if cut != text and room >= 1:
        assert cut.endswith("…")


def test_characters_take_the_columns_that_unicode_gives() -> None:
    for char in map(chr, range(0x10000)):
        joins = (unicodedata.category(char) in ("Mn", "Me", "Cf") and char != "\xad") or "\u1160" <= char <= "\u11ff"
        columns = 0 if joins else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        assert text_width(char) == columns, ascii(char)


def test_clipping_never_parts_a_mark_from_its_letter() -> None:
    assert clip("e\u0301e\u0301e\u0301e\u0301", 3) == "e\u0301e\u0301…"
    assert clip("返金規定", 4) == "返…"


@given(TEXT, st.integers(2, 30))
def test_wrapping_loses_nothing_and_keeps_to_its_room(text: str, room: int) -> None:
    lines = wrap(text, room)
    assert all(text_width(line) <= room for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


@given(TEXT, st.integers(3, 30), st.integers(1, 3))
def test_wrapping_to_so_many_lines(text: str, room: int, most: int) -> None:
    lines = wrap(text, room, most)
    assert len(lines) <= most
    assert all(text_width(line) <= room for line in lines)


@given(st.text("abc ,\n", max_size=60), st.integers(1, 20), st.integers(0, 3))
def test_letters_of_any_script_break_alike(text: str, room: int, most: int) -> None:
    accented = text.translate(str.maketrans("abc", "éßø"))
    assert [len(line) for line in wrap(text, room, most)] == [len(line) for line in wrap(accented, room, most)]
    assert len(clip(text, room)) == len(clip(accented, room))


def test_a_word_longer_than_the_room_is_cut() -> None:
    assert wrap("aaaa bbbbbbbbbb cc", 5) == ["aaaa", "bbbbb", "bbbbb", "cc"]


@given(st.text(max_size=80))
def test_nothing_printable_can_steer_a_terminal(text: str) -> None:
    for keep in (False, True):
        shown = printable(text, keep_lines=keep)
        bad = [c for c in shown if unicodedata.category(c) in ("Cc", "Cs") and not (keep and c == "\n")]
        assert not bad
        assert not re.search("[\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]", shown)


def test_no_line_is_a_command() -> None:
    assert harmless("a\n::error::b\n ::c") == "a\n:error::b\n :c"
    line = [Cell("  "), Cell("::set-output name=x::y", ("bold",)), Cell("  why")]
    assert render([line]) == "  :set-output name=x::y  why"


def test_escapes_are_shown_and_lines_folded() -> None:
    assert printable("a\x1b[31mb\nc\td") == "a\\x1b[31mb c d"
    assert printable("a\u202eb") == "a\\u202eb"
    assert printable("a\u061cb\U000e0041c") == "a\\u061cb\\U000e0041c"
    assert printable("  a\r\n\tb", keep_lines=True) == "  a\n    b"


def test_symbols_have_ascii_counterparts_and_letters_stay() -> None:
    assert in_ascii("3 → 4 …") == "3 -> 4 ..."
    assert in_ascii("返金 → é") == "返金 -> é"
    assert in_ascii("✓✗\u2013?·─≥") == "+x-?.->="


@pytest.mark.parametrize("text", ["::error::x", "  ::add-mask::x", ":::error::x", "a ##[group]b", "x ###vso[task]y"])
def test_no_line_is_a_command_to_a_ci_runner(text: str) -> None:
    for line in (wrap(printable(text), 40)[0], wrap(f"{'y' * 40}{printable(text)}", 40)[-1]):
        assert not line.lstrip().startswith("::")
        assert "##[" not in line
        assert "##vso[" not in line


def test_ordinary_colons_stay() -> None:
    assert wrap(printable("std::vector ## heading"), 40) == ["std::vector ## heading"]


@settings(max_examples=5 * settings().max_examples)
@given(
    st.text(alphabet=st.characters(codec="utf-8"), max_size=40)
    | st.text(alphabet="\\`*_[]|~$<&>!#@:w.ab ()-", max_size=40)
)
def test_escaped_text_reads_as_written(text: str) -> None:
    markdown_it = pytest.importorskip("markdown_it", reason="the Markdown parser markdown-it-py is not installed")
    parser = markdown_it.MarkdownIt("commonmark").enable(["table", "strikethrough"])
    tokens = parser.parse(f"- ✗ {escape_markdown(text)} .\n")
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
    assert escape_markdown("p 0.03 <= 0.05 & R&D < 1") == "p 0.03 <= 0.05 & R&amp;D < 1"
    assert escape_markdown("<b> </b> <!-- <? &lt; &quot; <") == "&lt;b> &lt;/b> &lt;!-- &lt;? &amp;lt; &amp;quot; &lt;"


def test_commands_of_ours_are_code_and_nothing_else_is() -> None:
    said = Sentence("not judged: ", Sentence("varies: `x`,\n``, <b>|", Code("a`b")), " asks")
    assert said == "not judged: varies: `x`,\n``, <b>|`a`b` asks"
    assert escape_markdown(said) == "not judged: varies: \\`x\\`, \\`\\`, &lt;b>\\|`a'b` asks"
    assert escape_markdown(str(said)) == escape_markdown(f"{said}")  # a text alone knows no code


@pytest.mark.parametrize("text", ["@ann", "#12", "acme/shop#12", "acme/shop.js@1a2b3c4", "GH-12"])
def test_nothing_is_linked_to_another_page_of_github(text: str) -> None:
    at = max(map(text.find, "@#-")) + 1
    for escaped in (escape_markdown(f"({text})"), escape_html(f"({text})")):
        assert f"{text[:at]}\u200b{text[at:]}" in escaped


@pytest.mark.parametrize("text", ["refunds#3", "docs/a.md", "HIGH-12", "recall@5", "a/b @ c"])
def test_other_ids_are_left_as_they_are(text: str) -> None:
    assert escape_markdown(text) == text
