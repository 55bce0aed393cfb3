from __future__ import annotations

import base64
import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora.reporting.html.cases import shown
from pytest_auepora.reporting.html.page import embedded_json
from pytest_auepora.reporting.html.report import hash_source

from .pages import read

NASTY = [
    "</script>",
    "<!--",
    "<script>",
    "-->",
    "]]>",
    "\u2028",
    "\u2029",
    "\ud800",
    "&lt;",
    "\x00",
    "\u202e",
    '"',
    "\\",
]
TEXT = st.lists(st.one_of(st.sampled_from(NASTY), st.text(alphabet=st.characters()))).map("".join)


@given(TEXT)
def test_embedded_text_reads_back_and_holds_nothing_special(text: str) -> None:
    made = embedded_json({"text": text, text: [1, None, 0.5]})
    assert json.loads(made) == {"text": text, text: [1, None, 0.5]}
    assert not set("<>&\u2028\u2029") & set(made)
    made.encode()


@given(TEXT)
def test_a_script_of_data_ends_where_it_should(text: str) -> None:
    page = read(f'<p>before</p><script type="application/json">{embedded_json(text)}</script><p>after</p>')
    assert [one.tag for one in page.inside if one.tag] == ["p", "script", "p"]
    assert json.loads(page.inside[1].text) == text


@given(TEXT)
def test_shown_text_has_no_controls(text: str) -> None:
    assert shown(text).isprintable() or not any(ord(c) < 32 or 0xD800 <= ord(c) < 0xE000 for c in shown(text))
    shown(text, keep_lines=True).encode()


@pytest.mark.parametrize("value", [float("inf"), float("nan")])
def test_what_json_cannot_say_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="JSON"):
        embedded_json(value)


def test_a_hash_is_that_of_the_text() -> None:
    digest = base64.b64encode(hashlib.sha256(b"alert(1)").digest()).decode()
    assert hash_source("alert(1)") == f"'sha256-{digest}'"
