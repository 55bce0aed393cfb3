"""Answers in blocks: what was taken in comes out, whichever is asked for, and a block that is damaged says so."""

from __future__ import annotations

import json
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora.errors import HistoryError
from pytest_auepora.history import blocks
from pytest_auepora.history.blocks import Packing, Recorded, packed

LINES = st.text(st.characters(min_codepoint=32, max_codepoint=126))


@given(
    st.dictionaries(st.text(st.characters(codec="utf-8")), st.lists(LINES, min_size=1, max_size=3)),
    st.integers(1, 200),
)
def test_what_was_taken_in_comes_out(recordings: dict[str, list[str]], size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK", size)
        kept = Recorded(packed(recordings))
    assert kept == recordings
    assert list(kept) == list(recordings)
    assert {case_id: kept[case_id] for case_id in reversed(list(recordings))} == recordings


def test_a_block_is_full_at_some_size() -> None:
    packing = Packing()
    for i in range(10):
        packing.add(f"case-{i}", ["x" * (blocks.BLOCK // 4)])
    assert [[name for name, _ in json.loads(index)] for index, _ in packing.blocks()] == [
        [f"case-{i}" for i in part] for part in (range(4), range(4, 8), range(8, 10))
    ]


def test_what_comes_later_of_a_case_counts() -> None:
    packing = Packing()
    for text in ("before", "after"):
        packing.add("one", [text])
        packing.blocks()
    assert Recorded(packing.blocks()) == {"one": ["after"]}


def test_no_answers_take_no_block() -> None:
    assert packed({}) == []
    assert "one" not in Recorded([])


@pytest.mark.parametrize("data", [b"no such thing", zlib.compress(b"=only one"), zlib.compress(b"\xff\n\xff")])
def test_a_damaged_block_is_told_when_it_is_read(data: bytes) -> None:
    kept = Recorded([('[["one",2]]', data), *packed({"two": ["=x"]})])
    assert kept["two"] == ["=x"]
    with pytest.raises(HistoryError, match="damaged"):
        _ = kept["one"]
