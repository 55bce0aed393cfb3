"""The test `suite`: one outcome for all gates of a configuration, at the line of `suite:`."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

from ..conftest import Example
from ..listening import gates, mistakes, outcomes

BOTH = [(), pytest.param(("-n", "2"), marks=pytest.mark.slow)]
PHASES = """

def pytest_runtest_logreport(report):
    if "suite" in report.nodeid:
        with open("phases.txt", "a") as file:
            print(report.nodeid, report.when, report.outcome, *report.location, file=file)
"""


def run(project: Example, *args: str) -> pytest.RunResult:
    """Run, with pytest-xdist where *args* ask for it."""
    if "-n" in args:
        pytest.importorskip("xdist", reason="needs pytest-xdist")
    return project.run(*args, plugins=("xdist",) if "-n" in args else ())


def suite_text(result: pytest.RunResult, name: str = "suite") -> list[str]:
    """The lines that pytest shows of the failed test `suite`."""
    text = str(result.stdout)
    start = re.search(rf"^_+ {re.escape(name)} _+$", text, re.MULTILINE)
    assert start is not None, text
    return re.split(r"\n[_=]+ ", text[start.end() :])[0].strip().splitlines()


@pytest.mark.parametrize("workers", BOTH)
def test_every_run_counts_its_cases_and_one_more(project: Example, workers: tuple[str, ...]) -> None:
    run(project, *workers).assert_outcomes(passed=6)
    project.accept()
    run(project, *workers).assert_outcomes(passed=6)
    project.break_retriever()
    run(project, *workers).assert_outcomes(passed=4, failed=2)


@pytest.mark.parametrize("workers", BOTH)
def test_each_configuration_has_its_own_suite(project: Example, workers: tuple[str, ...]) -> None:
    project.system(
        "def rag(request):\n    return answer if request.param == 'good' else (lambda q: ('?', []))",
        decorator="pytest.fixture",
    )
    project.edit("scope='session')", "scope='session', params=['good', 'bad'])", "conftest.py")
    project.conftest(PHASES)
    result = run(project, *workers)
    assert sum(result.parseoutcomes()[state] for state in ("passed", "failed")) == 2 * (5 + 1)
    told = {line.split()[0]: line.split()[2] for line in project.read("phases.txt").splitlines() if " call " in line}
    assert told == {"shop.golden.yaml::suite[good]": "passed", "shop.golden.yaml::suite[bad]": "failed"}


@pytest.mark.parametrize("workers", BOTH)
def test_it_is_told_in_three_phases_at_the_line_of_the_suite(project: Example, workers: tuple[str, ...]) -> None:
    project.edit("suite: shop", "# the questions of the shop\n\nsuite: shop")
    project.conftest(PHASES)
    project.break_retriever()
    assert gates(run(project, *workers)) == ["recall@3"]
    assert project.read("phases.txt").splitlines() == [
        f"shop.golden.yaml::suite {phase} shop.golden.yaml 2 suite"
        for phase in ("setup passed", "call failed", "teardown passed")
    ]


@pytest.mark.parametrize("workers", BOTH)
def test_its_text_lists_the_failed_gates(project: Example, workers: tuple[str, ...]) -> None:
    project.edit("suite: shop\n", "suite: shop\nowner: search-team\n")
    project.edit("recall@3: 0.9", "{recall@3: 0.9, mrr: 1.0}")
    project.break_retriever()
    result = run(project, "-rf", *workers)
    assert gates(result) == ["recall@3", "mrr"]
    text = suite_text(result)
    assert max(map(len, text)) <= 80
    assert text[0] == "2 gates failed: recall@3, mrr"
    said = " ".join(" ".join(text).split())
    assert "shop.golden.yaml:5: recall@3: 0.7500 " in said
    assert all(word in said for word in ("search-team", "refund-window")), "who answers for it, what cost most"


def test_a_single_failed_gate_stands_in_the_first_line(project: Example) -> None:
    project.break_retriever()
    assert suite_text(project.run("-rf"))[0].startswith("shop.golden.yaml:4: recall@3: 0.7500 is not")


@pytest.mark.parametrize("workers", BOTH)
def test_junit_has_a_line_for_each_gate(project: Example, workers: tuple[str, ...]) -> None:
    project.break_retriever()
    run(project, "--junitxml=out.xml", *workers)
    tests = {test.get("name"): test for test in ET.parse(project.path / "out.xml").getroot().iter("testcase")}
    assert len(tests) == 6
    assert tests["suite"].find("failure") is not None
    lines = {line.get("name"): line.get("value") for line in tests["suite"].iter("property")}
    assert {name: str(line).partition(":")[0] for name, line in lines.items()} == {
        "auepora.gate.recall@3": "failed", "auepora.gate.error_rate": "passed",
    }  # fmt: skip


@pytest.mark.parametrize("workers", BOTH)
def test_it_is_skipped_where_every_case_was(project: Example, workers: tuple[str, ...]) -> None:
    project.golden.write_text(project.golden.read_text().replace("    query:", "    skip: later\n    query:"))
    result = run(project, "-rs", *workers)
    result.assert_outcomes(skipped=6)
    assert outcomes(result)["threshold: recall@3"].reason == "all skipped"
    assert re.search(r"^SKIPPED \[1\] shop.golden.yaml:\d+: .*\(later\)$", str(result.stdout), re.MULTILINE)


@pytest.mark.parametrize("workers", BOTH)
def test_progress_does_not_run_backwards(project: Example, workers: tuple[str, ...]) -> None:
    shown = [int(n) for n in re.findall(r"\[ *(\d+)%\]", str(run(project, "-v", *workers).stdout))]
    assert len(shown) == 6
    assert shown == sorted(shown)
    assert shown[-1] == 100


def test_gates_of_a_suite_that_only_tests_evaluate_are_told(project: Example) -> None:
    project.write("test_it.py", "def test_it(auepora):\n    auepora.evaluate('shop.golden.yaml')\n")
    project.run("test_it.py").assert_outcomes(passed=1 + 1)
    project.break_retriever()
    result = project.run("test_it.py")
    result.assert_outcomes(passed=1, failed=1)
    assert gates(result) == ["recall@3"]


def test_what_a_later_test_measures_is_judged_anew(project: Example) -> None:
    project.write(
        "test_z.py", "def test_z(auepora):\n    auepora.evaluate('shop.golden.yaml', lambda query: ('?', []))\n"
    )
    result = project.run("shop.golden.yaml", "test_z.py")
    assert result.ret == 1
    result.assert_outcomes(passed=5 + 1 + 1, failed=1)
    assert gates(result) == ["recall@3"]


def test_no_case_may_be_called_suite(project: Example) -> None:
    project.edit("id: warehouse", "id: suite")
    result = project.run()
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert [(mistake.line, mistake.col) for mistake in mistakes(result)] == [(13, 9)]
