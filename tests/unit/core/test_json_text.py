"""JSON written the short way is, letter for letter, what the standard library writes."""

from __future__ import annotations

import json
import math
import sys
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_auepora.core import json_text
from pytest_auepora.core.json_text import encoder_of, number, quoted

LETTERS = st.text() | st.text(st.characters(max_codepoint=130), min_size=30, max_size=50)


def as_is(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


@given(LETTERS | LETTERS.map(lambda text: text + "…"))
@example("")
@example("…")
@example("x" * 40 + "…")
@example("x" * 40 + "……")
def test_texts(text: str) -> None:
    assert quoted(text) == quoted(text) == as_is(text)


@pytest.mark.parametrize("odd", [*map(chr, range(32)), '"', "\\", "\x7f", "\x80", "é", "…", "\ud800", "😀"])
@pytest.mark.parametrize("length", [3, 60])
def test_every_letter_that_takes_more_than_quotes(odd: str, length: int) -> None:
    for text in (odd + "x" * length, "x" * length + odd, f"{odd}{'x' * length}…"):
        assert quoted(text) == as_is(text)


@given(st.text('ab"\\\n\r\t\f…', min_size=33))
def test_long_texts_with_lines_and_quotations(text: str) -> None:
    assert quoted(text) == as_is(text)


@given(st.floats(allow_nan=False, allow_infinity=False))
@example(0.0)
@example(-0.0)
def test_numbers(value: float) -> None:
    assert number(value) == number(value) == as_is(value)


def test_zeros_are_told_apart() -> None:
    assert [number(0.0), number(-0.0), number(0.0)] == ["0.0", "-0.0", "0.0"]


def test_no_more_is_remembered_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_text, "_MOST", 3)
    texts, numbers = json_text._Texts(), json_text._Numbers()
    for i in range(10):
        assert texts[str(i)] == f'"{i}"'
        assert numbers[i + 0.5] == f"{i}.5"
        assert texts["long" * 20] == f'"{"long" * 20}"'
        assert max(len(texts), len(numbers)) <= 3


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | LETTERS,
                    lambda some: st.lists(some) | st.dictionaries(LETTERS, some)))  # fmt: skip
def test_values(value: Any) -> None:
    assert encoder_of(str)(value) == as_is(value)


def test_what_json_does_not_know_is_asked_for() -> None:
    assert encoder_of(sorted)({"a": {2, 1}}) == '{"a":[1,2]}'
    assert encoder_of(str)([math.inf, sys.float_info.max]) == "[Infinity,1.7976931348623157e+308]"


def test_without_the_encoder_in_c(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json.encoder, "c_make_encoder", None)
    assert encoder_of(str)(["a", 1.5]) == '["a",1.5]'
