"""Answers in blocks: what was taken in comes out, whichever is asked for, and a block that is damaged says so."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from string import printable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora.core.case_texts import CaseTexts
from pytest_auepora.core.run import CaseResult, Run
from pytest_auepora.errors import HistoryError
from pytest_auepora.evaluation.recording import Recording
from pytest_auepora.history import codec
from pytest_auepora.history.codec import CaseJson, RecordedAnswers, ResultPacker, decode_run, encode_run
from pytest_auepora.history.store import HistoryStore
from pytest_auepora.regression.verdict import Verdict

from .blocks import block_of

HARD = ["", "a", 'in "quotes",\n and lines', ',"texts":["a"]}', "é…\u2028", "\ud800", '{"a": "b",', '",', ',"', "\\"]
TEXTS = st.sampled_from(HARD) | st.text()
ANSWERS = st.tuples(TEXTS, st.lists(TEXTS, max_size=4))


def packed(answers: dict[str, list[Recording]]) -> list[codec.AnswerBlock]:
    return ResultPacker.of(map(CaseResult, answers), answers).answers()


@given(st.dictionaries(TEXTS, st.lists(ANSWERS, min_size=1, max_size=3)), st.integers(1, 200))
def test_what_was_taken_in_comes_out(answers: dict[str, list[Recording]], size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(codec, "BLOCK_SIZE", size)
        kept = RecordedAnswers(packed(answers))
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
    assert RecordedAnswers(made) == answers


def test_a_line_that_is_not_there_is_told() -> None:
    ((_, data),) = packed({"one": [("=", ["b"])]})
    with pytest.raises(HistoryError, match="the recorded answer to two is damaged"):
        _ = RecordedAnswers([('["one","two"]', data)])["two"]


def test_a_block_is_full_at_some_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codec, "BLOCK_SIZE", 900)
    packing = ResultPacker()
    for i in range(10):
        packing.add(CaseJson.of(CaseResult(f"case-{i}"), [("x" * 300, [])]))
    assert [json.loads(cases) for cases, _ in packing.answers()] == [
        [f"case-{i}" for i in part] for part in (range(3), range(3, 6), range(6, 9), range(9, 10))
    ]


def test_what_comes_later_of_a_case_counts() -> None:
    packing = ResultPacker()
    for text in ("before", "after"):
        packing.add(CaseJson.of(CaseResult("one", texts=CaseTexts(text)), [(text, [])]))
    assert RecordedAnswers(packing.answers()) == {"one": [("after", [])]}
    assert decode_run(encode_run(Run("shop", "")), packing.results()).cases["one"].query == "after"


def test_an_attempt_without_answer_shows_no_earlier_one() -> None:
    packing, ended = ResultPacker(), CaseResult("one", state="error", error="ConnectionError: no route")
    packing.add(CaseJson.of(answered(), [("=", [])]))
    packing.add(CaseJson.of(ended))
    (back,) = decode_run(encode_run(Run("shop", "")), packing.results()).cases.values()
    recorded = RecordedAnswers(packing.answers())
    assert recorded.with_outputs(back) == ended
    assert recorded["one"] == []


def test_no_answers_take_no_block() -> None:
    assert packed({}) == []
    assert "one" not in RecordedAnswers([])


@pytest.mark.parametrize("data", [b"no such thing", block_of(b'[["only one",[]]]'), block_of(b"\xff")])
def test_a_damaged_block_is_told_when_it_is_read(data: bytes) -> None:
    kept = RecordedAnswers([('["one"]', data), *packed({"two": [("=x", [])]})])
    assert kept["two"] == [("=x", [])]
    with pytest.raises(HistoryError, match="damaged"):
        _ = kept["one"]


def answered(**outputs: Any) -> CaseResult:
    hits = [
        {"id": "a", "score": 1.0, "grade": 1, "text": "A" * 300},
        {"id": "b", "score": 0.5, "grade": 0, "text": "B"},
    ]
    said = {"answer": "It is so.", "retrieved": hits, "timings": {"end_to_end": 1.0}}
    return CaseResult("one", texts=CaseTexts(outputs={**said, **outputs}))


def test_a_result_shows_of_its_answer_what_is_recorded() -> None:
    packing = ResultPacker.of([answered()], {"one": [("=", [])]})
    (bare,) = decode_run(encode_run(Run("shop", "")), packing.results()).cases.values()
    assert list(bare.outputs) == ["retrieved", "timings"]
    assert [hit.get("text") for hit in bare.outputs["retrieved"]] == ["A" * 300, None]
    assert RecordedAnswers(packing.answers()).with_outputs(bare) == answered()
    assert RecordedAnswers([]).with_outputs(bare) == bare


def test_a_result_that_nothing_is_recorded_of_is_stored_whole() -> None:
    packing = ResultPacker.of([answered()], {})
    assert decode_run(encode_run(Run("shop", "")), packing.results()).cases["one"] == answered()


def test_a_history_is_little_larger_than_its_texts_once(tmp_path: Path) -> None:
    random = Random(2)
    run, kept = Run("big", "big.golden.yaml"), {}
    for i in range(60):
        answer, text = ("".join(random.choices(printable, k=5000)) for _ in range(2))
        kept[str(i)] = [(f"={answer}", [text])]
        hit = {"id": "b", "score": 0.5, "grade": 0, "text": text[:199] + "…"}
        run.add([CaseResult(str(i), texts=CaseTexts(outputs={"answer": answer, "retrieved": [hit], "timings": {}}))])
    store = HistoryStore(tmp_path / "h.sqlite")
    run_id = store.add(run, Verdict("big"), recordings=kept)
    assert (tmp_path / "h.sqlite").stat().st_size < 60 * 10_000 * 1.3
    assert store.load(run_id) == run
    assert "answer" not in store.load(run_id, answers=False).cases["1"].outputs
