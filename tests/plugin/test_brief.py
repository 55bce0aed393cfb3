"""Cases that set up nothing run in one phase, and nobody can tell by what pytest says."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections import Counter

import pytest

from .conftest import Project

A_LOOK = "\ndef pytest_runtest_setup(item):\n    pass\n"

WATCH = """

def pytest_configure(config):
    def before(name, impls, kwargs):
        if name in ("pytest_runtest_setup", "pytest_runtest_call", "pytest_runtest_teardown"):
            with open("phases.txt", "a") as file:
                print(kwargs["item"].name, name.rpartition("_")[2], file=file)
    config.pluginmanager.add_hookcall_monitoring(before, lambda *_: None)
"""
"""Writes down the phases without being a hook that sees them."""

ALL = {"refund-window", "warehouse", "free-returns", "warranty", "ceo-salary"}
ENDS = {"refund-window", "ceo-salary"}


def more(project: Project, text: str) -> None:
    conftest = project.path / "conftest.py"
    conftest.write_text(conftest.read_text(encoding="utf-8") + text, encoding="utf-8")


def in_controller(project: Project, plugin: str) -> None:
    """Register the source of a *plugin* in the process that judges, and in no worker."""
    project.write("in_controller.py", plugin)
    more(
        project,
        "\ndef pytest_configure(config):\n    if not hasattr(config, 'workerinput'):\n"
        "        import in_controller\n        config.pluginmanager.register(in_controller)\n",
    )


def phases(project: Project, *args: str, **outcomes: int) -> dict[str, set[str]]:
    """Run the project and return which cases were set up, called and torn down, each at most once."""
    more(project, WATCH)
    project.run(*args).assert_outcomes(**outcomes)
    file = project.path / "phases.txt"
    seen = Counter(tuple(line.split()) for line in file.read_text(encoding="utf-8").splitlines())
    assert set(seen.values()) == {1}
    file.unlink()
    return {phase: {name for name, ran in seen if ran == phase} for phase in ("setup", "call", "teardown")}


def test_only_the_first_and_the_last_case_of_a_file_are_set_up_and_torn_down(project: Project) -> None:
    assert phases(project, passed=7) == {"setup": ENDS, "call": ALL, "teardown": ENDS}


def test_whatever_a_hook_of_the_project_would_see_takes_place(project: Project) -> None:
    more(project, A_LOOK)
    assert phases(project, passed=7) == {"setup": ALL, "call": ALL, "teardown": ALL}


@pytest.mark.parametrize("option", ["--setup-show", "--durations=3", "--junitxml=junit.xml", "--pdb"])
def test_options_that_tell_of_phases_have_them(project: Project, option: str) -> None:
    assert phases(project, option, passed=7) == {"setup": ALL, "call": ALL, "teardown": ALL}


def test_pytest_says_the_same_of_every_kind_of_case(project: Project) -> None:
    project.edit("  - id: warehouse\n", "  - id: warehouse\n    skip: closed\n")
    project.edit(
        "  - id: free-returns\n",
        "  - id: free-returns\n    xfail: known\n    reference_answer: never\n    thresholds: {token_f1: 0.99}\n",
    )
    project.edit("  - id: warranty\n", "  - id: warranty\n    thresholds: {token_f1: 0.99}\n")
    args = "-v", "-rA", "-o", "auepora_history=off"
    short = project.run(*args)
    more(project, A_LOOK)
    # times are wrapped as long as they are, and what pytest draws around its own is as long as the line has room
    said = [" ".join(result.stdout.str().split()) for result in (short, project.run(*args))]
    told = [re.sub(r"=+|(\d+ min )?\d+(\.\d+)? ?m?s\b( \([\d:]+\))?", "", text) for text in said]
    assert told[0] == told[1]
    outcomes = short.parseoutcomes()
    assert (outcomes["skipped"], outcomes["xfailed"]) == (1, 1)
    assert outcomes["failed"] >= 1


def test_marks_that_a_project_adds_are_heeded(project: Project) -> None:
    more(project, "\ndef pytest_collection_modifyitems(items):\n    items[2].add_marker(pytest.mark.skip)\n")
    assert phases(project, passed=6, skipped=1) == {
        "setup": ENDS | {"free-returns"}, "call": ALL - {"free-returns"}, "teardown": ENDS | {"free-returns"},
    }  # fmt: skip


@pytest.mark.parametrize("every", [False, True])
def test_fixtures_of_each_case_are_set_up_for_each(project: Project, every: bool) -> None:
    if every:
        more(project, "\n\n@pytest.fixture(autouse=True)\ndef every():\n    yield\n")
    else:
        project.rag("def rag():\n    yield answer", scope="function")
    assert phases(project, passed=7) == {"setup": ALL, "call": ALL, "teardown": ALL}


@pytest.mark.parametrize("concurrency", ["1", "4"])
def test_each_configuration_gets_its_own_system(project: Project, concurrency: str) -> None:
    project.write(
        "conftest.py",
        "import pytest\n\n\n@pytest.fixture(scope='session', params=['one', 'two'])\ndef rag(request):\n"
        "    up = [request.param]\n    yield lambda query: (up[0], [])\n    up.clear()\n",
    )
    cases = "".join(f"  - {{id: c{i}, query: q{i}, reference_answer: one}}\n" for i in range(4))
    project.write("shop.golden.yaml", f"suite: shop\nmetrics: [exact_match]\ncases:\n{cases}")
    ran = phases(project, "--auepora-concurrency", concurrency, "--auepora-report", "json:report.json", passed=10)
    assert ran["setup"] == {"c0[one]", "c3[one]", "c0[two]", "c3[two]"}
    assert len(ran["call"]) == 8
    report = json.loads((project.path / "report.json").read_text(encoding="utf-8"))
    answers = {
        suite["title"]: [case["outputs"]["answer"] for case in suite["run"]["cases"].values()]
        for suite in report["suites"]
    }
    assert answers == {"shop[one]": ["one"] * 4, "shop[two]": ["two"] * 4}


def test_a_failure_that_ends_the_session_tears_down_what_was_set_up(project: Project) -> None:
    project.rag(
        "def rag():\n    yield lambda query: answer(query) if 'refund' in query else ('no', [])\n"
        "    with open('down.txt', 'a') as file:\n        file.write('down')"
    )
    project.edit("  - id: warehouse\n", "  - id: warehouse\n    thresholds: {token_f1: 0.9}\n")
    ran = phases(project, "-x", passed=1, failed=1)
    assert ran == {"setup": {"refund-window"}, "call": {"refund-window", "warehouse"}, "teardown": {
        "refund-window", "warehouse"}}  # fmt: skip
    assert (project.path / "down.txt").read_text(encoding="utf-8") == "down"


def test_prints_logs_and_the_running_test_belong_to_their_case(project: Project) -> None:
    project.rag(
        "def rag():\n    import logging, os\n    def ask(query):\n"
        "        print('asked in', os.environ['PYTEST_CURRENT_TEST'])\n"
        "        logging.getLogger('mine').warning('logged %s', query)\n"
        "        return 'no', []\n"
        "    return ask"
    )
    project.write("test_after.py", "def test_after():\n    assert 1\n\n\ndef test_other():\n    assert 1\n")
    result = project.run("-rA")
    told = result.stdout.str()
    for name in ALL:
        assert told.count(f"asked in shop.golden.yaml::{name} (call)") == 1
    assert told.count("logged When do parcels leave the warehouse?") == 1


def test_what_runs_between_cases_is_no_case(project: Project) -> None:
    more(
        project,
        "\ndef pytest_runtest_logfinish(nodeid):\n    import os\n"
        "    assert 'PYTEST_CURRENT_TEST' not in os.environ, nodeid\n",
    )
    assert phases(project, passed=7)["setup"] == ENDS


def test_tests_of_the_project_between_golden_files_run_as_ever(project: Project) -> None:
    project.write("a.golden.yaml", (project.golden).read_text(encoding="utf-8").replace("suite: shop", "suite: a"))
    project.write("b/test_own.py", "def test_one():\n    pass\n\n\ndef test_two():\n    pass\n")
    more(project, WATCH)
    project.run("a.golden.yaml", "b", "shop.golden.yaml").assert_outcomes(passed=16)
    lines = (project.path / "phases.txt").read_text(encoding="utf-8").splitlines()
    assert [line.split()[0] for line in lines if line.endswith("setup")] == [
        "refund-window", "ceo-salary", "test_one", "test_two", "refund-window", "ceo-salary",
    ]  # fmt: skip


@pytest.mark.parametrize("reads", [False, True])
def test_workers_know_whether_somebody_reads_reports_in_the_controller(project: Project, reads: bool) -> None:
    pytest.importorskip("xdist")
    in_controller(project, "def pytest_runtest_logreport(report):\n    print('read', report.when)\n" if reads else "")
    result = project.run_apart("-n", "1", "-s", "-p", "no:rerunfailures")
    result.assert_outcomes(passed=7)
    assert result.stdout.str().count("read setup") == (5 if reads else 0)


def test_workers_leave_them_out_as_well(project: Project) -> None:
    pytest.importorskip("xdist")
    more(project, WATCH)
    project.run_apart("-n", "1", "-p", "no:rerunfailures").assert_outcomes(passed=7)
    lines = (project.path / "phases.txt").read_text(encoding="utf-8").splitlines()
    assert {line.split()[0] for line in lines if line.endswith("setup")} == ENDS
    assert {line.split()[0] for line in lines if line.endswith("call")} == ALL


@pytest.mark.parametrize("listens", [False, True])
def test_a_controller_is_told_that_cases_begin_and_end(project: Project, listens: bool) -> None:
    """One message for a case where nobody is there to listen; it is monitored, so that nobody has a hook for it."""
    pytest.importorskip("xdist")
    hooks = "".join(f"\ndef pytest_runtest_{name}(nodeid):\n    pass\n" for name in ("logstart", "logfinish"))
    in_controller(
        project,
        "def pytest_configure(config):\n"
        "    def before(name, impls, kwargs):\n"
        "        if name.startswith('pytest_runtest_log'):\n"
        "            nodeid = kwargs['report'].nodeid if 'report' in kwargs else kwargs['nodeid']\n"
        "            print('SAID', name, nodeid)\n"
        "    config.pluginmanager.add_hookcall_monitoring(before, lambda *_: None)\n" + (hooks if listens else ""),
    )
    result = project.run_apart("-n", "1", "-s", "-p", "no:rerunfailures")
    result.assert_outcomes(passed=7)
    said = re.findall(r"SAID pytest_runtest_(\w+) shop\.golden\.yaml::(?!gate)(\S+)", result.stdout.str())
    for name in ("logstart", "logfinish"):
        assert {case for hook, case in said if hook == name} == ALL
    # where a report comes with both, the one is around the other
    order = [name for name, case in said if case == "warehouse"]
    assert order == (["logstart", "logreport", "logfinish"] if listens else ["logreport", "logstart", "logfinish"])


def test_a_junit_file_under_xdist_has_every_case(project: Project) -> None:
    pytest.importorskip("xdist")
    project.run_apart("-n", "2", "--junitxml=junit.xml").assert_outcomes(passed=7)
    cases = ET.parse(project.path / "junit.xml").findall(".//testcase")
    assert {c.get("name") for c in cases} >= ALL
