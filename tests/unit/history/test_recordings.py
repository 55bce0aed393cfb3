"""Answers in blocks: what was taken in comes out, whichever is asked for, and a block that is damaged says so."""

from __future__ import annotations

import json
import zlib
from random import Random
from string import printable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora.errors import HistoryError
from pytest_auepora.evaluation.recording import Recording
from pytest_auepora.history import recordings
from pytest_auepora.history.recordings import Packing, Recorded

HARD = ["", "a", 'in "quotes",\n and lines', ',"texts":["a"]}', "é…\u2028", "\ud800", '{"a": "b",', '",', ',"', "\\"]
TEXTS = st.sampled_from(HARD) | st.text()
ANSWERS = st.tuples(TEXTS, st.lists(TEXTS, max_size=4))


def packed(answers: dict[str, list[Recording]]) -> list[recordings.Block]:
    return Packing.of(answers).blocks()


@given(st.dictionaries(TEXTS, st.lists(ANSWERS, min_size=1, max_size=3)), st.integers(1, 200), st.integers(0, 50))
def test_what_was_taken_in_comes_out(answers: dict[str, list[Recording]], size: int, known: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recordings, "BLOCK", size)
        patch.setattr(recordings, "KNOWN", known)
        patch.setattr(recordings, "_HELD_TEXTS", 1)
        kept = Recorded(packed(answers))
        assert kept == answers
        assert list(kept) == list(answers)
        assert {case_id: kept[case_id] for case_id in reversed(list(answers))} == answers


def test_the_text_of_a_document_is_kept_once() -> None:
    random = Random(1)
    texts = ["".join(random.choices(printable, k=1000)) for _ in range(20)]
    answers: dict[str, list[Recording]] = {
        str(i): [(f"=answer {i}", [texts[n] for n in random.sample(range(20), 10)])] for i in range(100)
    }
    made = packed(answers)
    assert sum(len(data) for _, data in made) < 2 * sum(map(len, texts))
    assert Recorded(made) == answers


def test_a_text_that_is_not_there_is_told() -> None:
    (index, data), (_, texts) = packed({"one": [("=", ["b"])]})
    for others in ((), (("1", zlib.compress(b"\xff")),), (("1", b"damaged"),)):
        with pytest.raises(HistoryError, match="damaged"):
            _ = Recorded([(index, data), *others])["one"]
    assert Recorded([("1", texts), (index, data)])["one"]


def test_a_block_is_full_at_some_size() -> None:
    packing = Packing()
    for i in range(10):
        packing.add(f"case-{i}", [("x" * (recordings.BLOCK // 4), [])])
    assert [[name for name, _ in json.loads(index)] for index, _ in packing.blocks()] == [
        [f"case-{i}" for i in part] for part in (range(4), range(4, 8), range(8, 10))
    ]


def test_what_comes_later_of_a_case_counts() -> None:
    packing = Packing()
    for text in ("before", "after"):
        packing.add("one", [(text, [])])
        packing.blocks()
    assert Recorded(packing.blocks()) == {"one": [("after", [])]}


def test_no_answers_take_no_block() -> None:
    assert packed({}) == []
    assert "one" not in Recorded([])


@pytest.mark.parametrize("data", [b"no such thing", zlib.compress(b'[["=only one",[]]]'), zlib.compress(b"\xff")])
def test_a_damaged_block_is_told_when_it_is_read(data: bytes) -> None:
    kept = Recorded([('[["one",2]]', data), *packed({"two": [("=x", [])]})])
    assert kept["two"] == [("=x", [])]
    with pytest.raises(HistoryError, match="damaged"):
        _ = kept["one"]
