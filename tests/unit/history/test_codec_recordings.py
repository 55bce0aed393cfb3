"""Answers in rows: what was taken in comes out, its texts are there once, and a row that is damaged says so."""

from __future__ import annotations

import zlib
from pathlib import Path
from random import Random
from string import printable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora.core.case_texts import CaseTexts
from pytest_auepora.core.run import CaseResult, Run
from pytest_auepora.errors import HistoryError
from pytest_auepora.evaluation.recording import Recording
from pytest_auepora.history.codec import CaseJson, CaseRow, RecordedAnswers, decode_run, encode_run, rows_of
from pytest_auepora.history.store import HistoryStore
from pytest_auepora.regression.verdict import Verdict

from .recordings import failed, said

HARD = ["", "a", 'in "quotes",\n and lines', ',"texts":["a"]}', "é…\u2028", '{"a": "b",', '",', ',"', "\\"]
TEXTS = st.sampled_from(HARD) | st.text()
ANSWERS = st.builds(lambda texts: said(*texts), st.lists(TEXTS, min_size=1, max_size=4)) | st.builds(failed, TEXTS)


def decoded(*rows: CaseRow) -> Run:
    return decode_run(encode_run(Run("shop", "")), rows)


@given(st.dictionaries(TEXTS, st.lists(ANSWERS, min_size=1, max_size=3)))
def test_what_was_taken_in_comes_out(answers: dict[str, list[Recording]]) -> None:
    kept = RecordedAnswers(rows_of(map(CaseResult, answers), answers))
    assert kept == answers
    assert list(kept) == list(answers)


def test_an_attempt_without_answer_shows_no_earlier_one() -> None:
    ended = CaseResult("one", state="error", error="ConnectionError: no route")
    row = CaseJson.of(ended).row()
    assert decoded(row).cases["one"] == ended
    assert "one" not in RecordedAnswers([row])


@pytest.mark.parametrize("data", [b"no such thing", zlib.compress(b"{}"), zlib.compress(b"\xff")])
@pytest.mark.parametrize("column", ["texts", "answers"])
def test_a_damaged_row_is_told_when_it_is_read(column: str, data: bytes) -> None:
    one, two = rows_of([CaseResult("one"), CaseResult("two")], {"one": [said("x")], "two": [said("y")]})
    spoilt = one._replace(texts=data) if column == "texts" else one._replace(answers=data)
    kept = RecordedAnswers([spoilt, two])
    assert kept["two"] == [said("y")]
    with pytest.raises(HistoryError, match="the recorded answer to one is damaged"):
        _ = kept["one"]


def answered() -> CaseResult:
    hits = [
        {"id": "a", "score": 1.0, "grade": 1, "text": "A" * 300},
        {"id": "b", "score": 0.5, "grade": 0, "text": "B"},
    ]
    outputs = {"answer": "It is so.", "retrieved": hits, "timings": {"end_to_end": 1.0}}
    return CaseResult("one", texts=CaseTexts(outputs=outputs))


def test_without_its_answers_a_result_has_relevant_texts() -> None:
    (row,) = rows_of([answered()], {"one": [said("It is so.")]})
    assert decoded(row).cases["one"] == answered()
    bare = decoded(row._replace(answers=b"")).cases["one"]
    assert list(bare.outputs) == ["retrieved", "timings"]
    assert [hit.get("text") for hit in bare.outputs["retrieved"]] == ["A" * 300, None]


def test_a_result_that_nothing_is_recorded_of_is_stored_whole() -> None:
    assert decoded(*rows_of([answered()], {})).cases["one"] == answered()


def test_a_history_is_little_larger_than_its_texts_once(tmp_path: Path) -> None:
    random = Random(2)
    run, kept = Run("big", "big.golden.yaml"), {}
    for i in range(60):
        answer, text = ("".join(random.choices(printable, k=5000)) for _ in range(2))
        kept[str(i)] = [said(answer, text)]
        hit = {"id": "d1", "score": 0.5, "grade": 1, "text": text}
        run.add([CaseResult(str(i), texts=CaseTexts(outputs={"answer": answer, "retrieved": [hit], "timings": {}}))])
    store = HistoryStore(tmp_path / "h.sqlite")
    run_id = store.add(run, Verdict("big"), recordings=kept)
    assert (tmp_path / "h.sqlite").stat().st_size < 60 * 10_000 * 1.3
    assert store.load(run_id) == run
    assert "answer" not in store.load(run_id, answers=False).cases["1"].outputs
