"""A result is read back from a history as they were."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora.base.records import read_record
from pytest_auepora.core.case_texts import CaseTexts
from pytest_auepora.core.findings import Finding
from pytest_auepora.core.run import CaseResult, Run
from pytest_auepora.core.scoring import Score
from pytest_auepora.errors import HistoryError
from pytest_auepora.history.codec import CaseJson, decode_run, encode_run, rows_of, without_answer_texts
from pytest_auepora.history.store import HistoryStore

from ..reporting.builders import verdict_of
from .conftest import a_run

NUMBERS = st.floats(-1e9, 1e9) | st.integers(-3, 3)
_REST = (
    st.just("") | st.text(), st.none() | st.lists(st.none() | st.integers()),
    st.dictionaries(st.text(), st.floats(allow_nan=False) | st.lists(st.text())),
)  # fmt: skip
SCORES = st.builds(Score, st.just("number"), NUMBERS, *_REST) | st.builds(
    Score, st.sampled_from(["n/a", "error", "aggregate"]), st.none(), *_REST
)
FINDINGS = st.builds(Finding, st.just("fell"), st.text(), st.just("varies"), details=st.just({"a": [1]}))
RESULTS = st.builds(
    CaseResult, st.text(), st.sampled_from(["passed", "failed"]), st.dictionaries(st.text(), SCORES),
    st.text(), st.text(), st.integers(0, 9_999), findings=st.lists(FINDINGS),
    ranks=st.dictionaries(st.text(), st.none() | st.integers(1, 9_999)),
)  # fmt: skip


@given(RESULTS)
def test_a_result(result: CaseResult) -> None:
    assert read_record(CaseResult, CaseJson.of(result).result) == result


@given(RESULTS)
def test_a_run_with_its_results(result: CaseResult) -> None:
    run = Run("shop", "shop.golden.yaml", provenance={"model": None}, expected_ids=("one", "two"))
    back = decode_run(encode_run(run), rows_of([result], {}))
    assert back.cases == {result.case_id: result}
    assert (back.suite, back.provenance, back.expected_ids) == ("shop", {"model": None}, ("one", "two"))


def test_results_are_in_the_order_of_the_suite() -> None:
    run = Run("shop", "", expected_ids=("one", "two"))
    rows = rows_of([CaseResult("other"), CaseResult("two"), CaseResult("one")], {})
    assert list(decode_run(encode_run(run), rows).cases) == ["one", "two", "other"]


def test_what_a_score_does_not_say_takes_no_room() -> None:
    text = CaseJson.of(CaseResult("one", scores={"mrr": Score("number", 1.0)})).result
    assert b'"scores":{"mrr":{"state":"number","value":1.0}}' in text


def test_a_result_without_its_answer() -> None:
    scores = {
        "counted": Score("number", 1.0, data=[1, [2.5]], details={"found": ["a word"]}),
        "compared": Score("aggregate", data=["what was said"]),
    }
    outputs = {
        "answer": "what was said", "retrieved": [{"id": "d", "score": 0.5, "text": "of a document"}],
        "timings": {"total": 0.1}, "refused": False, "citations": ["what was said"],
    }  # fmt: skip
    kept = without_answer_texts(
        CaseResult("one", scores=scores, texts=CaseTexts("why?", outputs=outputs), ranks={"d": 1})
    )
    assert kept == CaseResult(
        "one", ranks={"d": 1},
        scores={"counted": Score("number", 1.0, data=[1, [2.5]]), "compared": Score("aggregate")},
        texts=CaseTexts("why?", outputs={
            "retrieved": [{"id": "d", "score": 0.5}], "timings": {"total": 0.1}, "refused": False,
        }),
    )  # fmt: skip


def test_some_cases_are_read_alone_and_texts_when_wanted(kept: HistoryStore) -> None:
    run = a_run()
    run_id = kept.add(run, verdict_of(run))
    name = [*run.cases][1]
    assert kept.load(run_id, only=[name]).cases == {name: run.cases[name]}
    assert kept.load(run_id, only=["nobody"]).cases == {}
    packed = kept.load(run_id, packed=True)
    assert [case.outputs for case in packed.cases.values()] == [case.outputs for case in run.cases.values()]
    assert packed.cases[name].query == run.cases[name].query


def test_damaged_texts_are_told_when_they_are_wanted(tmp_path: Path) -> None:
    kept = HistoryStore(tmp_path / "history.sqlite")
    run_id = kept.add(run := a_run(), verdict_of(run))
    with sqlite3.connect(tmp_path / "history.sqlite") as database:
        database.execute("UPDATE eval_query_results SET texts = x'00'")
    packed = kept.load(run_id, packed=True)
    with pytest.raises(HistoryError, match="the texts of one are damaged: "):
        _ = packed.cases["one"].query
