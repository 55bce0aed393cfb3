"""The history on a real server, by whatever URL `AUEPORA_TEST_DATABASE` names: an empty database of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_auepora.core.run import Run
from pytest_auepora.errors import HistoryError
from pytest_auepora.evaluation.replay import RecordedRun
from pytest_auepora.history.answers import choose_runs, load_recorded
from pytest_auepora.history.codec import CaseRow, rows_of
from pytest_auepora.history.database import ServerDatabase
from pytest_auepora.history.store import HistoryStore

from ..reporting.builders import Case, baseline_of, run_of, verdict_of
from .recordings import said

URL = os.environ.get("AUEPORA_TEST_DATABASE", "")
ROOT = Path(__file__).resolve().parents[3]

pytestmark = [
    pytest.mark.skipif(not URL, reason="needs a database server: AUEPORA_TEST_DATABASE is not set"),
    pytest.mark.xdist_group("server"),
]

WRITER = """
import sys
from tests.unit.history.recordings import said
from tests.unit.history.test_database import a_run
from tests.unit.reporting.builders import verdict_of
from pytest_auepora.history.store import HistoryStore
store, name = HistoryStore(sys.argv[1]), sys.argv[2]
sys.stdin.readline()
for i in range(5):
    run = a_run(name, cases=20)
    store.add(run, verdict_of(run), keep=3, recordings={c: [said(f"={name}{i}")] for c in run.cases}, keep_recorded=2)
"""


def a_run(suite: str, cases: int = 3) -> Run:
    """A run with texts that a database might not like."""
    said = "\u3042 \x00 \ud800 ' ; \" % :name I don't know"
    return run_of([Case(f"case-{i}", answer=said) for i in range(cases)], suite=suite)


@pytest.fixture
def store() -> Iterator[HistoryStore]:
    """A history without tables, as two pytest processes (``-n 2``) must not meet in one database."""
    schema = f"w_{os.environ.get('PYTEST_XDIST_WORKER', 'main')}_{os.getpid()}"
    database = ServerDatabase(URL)
    with database.transaction(write=True) as execute:
        execute(f"CREATE SCHEMA {schema}")
    yield HistoryStore(f"{URL}{'&' if '?' in URL else '?'}options=-csearch_path%3D{schema}")
    with database.transaction(write=True) as execute:
        execute(f"DROP SCHEMA {schema} CASCADE")


def url_of(store: HistoryStore) -> str:
    return str(store._database._engine.url.render_as_string(hide_password=False))  # type: ignore[union-attr]


def test_a_run_with_its_answers_comes_back_as_it_was(store: HistoryStore) -> None:
    assert not store.exists()
    run = a_run("billing")
    run.origin = {"kind": "resumed", "run": "261121-101010-00abc", "taken": 1}
    verdict = verdict_of(run, {"recall@5": 0.9}, baseline=baseline_of(run))
    run_id = store.add(run, verdict, recordings={"case-0": [said("x"), said("y")]})
    loaded = store.load(run_id)
    assert {case.outputs["answer"] for case in loaded.cases.values()} == {
        run.cases["case-0"].outputs["answer"].replace("\ud800", "?")
    }
    for case in run.cases.values():
        case.texts = loaded.cases[case.case_id].texts
    assert loaded == run
    assert store.recordings(run_id) == {"case-0": [said("x"), said("y")]}
    (line,) = store.runs(suite="billing", variant="")
    assert (line.run_id, line.complete, line.cases, line.origin) == (run_id, True, 3, run.origin)
    assert store.aggregate(run_id).total_queries == 3
    assert isinstance(load_recorded(store, choose_runs(store, "last")["billing", "", ""]), RecordedRun)
    assert store.delete("last") == run_id
    assert store.runs() == []


def test_many_processes_make_the_tables_and_write_at_once(store: HistoryStore) -> None:
    names = [f"suite-{i}" for i in range(4)] + ["shared", "shared"]
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, url_of(store), name], cwd=ROOT, stdin=subprocess.PIPE,
            stderr=subprocess.PIPE, encoding="utf-8",
        )
        for name in names
    ]  # fmt: skip
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        _, said = writer.communicate(timeout=300)
        assert writer.returncode == 0, said
    runs = store.runs()
    for name in set(names):
        mine = [run for run in runs if run.suite == name]
        # two writers may each keep what the other has not finished; the next one prunes it
        assert 3 <= len(mine) <= (6 if name == "shared" else 3)
        assert {len(store.load(run.run_id).cases) for run in mine} == {20}
        if name != "shared":
            assert [len(store.recordings(run.run_id)) for run in mine] == [20, 20, 0]
    assert store.prune(3, "shared") == len([run for run in runs if run.suite == "shared"]) - 3


def test_a_run_that_cannot_be_stored_leaves_nothing(store: HistoryStore) -> None:
    run = a_run("billing")
    store.add(run, verdict_of(run))
    rows = [*rows_of(run.cases.values(), {}), CaseRow("one", None, b"", b"")]  # type: ignore[arg-type]
    with pytest.raises(HistoryError, match="null value"):
        store.add(run, verdict_of(run), rows=rows)
    assert len(store.runs()) == 1


@pytest.mark.parametrize(
    "rest",
    [
        "me:s3cret@127.0.0.1:1/none",
        "me:s3@cret:s3cret@127.0.0.1:1/none",
        "127.0.0.1:1/none?user=me&password=s3cret",
        "me:%73%33cret@127.0.0.1:1/none",
        "me:s3cret@127.0.0.1:s3cret/none",
    ],
)
def test_no_password_is_ever_said(rest: str) -> None:
    with pytest.raises(HistoryError) as seen:
        HistoryStore(f"postgresql+psycopg://{rest}").runs()
    told = "".join(traceback.format_exception(seen.value))
    assert "***" in told
    assert "s3cret" not in told
    assert "cret@" not in told
