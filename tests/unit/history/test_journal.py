"""What a killed run leaves behind, and who may take it up."""

from __future__ import annotations

import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path

import pytest

from pytest_auepora.base.json import encode
from pytest_auepora.core.run import CaseResult, Run
from pytest_auepora.errors import HistoryError, UnknownRunError
from pytest_auepora.evaluation.recording import Recording
from pytest_auepora.history.answers import choose_runs, load_recorded
from pytest_auepora.history.codec import CaseJson
from pytest_auepora.history.journal import Journal, recover
from pytest_auepora.history.settings import Keep, find_journals, journal_folder
from pytest_auepora.history.store import HistoryStore
from pytest_auepora.regression.verdict import Verdict

from ..reporting.builders import Case, run_of, verdict_of
from .recordings import said

ROOT = Path(__file__).resolve().parents[3]
STARTED = datetime(2031, 5, 6, 7, 8, 9, tzinfo=timezone.utc)

DYING = """
import os, sys
from pathlib import Path
from tests.unit.history.test_journal import write
journal = write(Path(sys.argv[1]), 2)
journal._file.append(b'{"of": ["shop.golden.yaml", ""], "resu')
os._exit(9)
"""


def a_run() -> Run:
    return run_of([Case(f"case-{i}") for i in range(3)], suite="shop")


def answers_to(case: int) -> list[Recording]:
    """What was recorded of the answers to a case: texts of documents are found again."""
    return [said(f"text {case}"), said(f'in "{case}"', *(f'document "{n}" \u3042 \x00' for n in (case, 0)))]


def write(folder: Path, cases: int) -> Journal:
    """Begin a run and get as far as so many cases."""
    run = a_run()
    results, run.cases = run.cases, {}
    journal = Journal(folder, STARTED)
    journal.begin(run, "abc123")
    for i in range(cases):
        result = results[f"case-{i}"]
        journal.add(run.path, run.variant, CaseJson.of(CaseResult(result.case_id, state="error")), {})  # before a rerun
        journal.add(run.path, run.variant, CaseJson.of(result, answers_to(i)), {"model": "m-1"})
    return journal


def test_texts_of_a_result_are_read_from_the_journal(tmp_path: Path) -> None:
    results = list(a_run().cases.values())
    results[0].query = "\u3042 \x00"
    journal = Journal(tmp_path, STARTED)
    journal.begin(Run("shop"))
    for result in results:
        before = CaseJson.of(result)
        stored = journal.add("", "", CaseJson.of(result, answers_to(0)), {"model": "\u3042"})
        assert stored is not None
        assert encode(stored.read()) == before.texts
        result.texts = stored
        assert CaseJson.of(result).result == before.result
    assert sys.platform == "win32" or journal.path.stat().st_mode & 0o777 == 0o600
    journal.close()
    assert not journal.path.exists()
    assert [result.query for result in results[1:]] == [c.query for c in list(a_run().cases.values())[1:]]
    assert results[0].query == "\u3042 \x00"


@pytest.fixture
def store(tmp_path: Path) -> HistoryStore:
    return HistoryStore(tmp_path / "history.sqlite")


def die(folder: Path) -> None:
    done = subprocess.run([sys.executable, "-c", DYING, str(folder)], cwd=ROOT, check=False)
    assert done.returncode == 9


def test_what_a_killed_process_wrote_is_stored(store: HistoryStore, tmp_path: Path) -> None:
    die(tmp_path)
    (run_id,) = recover(store, tmp_path, Keep())
    run = store.load(run_id)
    assert run.cases == {i: c for i, c in a_run().cases.items() if i != "case-2"}
    assert run.provenance == {"model": "m-1", "git_commit": "abc123"}
    assert store.recordings(run_id) == {f"case-{i}": answers_to(i) for i in range(2)}
    (line,) = store.runs()
    assert (line.started, line.git_commit, line.complete) == ("2031-05-06T07:08:09+00:00", "abc123", False)
    assert line.outcome == "not judged"
    (gate,) = store.verdict(run_id).gates
    assert (gate.reason, gate.n, gate.total) == ("not finished", 2, 3)
    assert recover(store, tmp_path, Keep()) == []


