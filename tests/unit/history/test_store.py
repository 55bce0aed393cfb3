"""Runs that are stored: number for number, all or nothing, side by side with other writers."""

from __future__ import annotations

import json
import math
import os
import sqlite3
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.core.run import CaseResult, MetricInfo, Run
from pytest_auepora.core.scoring import Score
from pytest_auepora.errors import HistoryError, MissingExtraError, UnknownRunError
from pytest_auepora.history import database, tables
from pytest_auepora.history.store import HistoryStore
from pytest_auepora.regression.verdict import Verdict

from ..reporting.builders import baseline_of, verdict_of
from .conftest import a_run


def test_a_run_comes_back_as_it_was(kept: HistoryStore) -> None:
    run = a_run(provenance={"model": "m-1", "corpus": {"docs": 3}}, variant="bm25")
    verdict = verdict_of(run, {"recall@5": 0.9}, baseline=baseline_of(run))
    run.metrics["ratio"] = MetricInfo("ratio", 1, {}, "NOISE_ROBUSTNESS", "higher", (0.0, math.inf), True, True)
    run.cases["one"].scores["ratio"] = Score("number", 1 / 3, data=[1, 3])
    run_id = kept.add(run, verdict)
    assert kept.load(run_id) == run
    assert kept.verdict(run_id) == verdict


