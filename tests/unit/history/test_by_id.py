"""Stored runs by their ids: figures, and the comparison of two."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_auepora.errors import HistoryError, NotComparableError, UnknownRunError
from pytest_auepora.history.aggregates import compute_aggregate as aggregate_of
from pytest_auepora.history.by_id import compare_runs, compute_aggregate, store_aggregate
from pytest_auepora.history.settings import project_place
from pytest_auepora.history.store import HistoryStore

from ..reporting.builders import Case, run_of, verdict_of


def project_store(folder: Path) -> HistoryStore:
    place = project_place(folder)
    assert place is not None
    return HistoryStore(place, folder)


BEFORE = [Case("a", got=["refunds.md"]), Case("b", got=["x", "refunds.md"]), Case("c", got=["refunds.md"])]
AFTER = [Case("a", got=["x"]), Case("b", got=["refunds.md"]), Case("c", got=["refunds.md"])]


@pytest.fixture
def ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    monkeypatch.chdir(tmp_path)
    store = project_store(tmp_path)
    runs = [run_of(cases, ["recall@5", "mrr@10"]) for cases in (BEFORE, AFTER)]
    return [store.add(run, verdict_of(run)) for run in runs]


def test_figures_of_a_stored_run(ids: list[str]) -> None:
    before = compute_aggregate(ids[0])
    assert before == compute_aggregate(ids[0]) == aggregate_of(project_store(Path.cwd()).load(ids[0]))
    assert before.total_queries == 3
    assert before.hit_at_k[1] == pytest.approx(2 / 3)
    assert before.mrr == pytest.approx((1 + 1 / 2 + 1) / 3)
    assert compute_aggregate("last").hit_at_k[3] == pytest.approx(2 / 3)


def test_stored_figures_are_replaced(ids: list[str]) -> None:
    store_aggregate(ids[0], compute_aggregate(ids[1]))
    store = project_store(Path.cwd())
    assert store.aggregate(ids[0]) == store.aggregate(ids[1])


def test_two_stored_runs_are_compared(ids: list[str]) -> None:
    report = compare_runs(*ids)
    assert (report.run_a, report.run_b) == tuple(ids)
    kinds = {query.query_id: query.kind.name for query in report.per_query}
    assert kinds == {"a": "REGRESSION", "b": "WIN", "c": "DRAW"}
    assert report.deltas["hit_at_k"]["1"] == pytest.approx(0.0)


def test_a_history_elsewhere_and_what_is_not_there(ids: list[str], tmp_path: Path) -> None:
    with pytest.raises(UnknownRunError, match="no run 'nobody'"):
        compute_aggregate("nobody")
    with pytest.raises(HistoryError):
        compute_aggregate("last", history=str(tmp_path / "elsewhere"))
    assert compute_aggregate("last", history=str(project_place(tmp_path))).total_queries == 3
    store = project_store(tmp_path)
    other = run_of(AFTER, ["recall@5"], suite="other")
    with pytest.raises(NotComparableError, match="is a run of 'other'"):
        compare_runs(store.add(other, verdict_of(other)), ids[0])


def test_a_history_that_is_switched_off(ids: list[str], tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\nauepora_history = off\n")
    with pytest.raises(HistoryError, match="history is switched off in this project"):
        compute_aggregate("last")
