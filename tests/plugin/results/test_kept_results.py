"""What becomes of results between their report and the history."""

from __future__ import annotations

import json
import os
from typing import Any
from xml.etree import ElementTree

import pytest

from pytest_auepora.core.run import Run
from pytest_auepora.history.store import HistoryStore

from ..conftest import Example
from ..listening import notes

HOOK = """
def pytest_auepora_run_finished(run, verdict):
    for result in run.cases.values():
        result.query = "changed by the project"
"""


def store_of(project: Example) -> HistoryStore:
    return HistoryStore(project.path / ".auepora" / "history.sqlite")


def kept(project: Example) -> Run:
    return store_of(project).load("last")


def test_what_the_project_changes_at_the_end_is_kept(project: Example) -> None:
    project.conftest(HOOK)
    project.accept("--auepora-report=json:report.json")
    report: Any = json.loads((project.path / "report.json").read_text(encoding="utf-8"))
    assert {case.query for case in kept(project).cases.values()} == {"changed by the project"}
    assert json.dumps(report).count("changed by the project") == 5


def test_a_case_that_is_run_again_counts_once(project: Example) -> None:
    pytest.importorskip("pytest_rerunfailures")
    project.system(
        "def rag():\n    asked = []\n    def ask(query):\n        asked.append(query)\n"
        "        if len(asked) <= 3:\n            raise OSError('busy')\n        return answer(query)\n    return ask"
    )
    result = project.run("--reruns=1", "--auepora-report=json:report.json", plugins=("pytest_rerunfailures",))
    assert result.parseoutcomes() == {"passed": 6, "rerun": 1}
    assert [case.state for case in kept(project).cases.values()] == ["passed"] * 5


MOVING_ON = """
class System:
    def __init__(self, model):
        self.auepora_provenance = {"model": model}

    def __call__(self, query):
        if "warehouse" in query and self.auepora_provenance["model"] == "old":
            raise OSError("busy")
        return answer(query)


MADE = []


@pytest.fixture
def rag(request):
    MADE.append(request.node.name)
    return System("old" if MADE.count("warehouse") == 1 and request.node.name == "warehouse" else "new")
"""


def test_what_was_said_of_a_case_that_was_asked_again_is_past(project: Example) -> None:
    pytest.importorskip("pytest_rerunfailures")
    project.write("conftest.py", f"import pytest\nfrom shop import answer\n\n{MOVING_ON}")
    result = project.run("--reruns=1", plugins=("pytest_rerunfailures",))
    assert result.parseoutcomes() == {"passed": 6, "rerun": 1}
    assert kept(project).provenance == {"model": "new"}
    assert "provenance differs" not in notes(result)


def test_junit_properties_are_of_the_last_attempt(project: Example) -> None:
    pytest.importorskip("pytest_rerunfailures")
    project.write("conftest.py", f"import pytest\nfrom shop import answer\n\n{MOVING_ON}")
    project.pytester.makeini("[pytest]\nauepora_junit_properties = true")
    project.run("--reruns=1", "--junitxml=j.xml", plugins=("pytest_rerunfailures",))
    cases = [
        one for one in ElementTree.parse(project.path / "j.xml").iter("testcase") if one.get("name") == "warehouse"
    ]
    said = [[one.get("value") for one in case.iter("property") if one.get("name") == "auepora.state"] for case in cases]
    assert said == [["error"], ["passed"]]


def test_a_test_that_is_run_again_reports_its_last_attempt(project: Example) -> None:
    pytest.importorskip("pytest_rerunfailures")
    project.write(
        "test_own.py",
        "import pytest\n\nSEEN = []\n\n@pytest.mark.auepora('shop.golden.yaml')\ndef test_each(auepora_case):\n"
        "    SEEN.append(auepora_case.id)\n    assert auepora_case.id != 'warranty' or SEEN.count('warranty') == 2\n",
    )
    project.pytester.makeini("[pytest]\nauepora_junit_properties = true")
    result = project.run("test_own.py", "--reruns=1", "--junitxml=j.xml", "-v", plugins=("pytest_rerunfailures",))
    result.stdout.fnmatch_lines(["test_own.py::test_each[[]warranty[]] PASSED recall@1*"])
    assert "auepora.warranty." not in project.read("j.xml")
    assert store_of(project).recordings("last")["warranty"]


def test_a_case_that_was_skipped_says_nothing_of_the_run(project: Example) -> None:
    project.case("free-returns", "skip: not yet")
    project.conftest("def pytest_auepora_provenance():\n    return {'model': 'm'}\n")
    result = project.run()
    assert result.parseoutcomes()["skipped"] == 1
    assert kept(project).provenance == {"model": "m"}
    assert "provenance differs" not in notes(result)


def test_results_that_no_figures_can_be_made_of_are_a_note(project: Example) -> None:
    project.conftest("\n\ndef pytest_auepora_redact(result):\n    result.outputs['retrieved'] = [{}]\n")
    result = project.run()
    assert result.parseoutcomes() == {"passed": 6}
    assert notes(result)["history not written"].detail == "'id'"


def test_no_answer_is_on_disk_where_none_is_to_be_stored(project: Example) -> None:
    project.conftest(
        "def pytest_auepora_run_finished(run):\n    import pathlib\n"
        "    said = b''.join(p.read_bytes() for p in pathlib.Path('.auepora').iterdir())\n"
        "    pathlib.Path('seen').write_bytes(said)\n",
    )  # the journal is there at that time
    project.run("-o", "auepora_keep=answers=none", "--auepora-report=json:report.json")
    (suite,) = json.loads((project.path / "report.json").read_text(encoding="utf-8"))["suites"]
    answers = [case["texts"]["outputs"]["answer"] for case in suite["run"]["cases"].values()]
    assert all(answers)  # reports have them
    run = kept(project)
    assert len(run.cases) == 5
    assert not any("answer" in case.outputs for case in run.cases.values())
    assert not any("text" in hit for case in run.cases.values() for hit in case.outputs["retrieved"])
    assert b'"outputs":{"timings"' in (project.path / "seen").read_bytes()
    assert b'"answer":' not in (project.path / "seen").read_bytes()


def test_what_a_killed_writer_left_beside_golden_files(project: Example) -> None:
    left = [project.path / f".shop.golden.yaml.x{i}.auepora.tmp" for i in range(2)]
    for path in left:
        path.write_text("half", encoding="utf-8")
    os.utime(left[0], (0, 0))
    project.run()
    assert [path.exists() for path in left] == [False, True]  # the other may be under way