def test_a_run_that_is_deleted_while_it_is_asked_for_is_told(
    kept: HistoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = a_run()
    run_id = kept.add(run, verdict_of(run))
    kept.delete(run_id)
    monkeypatch.setattr(kept, "resolve", lambda name: run_id)  # as it was a moment ago
    for read in (kept.load, kept.info, kept.verdict, kept.aggregate):
        with pytest.raises(UnknownRunError, match=f"run {run_id} was deleted meanwhile"):
            read("last")


def test_a_case_is_a_row_of_json_and_compressed_texts(kept: HistoryStore) -> None:
    run = a_run()
    kept.add(run, verdict_of(run))
    with kept._database.transaction() as execute:
        rows = execute("SELECT query_id, result_json, texts FROM eval_query_results ORDER BY place")
    assert [row[0] for row in rows] == [json.loads(row[1])["case_id"] for row in rows] == list(run.cases)
    assert [json.loads(zlib.decompress(row[2]))["query"] for row in rows] == [c.query for c in run.cases.values()]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_only_the_user_may_read_what_is_kept(tmp_path: Path) -> None:
    kept, run = HistoryStore(tmp_path / "kept" / "h.sqlite"), a_run()
    kept.add(run, verdict_of(run))
    assert [path.stat().st_mode & 0o777 for path in (tmp_path / "kept").iterdir()] == [0o600]


def test_what_the_list_says(kept: HistoryStore) -> None:
    run = a_run()
    began = datetime(2031, 5, 6, 7, 8, 9, tzinfo=timezone.utc)
    run_id = kept.add(run, verdict_of(run), started=began, seconds=2.5, git_commit="abc123")
    (line,) = kept.runs()
    assert (line.run_id, line.started, line.suite, line.path) == (
        run_id,
        "2031-05-06T07:08:09+00:00",
        "billing",
        run.path,
    )
    assert (line.git_commit, line.seconds, line.complete, line.cases, line.failed) == ("abc123", 2.5, True, 3, 1)
    assert line.outcome == "failed"  # one case errored
    assert line.aggregate.failed_queries == 1
    assert kept.info(run_id[:-1]) == line


def test_a_partial_run_is_not_complete(kept: HistoryStore) -> None:
    run = a_run(expected=["one", "two", "three", "four"])
    kept.add(run, verdict_of(run))
    assert not kept.runs()[0].complete


def test_the_list_is_latest_first_and_can_be_narrowed(kept: HistoryStore) -> None:
    runs = [a_run(suite, variant=v) for suite, v in [("a", ""), ("b", ""), ("a", "x"), ("a", "")]]
    ids = [kept.add(run, verdict_of(run)) for run in runs]
    assert [r.run_id for r in kept.runs()] == ids[::-1]
    assert [r.run_id for r in kept.runs(2)] == ids[:1:-1]
    assert [r.run_id for r in kept.runs(suite="a")] == [ids[3], ids[2], ids[0]]
    assert [r.run_id for r in kept.runs(suite="a", variant="")] == [ids[3], ids[0]]
    assert kept.resolve("last") == kept.resolve("last~0") == ids[3]
    assert kept.resolve("last~1") == ids[2]
    assert kept.resolve("last~1", "a", "") == ids[0]


@pytest.mark.parametrize("name", ["", "last~2", "31", "nothing like it"])
def test_an_unknown_run_is_told(kept: HistoryStore, name: str) -> None:
    run = a_run()
    kept.add(run, verdict_of(run))
    kept.add(run, verdict_of(run))
    with pytest.raises(UnknownRunError, match="no run"):
        kept.load(name)


def test_a_slip_in_an_id_gets_a_suggestion(kept: HistoryStore) -> None:
    run = a_run()
    run_id = kept.add(run, verdict_of(run))
    slip = run_id[:-1] + ("0" if run_id[-1] != "0" else "1")
    with pytest.raises(UnknownRunError, match=f"did you mean '{run_id}'"):
        kept.resolve(slip)


def test_a_beginning_must_be_unique(kept: HistoryStore) -> None:
    run = a_run()
    first, second = kept.add(run, verdict_of(run)), kept.add(run, verdict_of(run))
    with pytest.raises(UnknownRunError, match="2 runs begin with"):
        kept.resolve(first[:2])
    assert kept.resolve(second) == second


def test_nothing_is_made_by_looking(tmp_path: Path) -> None:
    kept = HistoryStore(tmp_path / ".auepora" / "history.sqlite")
    assert kept.runs() == []
    assert not kept.exists()
    assert kept.prune(1) == 0
    with pytest.raises(UnknownRunError, match="has none"):
        kept.load("last")
    assert list(tmp_path.iterdir()) == []


def test_the_directory_is_not_for_version_control(tmp_path: Path) -> None:
    run = a_run()
    HistoryStore(tmp_path / ".auepora" / "history.sqlite").add(run, verdict_of(run))
    assert (tmp_path / ".auepora" / ".gitignore").read_text(encoding="utf-8") == "*\n"
    HistoryStore(tmp_path / "shared" / "history.sqlite").add(run, verdict_of(run))
    assert not (tmp_path / "shared" / ".gitignore").exists()


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    run = a_run()
    with pytest.raises(HistoryError, match="cannot be written"):
        HistoryStore(tmp_path / "file" / "h.sqlite").add(run, verdict_of(run))


def test_a_place_that_cannot_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(path: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "is_file", refused)
    with pytest.raises(HistoryError, match=r"\.sqlite: cannot be read: Permission denied"):
        HistoryStore(tmp_path / "h.sqlite").recorded()


def test_a_run_that_fails_half_way_leaves_nothing(kept: HistoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    run = a_run()
    first = kept.add(run, verdict_of(run))

    def broken(*_: object) -> int:
        raise RuntimeError("in the middle")

    monkeypatch.setattr(tables, "prune_runs", broken)
    with pytest.raises(RuntimeError, match="in the middle"):
        kept.add(run, verdict_of(run))
    assert [r.run_id for r in kept.runs()] == [first]
    assert kept.load(first) == run


def test_writers_wait_for_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "BUSY_SECONDS", 600)  # a loaded machine may need more than half a minute for all
    run = a_run()
    verdict = verdict_of(run)

    def write(_: int) -> None:
        for _ in range(5):
            HistoryStore(tmp_path / ".auepora" / "h.sqlite").add(run, verdict)

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(write, range(6)))  # which raises what a writer raised
    kept = HistoryStore(tmp_path / ".auepora" / "h.sqlite")
    assert len(kept.runs()) == 30
    assert all(kept.load(line.run_id) == run for line in kept.runs(3))


