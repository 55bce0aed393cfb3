"""Of a large suite results are kept in columns, and everything that is said and written is the same."""

from __future__ import annotations

import gc
import json
import re
from typing import Any

import pytest

from pytest_auepora.core.result_table import ResultTable
from pytest_auepora.core.run import CaseResult
from pytest_auepora.history.store import HistoryStore
from pytest_auepora.io.golden import model as golden_model

from .conftest import Project

HOOK = """
def pytest_auepora_run_finished(run, verdict):
    for result in run.cases.values():
        result.query = "changed by the project"
"""


@pytest.fixture(params=["small", "large"])
def size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "large":
        monkeypatch.setattr(golden_model, "LARGE", 2)
    return str(request.param)


def written(project: Project) -> Any:
    """Return what a run left behind: the report, the history, the baseline."""
    report = json.loads((project.path / "report.json").read_text(encoding="utf-8"))
    store = HistoryStore(project.path / ".auepora" / "history.sqlite")
    last = store.load(store.runs()[0].run_id)
    return report, last.to_dict(), json.loads(project.baseline.read_text(encoding="utf-8"))


def plain(value: Any) -> str:
    """Return JSON without what differs from run to run."""
    return re.sub(
        r'"(seconds|end_to_end|started|run_id|\w*latency)": ("[^"]*"|[\d.e-]+)', r'"\1": 0', json.dumps(value)
    )


def timeless(text: str) -> str:
    """Return what is said without pytest's own time, and without the line that it fills up around that."""
    return re.sub(r"=+| in [\d.]+s( \([\d:]+\))?", "", text)


def test_reports_history_and_baseline_are_the_same(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.rag(
        "def rag():\n    def ask(query):\n        text, found = answer(query)\n"
        "        return {'answer': text, 'documents': found, 'timings': {'end_to_end': 0.5}}\n    return ask"
    )
    project.accept()
    project.break_retriever()
    seen = []
    for size in (golden_model.LARGE, 2):
        monkeypatch.setattr(golden_model, "LARGE", size)
        result = project.run("--auepora-report=json:report.json")
        seen.append((result.parseoutcomes(), result.stdout.str().partition("=== auepora")[2], written(project)))
    (outcomes, said, (report, run, baseline)), (others, also, (second, again, kept)) = seen
    assert outcomes == others
    assert outcomes["failed"] > 0
    assert timeless(said) == timeless(also)
    assert baseline == kept
    assert plain(run) == plain(again)
    assert plain(report) == plain(second)


def test_what_the_project_changes_at_the_end_is_kept(project: Project, size: str) -> None:
    conftest = project.path / "conftest.py"
    conftest.write_text(conftest.read_text(encoding="utf-8") + HOOK, encoding="utf-8")
    project.accept("--auepora-report=json:report.json")
    report, run, _ = written(project)
    assert {case["query"] for case in run["cases"].values()} == {"changed by the project"}
    assert json.dumps(report).count("changed by the project") >= 5


def test_results_are_let_go_as_they_come(project: Project, size: str) -> None:
    held: list[int] = []

    class Counting:
        def pytest_runtest_logfinish(self) -> None:
            gc.collect()
            held.append(sum(type(one) is CaseResult for one in gc.get_objects()))

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        patch.delenv("PYTEST_XDIST_WORKER", raising=False)
        arguments = ("-p", "pytest_auepora.pytest_plugin.entry", "--auepora", "-p", "no:cacheprovider")
        project.pytester.inline_run(*arguments, plugins=[Counting()])
    before = held[0]
    assert (max(held[:5]) > before) == (size == "small")


def test_a_case_that_is_run_again_counts_once_and_the_last_time(project: Project, size: str) -> None:
    pytest.importorskip("pytest_rerunfailures")
    project.rag(
        "def rag():\n    asked = []\n    def ask(query):\n        asked.append(query)\n"
        "        if len(asked) == 1:\n            raise OSError('busy')\n        return answer(query)\n    return ask"
    )
    result = project.run("--reruns=1", "--auepora-report=json:report.json", plugins=("pytest_rerunfailures",))
    assert result.parseoutcomes() == {"passed": 7, "rerun": 1}
    store = HistoryStore(project.path / ".auepora" / "history.sqlite")
    run = store.load(store.runs()[0].run_id)
    assert [case.state for case in run.cases.values()] == ["passed"] * 5


def test_results_that_no_figures_can_be_made_of_are_a_note(project: Project, size: str) -> None:
    conftest = project.path / "conftest.py"
    redact = "\n\ndef pytest_auepora_redact(result):\n    result.outputs['retrieved'] = [{}]\n"
    conftest.write_text(conftest.read_text(encoding="utf-8") + redact, encoding="utf-8")
    result = project.run()
    assert result.parseoutcomes() == {"passed": 7}
    result.stdout.fnmatch_lines(["*not kept in the history: 'id'*"])


@pytest.mark.parametrize(
    ("args", "ini", "in_columns"),
    [
        ((), "", True),
        (("-q",), "", True),
        (("-v",), "", False),
        (("--auepora-repeat=3",), "", True),
        ((), "auepora_junit_properties = true", False),
    ],
)
def test_objects_stay_where_somebody_comes_back_to_them(
    project: Project, monkeypatch: pytest.MonkeyPatch, args: tuple[str, ...], ini: str, in_columns: bool
) -> None:
    put: list[str] = []
    theirs = ResultTable.__setitem__

    def counted(table: ResultTable, case_id: str, result: CaseResult) -> None:
        put.append(case_id)
        theirs(table, case_id, result)

    monkeypatch.setattr(golden_model, "LARGE", 2)
    monkeypatch.setattr(ResultTable, "__setitem__", counted)
    project.pytester.makeini(f"[pytest]\n{ini}")
    assert project.run(*args).ret == 0
    assert len(put) == (5 if in_columns else 0)
