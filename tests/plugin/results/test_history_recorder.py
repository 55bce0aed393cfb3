"""Every `--auepora` run is kept: by the controller, as it was judged, and never at the price of the run."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import datetime, timezone

import pytest

from pytest_auepora.core.run import CaseResult, Run
from pytest_auepora.history.codec import CaseJson
from pytest_auepora.history.journal import Journal
from pytest_auepora.history.settings import FOLDER
from pytest_auepora.history.store import HistoryStore
from pytest_auepora.regression.verdict import Verdict

from ..conftest import CONFTEST, Example
from ..listening import notes


def store(project: Example, name: str = ".auepora/history.sqlite") -> HistoryStore:
    return HistoryStore(project.path / name)


def test_every_run_is_kept_with_its_verdict(project: Example) -> None:
    project.accept()
    project.break_retriever()
    project.run("--auepora-run-name", "another retriever")
    latest, first = store(project).runs()
    assert (first.name, latest.name) == ("", "another retriever")
    assert (first.outcome, latest.outcome) == ("passed", "failed")
    assert (latest.suite, latest.path, latest.cases, latest.failed) == ("shop", "shop.golden.yaml", 5, 1)
    assert latest.complete
    assert latest.seconds > 0
    assert first.aggregate.hit_at_k[1] == 1.0
    assert latest.aggregate.hit_at_k[1] == 0.75
    run = store(project).load(latest.run_id)
    assert run.cases["refund-window"].ranks == {"refunds": None}
    assert (project.path / ".auepora" / ".gitignore").read_text(encoding="utf-8") == "*\n"


def test_a_selection_is_kept_as_partial(project: Example) -> None:
    project.run("-k", "warranty")
    (line,) = store(project).runs()
    assert (line.complete, line.cases, line.outcome) == (False, 1, "not judged")


@pytest.mark.parametrize("how", ["option", "ini", "environment", "idle"])
def test_no_history_where_none_is_wanted(project: Example, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if how == "ini":
        project.pytester.makeini("[pytest]\nauepora_history = off")
    if how == "environment":
        monkeypatch.setenv("AUEPORA_HISTORY", "off")
    project.write("test_x.py", "def test_x():\n    pass\n")
    project.run(*(["-o", "auepora_history=off"] if how == "option" else []), auepora=how != "idle")
    assert not (project.path / ".auepora").exists()


def test_it_can_lie_elsewhere_and_keep_fewer(project: Example) -> None:
    project.pytester.makeini("[pytest]\nauepora_history = kept/runs.sqlite\nauepora_keep = runs=2")
    for _ in range(3):
        project.run()
    assert len(store(project, "kept/runs.sqlite").runs()) == 2
    assert not (project.path / ".auepora").exists()


def test_a_killed_run_lets_as_many_stay_as_any(project: Example) -> None:
    project.pytester.makeini("[pytest]\nauepora_keep = runs=2")
    for _ in range(3):
        store(project).add(Run("killed"), Verdict("killed"))
    journal = Journal(project.path / FOLDER, datetime.now(timezone.utc))
    journal.begin(Run("killed"))
    journal.add("", "", CaseJson.of(CaseResult("a")), {})
    journal.close(keep=True)
    project.run()
    assert [line.cases for line in store(project).runs(suite="killed")] == [1, 0]


def test_a_history_on_a_server(project: Example) -> None:
    pytest.importorskip("sqlalchemy", reason="the server side of a history needs SQLAlchemy")
    url = f"sqlite:///{project.path}/server.sqlite"
    project.pytester.makeini(f"[pytest]\nauepora_history = {url}")
    assert project.run().ret == 0
    assert len(HistoryStore(url).runs()) == 1


@pytest.mark.parametrize("fault", ["a directory", "a newer version", "an unknown server"])
def test_an_unwritable_history_is_a_note_and_no_failure(project: Example, fault: str) -> None:
    path = project.path / ".auepora" / "history.sqlite"
    if fault == "a directory":
        path.mkdir(parents=True)
    elif fault == "a newer version":
        project.run()
        raw = sqlite3.connect(path)
        raw.execute("UPDATE auepora_meta SET value = '99'")
        raw.commit()
        raw.close()
    else:
        project.pytester.makeini("[pytest]\nauepora_history = no-such-base://me:secret@host/db")
    result = project.run()
    assert result.ret == 0
    assert "history not written" in notes(result)
    assert "secret" not in str(result.stdout)


def test_a_number_that_is_none_is_a_usage_error(project: Example) -> None:
    project.pytester.makeini("[pytest]\nauepora_keep = runs=many")
    result = project.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "auepora_keep = runs=many" in str(result.stderr)


def test_what_is_redacted_never_gets_there(project: Example) -> None:
    project.edit("metrics: [", "metrics: [assertion_pass, ")
    hook = "\n\ndef pytest_auepora_redact(result):\n    result.outputs['answer'] = 'REDACTED'\n    result.query = ''\n"
    project.conftest(hook)
    project.run()
    run = store(project).load("last")
    assert {c.outputs["answer"] for c in run.cases.values()} == {"REDACTED"}
    assert store(project).runs()[0].aggregate.groundedness == 1.0  # scored before, from the real text


@pytest.mark.slow
def test_without_sqlite_no_system_is_called(project: Example) -> None:
    project.write("conftest.py", f"import sys\n\nsys.modules['_sqlite3'] = None\n{CONFTEST}")
    result = project.run_apart("-p", "no:xdist", "shop.golden.yaml")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: this Python has no sqlite3 to keep runs with; -o auepora_history=off *"])
    report = "--auepora-report=json:r.json"
    off = project.run_apart("-o", "auepora_history=off", "-p", "no:xdist", report, "shop.golden.yaml")
    off.assert_outcomes(passed=6)


def damage(project: Example, sql: str, *values: object) -> None:
    """Change what lies in the history."""
    with closing(sqlite3.connect(project.path / FOLDER / "history.sqlite")) as connection, connection:
        connection.execute(sql, values)


@pytest.mark.parametrize(
    ("sql", "value", "said"),
    [
        ("UPDATE eval_runs SET run_json = ?", "{}", "cannot be read: there is no key 'suite'"),
        ("UPDATE eval_runs SET aggregate_json = ?", "x", "the list of runs cannot be read: "),
        ("UPDATE eval_query_results SET texts = ?", b"x", "cannot be read: compressed data are cut short"),
    ],
)
def test_a_damaged_run_is_not_replayed(project: Example, sql: str, value: object, said: str) -> None:
    project.run()
    damage(project, sql, value)
    result = project.run("--auepora-replay")
    assert result.ret == 1
    told = str(result.stderr)
    assert "history.sqlite: " in told
    assert said in told
    assert "INTERNALERROR" not in told + str(result.stdout)


def test_a_damaged_answer_is_an_error_of_its_case(project: Example) -> None:
    project.run()
    damage(project, "UPDATE eval_recordings SET answers = ?", b"x")
    result = project.run("--auepora-replay", "-v")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["* is damaged: compressed data are cut short*", "*history.sqlite*"])


def test_a_damaged_journal_is_named_and_stays(project: Example) -> None:
    path = project.write(
        f"{FOLDER}/unfinished-x.jsonl", '{"started": "2031-05-06"}\n{"run": {"suite": 3}, "commit": ""}\n'
    )
    result = project.run()
    assert result.ret == 0
    told = notes(result)["history not read"].detail
    assert path.name in told
    assert "run.suite:" in told
    assert path.exists()
