"""A golden case without a result is never passed, and a run that somebody ended early is not green."""

from __future__ import annotations

import pytest

from ..conftest import Example
from ..listening import gates

TAKES = """
@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    return True if pyfuncitem.name == "warehouse" else None
"""
TAKES_PROTOCOL = """
@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item):
    return True if item.name == "warehouse" else None
"""
REPORTS_ITSELF = """
@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item):
    if item.name != "warehouse":
        return None
    for when in ("setup", "call", "teardown"):
        call = pytest.CallInfo.from_call(lambda: None, when)
        item.ihook.pytest_runtest_logreport(report=pytest.TestReport.from_item_and_call(item, call))
    return True
"""
OTHER_REPORT = """
@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    yield
    return pytest.TestReport.from_item_and_call(item, call)
"""
NEVER_MADE = """
@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(name):
    return [] if name == "warehouse" else None
"""
DROPPED = """
@pytest.hookimpl(tryfirst={first})
def pytest_collection_modifyitems(items):
    items[:] = [item for item in items if item.name != "warehouse"]
"""
FOREIGN = """
class Passes(pytest.Item):
    def runtest(self):
        pass


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector, name):
    return Passes.from_parent(collector, name=name) if name == "warehouse" else None
"""
DESELECTED = """
def pytest_collection_modifyitems(config, items):
    config.hook.pytest_deselected(items=[item for item in items if item.name == "warehouse"])
    items[:] = [item for item in items if item.name != "warehouse"]
"""


@pytest.mark.parametrize(
    ("code", "selections"),
    [(TAKES, [(), ("-k", "warehouse"), ("shop.golden.yaml::warehouse",)]), (REPORTS_ITSELF, [()]), (FOREIGN, [()])],
    ids=["call", "protocol", "item"],
)
def test_a_case_that_another_plugin_ran_has_not_passed(
    project: Example, code: str, selections: list[tuple[str, ...]]
) -> None:
    project.accept()
    project.conftest(code)
    for args in selections:
        result = project.run("--auepora-require-baseline", "-rf", *args)
        assert result.ret == 1
        result.stdout.fnmatch_lines(["FAILED shop.golden.yaml::warehouse - ran without being*"])
        assert "1 errored" in str(result.stdout)


@pytest.mark.parametrize(
    "code",
    [TAKES_PROTOCOL, NEVER_MADE, DROPPED.format(first=True), DROPPED.format(first=False)],
    ids=["protocol", "never made", "dropped first", "dropped last"],
)
def test_a_case_left_out_in_silence_fails_the_run(project: Example, code: str) -> None:
    project.accept()
    project.conftest(code)
    result = project.run("--auepora-require-baseline", "-rf")
    assert result.ret == 1
    assert gates(result) == ["cases without a result"]
    assert "warehouse" in str(result.stdout)


@pytest.mark.slow
def test_a_case_without_a_result_is_told_without_xdist(project: Example) -> None:
    project.conftest(f"import sys\n\nsys.modules['xdist'] = None\n{TAKES}")
    result = project.run_apart()
    assert (result.ret, result.parseoutcomes()["failed"]) == (1, 2)  # the case and its suite


def test_a_selected_case_that_did_not_run_fails_the_run(project: Example) -> None:
    project.conftest(TAKES_PROTOCOL)
    for args in ("-k", "warehouse"), ("shop.golden.yaml::warehouse",), ("-m", "not smoke"):
        assert project.run(*args).ret == 1


def test_a_report_that_lost_its_result_has_not_passed(project: Example) -> None:
    project.conftest(OTHER_REPORT)
    result = project.run()
    assert (result.ret, result.parseoutcomes()["failed"]) == (1, 6)  # five cases and their suite


@pytest.mark.slow
@pytest.mark.parametrize("code", [TAKES, TAKES_PROTOCOL, NEVER_MADE, DROPPED.format(first=False)])
def test_workers_pass_no_case_without_a_result(project: Example, code: str) -> None:
    pytest.importorskip("xdist", reason="needs pytest-xdist")
    project.accept()
    project.conftest(code)
    required = project.run("-n", "2", "--auepora-require-baseline", plugins=("xdist",))
    assert required.ret == 1
    assert project.run("-n", "2", "-k", "warranty", plugins=("xdist",)).ret == 0


def test_a_run_narrowed_on_purpose_passes(project: Example) -> None:
    project.accept()
    require = "--auepora-require-baseline"
    for args in ("-k", "warehouse"), ("-m", "smoke"), ("--deselect", "shop.golden.yaml::warehouse"):
        assert project.run(require, *args).ret == 0
    assert project.run(require, "shop.golden.yaml::warehouse", "shop.golden.yaml::warranty").ret == 0
    project.conftest(DESELECTED)
    assert project.run(require).ret == 0


ENDS = {
    "system": "def answer(query, docs=DOCS):\n    import pytest; pytest.exit('bye', returncode=0)\n",
    "fixture": "@pytest.fixture(autouse=True)\ndef bye():\n    pytest.exit('bye', returncode=0)\n",
    "start": "def pytest_sessionstart():\n    pytest.exit('bye', returncode=0)\n",
    "collection": "def pytest_collection_modifyitems():\n    pytest.exit('bye', returncode=0)\n",
    "setup": "def pytest_runtest_setup(item):\n    pytest.exit('bye', returncode=0)\n",
    "teardown": "def pytest_runtest_teardown(item):\n    pytest.exit('bye', returncode=0)\n",
}


@pytest.mark.parametrize("place", ENDS)
def test_an_exit_with_code_0_is_not_green(project: Example, place: str) -> None:
    if place == "system":
        project.edit("def answer(query, docs=DOCS):\n", ENDS["system"], "shop.py")
    else:
        project.conftest(ENDS[place])
    assert project.run().ret == pytest.ExitCode.INTERRUPTED


def test_an_exit_at_the_end_hides_no_failure(project: Example) -> None:
    project.conftest("def pytest_sessionfinish():\n    pytest.exit('bye', returncode=0)\n")
    assert project.run().ret == 0
    project.break_retriever()
    assert project.run().ret == 1


def test_an_exit_code_of_the_users_own_is_kept(project: Example) -> None:
    project.conftest("def pytest_runtest_setup(item):\n    pytest.exit('bye', returncode=7)\n")
    assert project.run().ret == 7


@pytest.mark.slow
def test_a_worker_that_exits_with_code_0_is_not_green(project: Example) -> None:
    pytest.importorskip("xdist", reason="needs pytest-xdist")
    project.conftest(ENDS["setup"])
    assert project.run_apart("-n", "2").ret != 0
