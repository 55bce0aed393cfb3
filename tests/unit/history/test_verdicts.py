"""A verdict is read back from a history as it was, its cases in blocks."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora.base.json import dumps
from pytest_auepora.errors import HistoryError
from pytest_auepora.history.codec import decode_verdict, encode_verdict
from pytest_auepora.history.store import HistoryStore
from pytest_auepora.regression.baseline import BaselineCase
from pytest_auepora.regression.compare import CaseComparison, Comparison, ScoreChange
from pytest_auepora.regression.outcomes import Note
from pytest_auepora.regression.verdict import Verdict

from ..reporting.builders import Case, baseline_of, run_of, verdict_of

NUMBERS = st.floats(-1e300, 1e300) | st.integers(-3, 3)  # what `Number` of records holds
CHANGES = st.builds(ScoreChange, NUMBERS, NUMBERS, NUMBERS, st.booleans())
CASES = st.builds(
    CaseComparison, st.text(), st.just("unchanged"), st.dictionaries(st.text(), CHANGES),
    st.dictionaries(st.text(), st.text()), st.just(()),
    st.none() | st.builds(BaselineCase, st.text(), st.just(1), st.dictionaries(st.text(), st.none() | NUMBERS)),
)  # fmt: skip


def back(verdict: Verdict) -> Verdict:
    cases = verdict.comparison.cases if verdict.comparison is not None else {}
    return decode_verdict(encode_verdict(verdict), {case_id: dumps(case) for case_id, case in cases.items()})


@given(st.text(), st.dictionaries(st.text(), CASES))
def test_a_verdict(title: str, cases: dict[str, CaseComparison]) -> None:
    verdict = Verdict(title, comparison=Comparison(cases), notes=[Note("stopped")])
    assert back(verdict) == verdict


def test_a_real_verdict_is_read_back() -> None:
    run = run_of([Case("one"), Case("two", got=["x", "y"]), Case("three", error="ConnectionError: no route")])
    verdict = verdict_of(run, {"recall@5": 0.9}, baseline=baseline_of(run))
    assert back(verdict).comparison == verdict.comparison
    assert back(verdict).gates == verdict.gates
    verdict.comparison = None
    assert back(verdict).comparison is None


@pytest.fixture
def kept(tmp_path: Path) -> tuple[HistoryStore, Verdict, str]:
    run = run_of([Case("one"), Case("two", got=["x", "y"])])
    verdict = verdict_of(run, baseline=baseline_of(run))
    store = HistoryStore(tmp_path / "history.sqlite")
    return store, verdict, store.add(run, verdict)


def rows(tmp_path: Path, sql: str) -> list[Any]:
    connection = sqlite3.connect(tmp_path / "history.sqlite")
    try:
        with connection:
            return connection.execute(sql).fetchall()
    finally:
        connection.close()


def test_a_store_keeps_and_deletes_comparisons(kept: tuple[HistoryStore, Verdict, str], tmp_path: Path) -> None:
    store, verdict, run_id = kept
    assert store.verdict(run_id) == verdict
    store.delete(run_id)
    assert rows(tmp_path, "SELECT run_id FROM eval_query_results") == []


def test_a_damaged_comparison_is_told(kept: tuple[HistoryStore, Verdict, str], tmp_path: Path) -> None:
    store, _, run_id = kept
    rows(tmp_path, "UPDATE eval_query_results SET compared_json = 'no json'")
    with pytest.raises(HistoryError, match=f"history.sqlite: the verdict of run {run_id} cannot be read: "):
        store.verdict(run_id)