@pytest.mark.slow
def test_what_is_taken_up_prunes_as_the_user_says(store: HistoryStore, tmp_path: Path) -> None:
    for _ in range(3):
        store.add(a_run(), Verdict("shop"), recordings={"case-0": answers_to(0)})
    die(tmp_path)
    recover(store, tmp_path, Keep(runs=None, answers=None))
    assert (len(store.runs()), len(store.recorded())) == (4, 4)
    die(tmp_path)
    recover(store, tmp_path, Keep(runs=3, answers=2))
    assert (len(store.runs()), len(store.recorded())) == (3, 2)


def test_an_attempt_without_answer_keeps_no_earlier_one(store: HistoryStore, tmp_path: Path) -> None:
    journal = write(tmp_path, 2)
    journal.add(a_run().path, "", CaseJson.of(CaseResult("case-1", state="error")), {})
    journal.close(keep=True)
    (run_id,) = recover(store, tmp_path, Keep())
    assert store.load(run_id).cases["case-1"].state == "error"
    assert store.recordings(run_id) == {"case-0": answers_to(0)}


@pytest.mark.skipif(sys.platform == "win32", reason="a file that is held cannot be opened there")
def test_a_run_that_goes_on_is_left_alone(store: HistoryStore, tmp_path: Path) -> None:
    journal = write(tmp_path, 2)
    assert find_journals(tmp_path) == [journal.path]
    done = subprocess.run(
        [sys.executable, "-c", "import sys\nfrom pathlib import Path\n"
         "from pytest_auepora.history.journal import recover\nfrom pytest_auepora.history.settings import Keep\n"
         "from pytest_auepora.history.store import HistoryStore\n"
         "folder = Path(sys.argv[1])\nkept = HistoryStore(folder / 'history.sqlite')\n"
         "print(recover(kept, folder, Keep()))", str(tmp_path)],
        cwd=ROOT, check=True, capture_output=True, encoding="utf-8",
    )  # fmt: skip
    assert done.stdout == "[]\n"
    journal.close()
    assert find_journals(tmp_path) == []


def test_what_cannot_be_stored_stays(tmp_path: Path) -> None:
    die(tmp_path)
    (tmp_path / "history.sqlite").write_text("my notes " * 200)
    with pytest.raises(HistoryError):
        recover(HistoryStore(tmp_path / "history.sqlite"), tmp_path, Keep())
    assert len(find_journals(tmp_path)) == 1


def test_a_file_in_the_way_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "folder").write_text("")
    write(tmp_path / "folder", 2).close(keep=True)
    assert (tmp_path / "folder").read_text() == ""
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_it_lies_beside_the_history(tmp_path: Path) -> None:
    assert journal_folder(tmp_path / "kept" / "runs.sqlite", tmp_path) == tmp_path / "kept"
    assert journal_folder("postgresql://host/base", tmp_path) == tmp_path / ".auepora"


def test_which_run_answers(store: HistoryStore) -> None:
    def add(suite: str, variant: str = "", *, recorded: bool = True, replayed: str = "") -> str:
        run = run_of([Case("one")], suite=suite, variant=variant)
        if replayed:
            run.origin = {"kind": "replayed", "run": replayed, "taken": 1}
        return store.add(run, verdict_of(run), recordings={"one": [said("x"), said("y")]} if recorded else None)

    first, other, second = add("a"), add("a", "bm25"), add("a")
    add("a", recorded=False)
    again = add("a", recorded=False, replayed=first)
    assert choose_runs(store, "last") == {("a", "", ""): second, ("a", "bm25", ""): other}
    assert choose_runs(store, "last~1") == {("a", "", ""): first}
    assert choose_runs(store, again) == choose_runs(store, first) == {("a", "", ""): first}
    assert load_recorded(store, first).recordings == {"one": [said("x"), said("y")]}
    for name in ("last~2", "nonsense", store.runs()[1].run_id):
        with pytest.raises(UnknownRunError):
            choose_runs(store, name)
    store.delete(first)
    with pytest.raises(UnknownRunError):
        choose_runs(store, again)
