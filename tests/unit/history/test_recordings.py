"""Answers in blocks: what was taken in comes out, whichever is asked for, and a block that is damaged says so."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from string import printable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora.core.run import CaseResult, Run
from pytest_auepora.core.types import Document, Response, RetrievedDocument, SystemOutputs
from pytest_auepora.errors import HistoryError
from pytest_auepora.evaluation.answer_codec import TEXT, Parts
from pytest_auepora.evaluation.recording import ERRORED, WHOLE, Recording
from pytest_auepora.history import recordings
from pytest_auepora.history.codec import BLOCK, compressed, run_of, run_text
from pytest_auepora.history.recordings import Packing, Recorded, filled, spared
from pytest_auepora.history.store import HistoryStore
from pytest_auepora.regression.verdict import Verdict

HARD = ["", "a", 'in "quotes",\n and lines', ',"texts":["a"]}', "é…\u2028", "\ud800", '{"a": "b",', '",', ',"', "\\"]
TEXTS = st.sampled_from(HARD) | st.text()
ANSWERS = st.tuples(TEXTS, st.lists(TEXTS, max_size=4))


def packed(answers: dict[str, list[Recording]]) -> list[recordings.Block]:
    return Packing.of(map(CaseResult, answers), answers).answers()


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
    for others in ((), (("1", compressed(b"\xff")),), (("1", b"damaged"),)):
        with pytest.raises(HistoryError, match="damaged"):
            _ = Recorded([(index, data), *others])["one"]
    assert Recorded([("1", texts), (index, data)])["one"]


def test_a_block_is_full_at_some_size() -> None:
    packing = Packing()
    for i in range(10):
        packing.add(CaseResult(f"case-{i}"), [("x" * (BLOCK // 4), [])])
    assert [[name for name, _ in json.loads(index)] for index, _ in packing.answers()] == [
        [f"case-{i}" for i in part] for part in (range(4), range(4, 8), range(8, 10))
    ]


def test_what_comes_later_of_a_case_counts() -> None:
    packing = Packing()
    for text in ("before", "after"):
        packing.add(CaseResult("one", query=text), [(text, [])])
        packing.answers()
    assert Recorded(packing.answers()) == {"one": [("after", [])]}
    assert run_of(run_text(Run("shop", "")), packing.results()).cases["one"].query == "after"


def test_no_answers_take_no_block() -> None:
    assert packed({}) == []
    assert "one" not in Recorded([])


@pytest.mark.parametrize("data", [b"no such thing", compressed(b'[["=only one",[]]]'), compressed(b"\xff")])
def test_a_damaged_block_is_told_when_it_is_read(data: bytes) -> None:
    kept = Recorded([('[["one",2]]', data), *packed({"two": [("=x", [])]})])
    assert kept["two"] == [("=x", [])]
    with pytest.raises(HistoryError, match="damaged"):
        _ = kept["one"]


def answered(**outputs: Any) -> CaseResult:
    hits = [
        {"id": "a", "score": 1.0, "grade": 1, "text": "A" * 300},
        {"id": "b", "score": 0.5, "grade": 0, "text": "B"},
    ]
    said = {"answer": "It is so.", "retrieved": hits, "timings": {"end_to_end": 1.0}}
    return CaseResult("one", outputs={**said, **outputs})


def kept_of(answer: str, *texts: str) -> list[Recording]:
    hits = [RetrievedDocument(Document(f"d{i}", text), 0.0, i) for i, text in enumerate(texts, 1)]
    raw: dict[str, Any] = {
        "hash": "",
        "top_k": 5,
        "seconds": 0.1,
        "concurrency": 1,
        "parts": Parts.of(SystemOutputs(hits, Response(answer))).to_dict(),
    }
    for place, hit in enumerate(raw["parts"]["retrieved"]):
        hit[TEXT] = place
    return [(WHOLE + json.dumps(raw), list(texts))]


def stored(result: CaseResult, kept: Sequence[Recording], found: Sequence[Recording]) -> CaseResult:
    """Return *result* as it is read again where *kept* was recorded, and *found* is what is left of it."""
    return filled(replace(result, outputs=dict(spared(result.outputs, kept))), found)


def test_a_result_is_stored_without_the_texts_that_are_recorded() -> None:
    result, kept = answered(), kept_of("It is so.", "A" * 300, "B")
    spare = spared(result.outputs, kept)
    assert (spare["answer"], [hit["text"] for hit in spare["retrieved"]]) == ("", ["A" * 300, ""])
    assert stored(result, kept, kept) == result
    long = answered(retrieved=[{"id": "b", "score": 0.5, "grade": 0, "text": "B" * 199 + "…"}])
    assert stored(long, cut := kept_of("It is so.", "B" * 300), cut) == long


def test_texts_that_were_forgotten_leave_no_trace() -> None:
    found = stored(answered(), kept_of("It is so.", "A" * 300, "B"), ())
    assert list(found.outputs) == ["retrieved", "timings"]
    assert [hit.get("text") for hit in found.outputs["retrieved"]] == ["A" * 300, None]


@pytest.mark.parametrize(
    "kept", [[], kept_of("Changed.", "A" * 300, "B"), kept_of("It is so.", "A" * 300, "x"), [(ERRORED + "{}", [])]]
)
def test_what_is_not_recorded_as_it_is_stays(kept: list[Recording]) -> None:
    result = answered()
    assert spared(result.outputs, kept) is result.outputs


def test_a_history_is_little_larger_than_its_texts_once(tmp_path: Path) -> None:
    random = Random(2)
    run, kept = Run("big", "big.golden.yaml"), {}
    for i in range(60):
        answer, text = ("".join(random.choices(printable, k=5000)) for _ in range(2))
        kept[str(i)] = kept_of(answer, text)
        hit = {"id": "b", "score": 0.5, "grade": 0, "text": text[:199] + "…"}
        run.add([CaseResult(str(i), outputs={"answer": answer, "retrieved": [hit], "timings": {}})])
    store = HistoryStore(tmp_path / "h.sqlite")
    run_id = store.add(run, Verdict("big"), recordings=kept)
    assert (tmp_path / "h.sqlite").stat().st_size < 60 * 10_000 * 1.3
    assert store.load(run_id) == run
    assert "answer" not in store.load(run_id, answers=False).cases["1"].outputs
