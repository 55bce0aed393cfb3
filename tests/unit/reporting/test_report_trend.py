from __future__ import annotations

from pathlib import Path

import pytest

from pytest_auepora.history.store import HistoryStore
from pytest_auepora.reporting.report import Trend, trend_of

from .builders import Case, run_of, verdict_of

GOOD, BAD = Case("a", got=["refunds.md"]), Case("a", got=["index.md"])
AFTER_ALL = "~"
"""Sorts after every id of a run."""


def test_the_past_of_a_suite_is_its_full_runs_oldest_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = HistoryStore(tmp_path / "history.sqlite")
    runs = [
        run_of([GOOD]),
        run_of([BAD]),
        run_of([GOOD], expected=["a", "b"]),
        run_of([GOOD], variant="x"),
        run_of([BAD]),
    ]
    ids = [store.add(run, verdict_of(run)) for run in runs]
    past = trend_of(store, runs[0], AFTER_ALL)
    assert [one.run_id for one in past.runs] == [ids[0], ids[1], ids[4]]
    assert [one.metrics["mrr@10"] for one in past.runs] == [1.0, 0.0, 0.0]
    assert past.previous is not None
    assert past.previous.cases["a"].outputs["retrieved"][0]["id"] == "index.md"
    before = trend_of(store, runs[0], ids[1])
    assert [one.run_id for one in before.runs] == [ids[0]]
    monkeypatch.setattr("pytest_auepora.reporting.report.MOST_RUNS", 2)
    assert [one.run_id for one in trend_of(store, runs[0], AFTER_ALL).runs] == [ids[1], ids[4]]


def test_runs_over_other_chunks_have_no_hits_to_compare(tmp_path: Path) -> None:
    store = HistoryStore(tmp_path / "history.sqlite")
    before, now = (run_of([GOOD], provenance={"chunker_version": version}) for version in (1, 2))
    for run in (before, now):
        store.add(run, verdict_of(run))
    then, today = trend_of(store, now, AFTER_ALL).runs
    assert "recall@5" not in then.metrics
    assert today.metrics["recall@5"] == 1.0
    assert then.metrics["token_f1"] == today.metrics["token_f1"]
    now.cases["a"].expected["relevant"][0]["match"] = "quote"
    assert trend_of(store, now, AFTER_ALL).runs[0].metrics["recall@5"] == 1.0


def test_no_history_is_an_empty_past(tmp_path: Path) -> None:
    assert trend_of(HistoryStore(tmp_path / "none.sqlite"), run_of([GOOD]), AFTER_ALL) == Trend()
    assert not list(tmp_path.iterdir())