def test_a_writer_gives_up_on_one_that_never_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept, run = HistoryStore(tmp_path / "h.sqlite"), a_run()
    kept.add(run, verdict_of(run))
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.1)
    other = sqlite3.connect(tmp_path / "h.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        assert len(kept.runs()) == 1  # reading goes on
        with pytest.raises(HistoryError, match="another run has been writing"):
            kept.add(run, verdict_of(run))
    finally:
        other.close()


def test_keys_of_newer_versions_are_ignored(tmp_path: Path) -> None:
    kept, run = HistoryStore(tmp_path / "h.sqlite"), a_run()
    run_id = kept.add(run, verdict_of(run))
    raw = sqlite3.connect(tmp_path / "h.sqlite")
    (text,) = raw.execute("SELECT run_json FROM eval_runs").fetchone()
    raw.execute("UPDATE eval_runs SET run_json = ?", (json.dumps({**json.loads(text), "later": 1}),))
    raw.commit()
    raw.close()
    assert kept.load(run_id) == run


def edit(folder: Path, statement: str, values: tuple[Any, ...]) -> None:
    raw = sqlite3.connect(folder / "h.sqlite")
    raw.execute(statement, values)
    raw.commit()
    raw.close()


@pytest.mark.parametrize(
    ("column", "data"),
    [("result_json", "{"), ("result_json", "[]"), ("texts", b"{"), ("texts", zlib.compress(b"[]")), ("texts", 3)],
)
def test_a_damaged_run_is_told(tmp_path: Path, column: str, data: Any) -> None:
    kept, run = HistoryStore(tmp_path / "h.sqlite"), a_run()
    run_id = kept.add(run, verdict_of(run))
    edit(tmp_path, f"UPDATE eval_query_results SET {column} = ?", (data,))
    with pytest.raises(HistoryError, match=f"run {run_id} cannot be read"):
        kept.load(run_id)


@pytest.mark.parametrize("text", ["{", "[]"])
def test_damaged_provenance_is_told(tmp_path: Path, text: str) -> None:
    kept, run = HistoryStore(tmp_path / "h.sqlite"), a_run()
    run_id = kept.add(run, verdict_of(run))
    edit(tmp_path, "UPDATE eval_runs SET run_json = ?", (text,))
    with pytest.raises(HistoryError, match=f"the provenance of run {run_id} cannot be read"):
        kept.provenance([run_id])


def test_a_url_that_cannot_be_used_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sqlalchemy", reason="the server side of a history needs SQLAlchemy")
    with pytest.raises(HistoryError, match="no-such-base") as caught:
        HistoryStore("no-such-base://me:secret@host/db")
    assert "secret" not in str(caught.value)
    monkeypatch.setitem(__import__("sys").modules, "sqlalchemy", None)
    with pytest.raises(MissingExtraError, match=r"pytest-auepora\[history-server\]"):
        HistoryStore("postgresql://host/db")


def test_an_empty_run_is_stored(kept: HistoryStore) -> None:
    kept.add(Run("nothing", expected_ids=("a",)), Verdict("nothing"))
    assert kept.load("last").cases == {}
    assert kept.runs()[0].aggregate.mrr is None


def test_numbers_of_numpy_are_numbers(kept: HistoryStore) -> None:
    import numpy

    run = a_run()
    run.cases["one"].scores["token_f1"] = Score("number", numpy.float64(0.1) + numpy.float64(0.2))
    run.cases["one"].labels["curve"] = numpy.arange(3)
    kept.add(run, verdict_of(run))
    one: CaseResult = kept.load("last").cases["one"]
    assert one.scores["token_f1"].value == 0.1 + 0.2
    assert one.labels["curve"] == [0, 1, 2]


def test_a_folder_that_cannot_be_written_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "odd ? name #1" / "h.sqlite"
    run = a_run()
    run_id = HistoryStore(place).add(run, verdict_of(run))
    seen: list[str] = []
    real = sqlite3.connect

    def connect(path: str, **given: Any) -> Any:
        seen.append(str(path))
        return real(path, **given)

    monkeypatch.setattr(sqlite3, "connect", connect)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert HistoryStore(place).load(run_id) == run
    assert seen
    assert all(path.endswith("?immutable=1") for path in seen), "SQLite would write beside it"
