"""A hundred thousand stored results: what listing and comparing cost, beside reading the same rows by hand."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.evaluation.recording import Recording
from pytest_auepora.history.compare import CompareReport, compare
from pytest_auepora.history.database import SqliteFile
from pytest_auepora.history.store import HistoryStore

from ..reporting.builders import Case, run_of, verdict_of
from .recordings import said

RUNS, CASES = 100, 1000


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> HistoryStore:
    """One real run of a thousand cases, copied inside the database until there are a hundred."""
    path = tmp_path_factory.mktemp("many") / "history.sqlite"
    store = HistoryStore(path)
    run = run_of([Case(f"case-{i}") for i in range(CASES)], provenance={"model": "m"})
    recordings: dict[str, list[Recording]] = {name: [said("an answer and its documents" * 20)] for name in run.cases}
    first = store.add(run, verdict_of(run), recordings=recordings)
    with SqliteFile(path).transaction(write=True) as execute:
        for table in ("eval_runs", "eval_query_results", "eval_recordings"):
            columns = [row[1] for row in execute(f"PRAGMA table_info({table})")]
            copied = ", ".join("printf('%s-%03d', run_id, :n)" if c == "run_id" else c for c in columns)
            sql = f"INSERT INTO {table} ({', '.join(columns)}) SELECT {copied} FROM {table} WHERE run_id = :first"
            for n in range(1, RUNS):
                execute(sql, n=n, first=first)
        assert execute("SELECT COUNT(DISTINCT run_id) FROM eval_query_results") == [(RUNS,)]
    return store


def best(act: Callable[[], Any], times: int = 3) -> float:
    took = []
    for _ in range(times):
        start = time.process_time()
        act()
        took.append(time.process_time() - start)
    return min(took)


@pytest.mark.slow
def test_listing_does_not_read_results(full: HistoryStore) -> None:
    few = HistoryStore(Path(full.name).with_name("few.sqlite"))
    run = run_of([Case("one")])
    verdict = verdict_of(run)
    for _ in range(RUNS):
        few.add(run, verdict)
    assert len(full.runs()) == RUNS
    # a thousand results a run instead of one: the list costs about the same
    assert best(full.runs) < 10 * best(few.runs)
    # which of them can be judged again takes the index of the recordings, and none of their texts
    assert len(full.recorded()) == RUNS
    assert best(full.recorded) < best(lambda: full.recordings(full.runs()[0].run_id)) * RUNS / 2


@pytest.mark.slow
def test_comparing_reads_two_runs_only(full: HistoryStore) -> None:
    old, new = full.runs()[50].run_id, full.runs()[0].run_id

    def by_hand() -> None:
        raw = sqlite3.connect(full.name)
        for run_id in (old, new):
            rows = raw.execute(
                "SELECT result_json, answers FROM eval_query_results JOIN eval_recordings USING (run_id, place) "
                "WHERE run_id = ? ORDER BY place", (run_id,),
            ).fetchall()  # fmt: skip
            assert len([(json.loads(result), len(answers)) for result, answers in rows]) == CASES
        raw.close()

    def ours() -> CompareReport:
        return compare(full.load(old), full.load(new))

    assert len(ours().per_query) == CASES
    # reading and decoding the two runs is the floor; scanning all would be fifty times that
    assert best(ours) < 15 * best(by_hand)
