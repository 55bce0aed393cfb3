"""Answers in blocks: what was taken in comes out, whichever is asked for, and a block that is damaged says so."""

from __future__ import annotations

import json
import zlib
from random import Random
from string import printable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora.core.json import dumps
from pytest_auepora.errors import HistoryError
from pytest_auepora.evaluation.answer_codec import Parts
from pytest_auepora.evaluation.document_texts import Recording, apart, reunited, whole, without_texts
from pytest_auepora.history import blocks
from pytest_auepora.history.blocks import Packing, Recorded, packed

LINES = st.text(st.characters(min_codepoint=32, max_codepoint=126))
HARD = ["", "a", 'in "quotes",\n and lines', ',"texts":["a"]}', "é…\u2028", "\ud800", '{"a": "b",', '",', ',"', "\\"]
TEXTS = st.sampled_from(HARD) | st.text()
PARTS = st.builds(
    Parts, st.text(), st.none() | st.just({"texts": ["x"]}),
    retrieved=st.none() | st.lists(st.tuples(st.text(), st.none() | TEXTS, st.floats(0, 1)).map(list)),
    extra=st.just({}) | st.just({"a": 1, "texts": ["a"]}),
)  # fmt: skip


def recording(raw: dict[str, Any], parts: Parts) -> str:
    return whole(apart(raw, parts))


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


@given(st.dictionaries(LINES, st.lists(PARTS, min_size=1, max_size=3)), st.integers(1, 200), st.integers(0, 50))
def test_answers_with_documents_come_out(answers: dict[str, list[Parts]], size: int, known: int) -> None:
    recordings = {case_id: ["=" + recording({"hash": "h"}, one) for one in some] for case_id, some in answers.items()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK", size)
        patch.setattr(blocks, "KNOWN", known)
        patch.setattr(blocks, "_HELD_TEXTS", 1)
        kept = Recorded(packed(recordings))
        for case_id in reversed(list(answers)):
            assert kept[case_id] == recordings[case_id]
            raws = [reunited(json.loads(text[1:]))["parts"] for text in kept[case_id]]
            assert raws == [json.loads(dumps(one.to_dict())) for one in answers[case_id]]


@given(st.dictionaries(LINES, st.lists(PARTS, min_size=1, max_size=3)), st.integers(1, 200), st.integers(0, 50))
def test_it_is_the_same_whether_texts_come_apart_or_in_the_recording(
    answers: dict[str, list[Parts]], size: int, known: int
) -> None:
    made: dict[str, list[Recording]] = {
        case_id: [apart({"hash": "=h"}, one) for one in some] for case_id, some in answers.items()
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK", size)
        patch.setattr(blocks, "KNOWN", known)
        packings = Packing(), Packing()
        for case_id, some in made.items():
            come_apart, come_whole = packings[0].add(case_id, some), packings[1].add(case_id, [*map(whole, some)])
            assert come_apart == come_whole
        assert packings[0].blocks() == packings[1].blocks()


def test_the_text_of_a_document_is_kept_once() -> None:
    random = Random(1)
    texts = ["".join(random.choices(printable, k=1000)) for _ in range(20)]
    parts = [
        Parts(f"answer {i}", retrieved=[[str(n), texts[n], 1.0] for n in random.sample(range(20), 10)])
        for i in range(100)
    ]
    recordings = {str(i): ["=" + recording({}, one)] for i, one in enumerate(parts)}
    made = packed(recordings)
    assert sum(len(data) for _, data in made) < 2 * sum(map(len, texts))
    assert Recorded(made) == recordings


@pytest.mark.parametrize("first", HARD)
@pytest.mark.parametrize("second", HARD)
def test_texts_are_told_apart_whatever_they_end_and_begin_with(first: str, second: str) -> None:
    texts = [first, second, first]
    said = recording({"hash": "h"}, Parts("", retrieved=[["d", text, 1.0] for text in texts]))
    assert [json.loads(f'"{one}"') for one in without_texts(said)[1]] == texts
    assert Recorded(packed({"one": ["=" + said]})) == {"one": ["=" + said]}


def test_a_text_that_is_not_there_is_told() -> None:
    (index, data), (_, texts) = packed({"one": ["=" + recording({}, Parts("", retrieved=[["a", "b", 1.0]]))]})
    for others in ((), (("1", zlib.compress(b"\xff")),), (("1", b"damaged"),)):
        with pytest.raises(HistoryError, match="damaged"):
            _ = Recorded([(index, data), *others])["one"]
    assert Recorded([("1", texts), (index, data)])["one"]


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
