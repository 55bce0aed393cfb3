"""The tables of a history: made once, of one version, pruned; ids that ascend."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from pytest_auepora.errors import HistoryError
from pytest_auepora.evaluation.recording import Recording
from pytest_auepora.history.store import HistoryStore
from pytest_auepora.history.tables import VERSION, new_run_id

from ..reporting.builders import verdict_of
from .conftest import a_run
from .recordings import said


def test_only_the_last_of_each_suite_and_configuration_stay(kept: HistoryStore) -> None:
    for _ in range(4):
        for suite, variant in (("a", ""), ("a", "x"), ("b", "")):
            run = a_run(suite, variant=variant)
            kept.add(run, verdict_of(run), keep=2 if suite == "a" else 0)
    assert [len(kept.runs(suite="a", variant=v)) for v in ("", "x")] == [2, 2]
    assert len(kept.runs(suite="b")) == 4
    assert kept.prune(3) == 1
    assert kept.prune(1, suite="a") == 2
    assert (len(kept.runs(suite="a")), len(kept.runs(suite="b"))) == (2, 3)
    assert kept.load("last").cases  # the results of those that stay are untouched


def test_deleting_takes_the_results_along(tmp_path: Path) -> None:
    kept, run = HistoryStore(tmp_path / "h.sqlite"), a_run()
    first, second = kept.add(run, verdict_of(run)), kept.add(run, verdict_of(run))
    assert kept.delete(first) == first
    with sqlite3.connect(tmp_path / "h.sqlite") as raw:
        assert raw.execute("SELECT DISTINCT run_id FROM eval_query_results").fetchall() == [(second,)]
    raw.close()


@pytest.mark.parametrize(("version", "hint"), [(10, "upgrade it, or move"), (1, "move")])
def test_a_history_of_another_version_is_left_alone(tmp_path: Path, version: int, hint: str) -> None:
    kept, run = HistoryStore(tmp_path / "h.sqlite"), a_run()
    kept.add(run, verdict_of(run))
    raw = sqlite3.connect(tmp_path / "h.sqlite")
    raw.execute(f"UPDATE auepora_meta SET value = '{version}'")
    raw.commit()
    raw.close()
    before = (tmp_path / "h.sqlite").read_bytes()
    for act in (kept.runs, kept.exists, lambda: kept.load("last"), lambda: kept.add(run, verdict_of(run))):
        with pytest.raises(HistoryError, match=rf"version {version}, this pytest-auepora reads {VERSION}; {hint}"):
            act()
    assert (tmp_path / "h.sqlite").read_bytes() == before


def test_a_damaged_run_hides_no_other(tmp_path: Path) -> None:
    kept, run = HistoryStore(tmp_path / "h.sqlite"), a_run()
    damaged, whole = kept.add(run, verdict_of(run)), kept.add(run, verdict_of(run))
    with closing(sqlite3.connect(tmp_path / "h.sqlite")) as raw, raw:
        raw.execute("UPDATE eval_runs SET seconds = 'x' WHERE run_id = ?", [damaged])
    assert kept.info(whole).run_id == whole
    with pytest.raises(HistoryError, match=f"run {damaged} cannot be read"):
        kept.info(damaged)


def test_something_else_at_its_place_is_told(tmp_path: Path) -> None:
    (tmp_path / "h.sqlite").write_text("my notes, " * 100, encoding="utf-8")
    run = a_run()
    with pytest.raises(HistoryError, match="is not a history"):
        HistoryStore(tmp_path / "h.sqlite").add(run, verdict_of(run))
    assert (tmp_path / "h.sqlite").read_text(encoding="utf-8").startswith("my notes")


def test_an_empty_file_is_an_empty_history(tmp_path: Path) -> None:
    (tmp_path / "h.sqlite").touch()
    kept, run = HistoryStore(tmp_path / "h.sqlite"), a_run()
    assert kept.runs() == []
    kept.add(run, verdict_of(run))
    assert len(kept.runs()) == 1


def test_ids_ascend_and_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_auepora.history.tables._last", 0)  # else ids of later tests are seconds ahead
    ids = [new_run_id() for _ in range(3000)]
    assert ids == sorted(set(ids))
    assert max(map(len, ids)) == 19


def test_what_is_pruned_makes_the_file_smaller(tmp_path: Path) -> None:
    kept, run, random = HistoryStore(tmp_path / "h.sqlite"), a_run(), Random(1)
    answers: dict[str, list[Recording]] = {"one": [said(random.randbytes(500_000).hex())]}
    for _ in range(4):
        kept.add(run, verdict_of(run), recordings=answers)
    before = (tmp_path / "h.sqlite").stat().st_size
    kept.prune(1)
    assert (tmp_path / "h.sqlite").stat().st_size < before / 2
