"""Which parts of the plugin there are, in which process."""

from __future__ import annotations

import pytest

from .conftest import Example

TELL = """
def pytest_sessionstart(session):
    import pathlib
    worker = getattr(session.config, "workerinput", {}).get("workerid", "controller")
    names = [name for name, _ in session.config.pluginmanager.list_name_plugin() if name.startswith("auepora-")]
    pathlib.Path(__file__).with_name(f"{worker}.txt").write_text(" ".join(sorted(names)))
"""

RUNS_CASES = {
    "auepora-collecting", "auepora-exits", "auepora-running", "auepora-session", "auepora-suites",
    "auepora-time-limits", "auepora-watchdog",
}  # fmt: skip
JUDGES = {
    "auepora-controller", "auepora-recorder", "auepora-reports", "auepora-short-failures", "auepora-terminal",
}  # fmt: skip


def parts(project: Example, process: str = "controller") -> set[str]:
    return set(project.read(f"{process}.txt").split())


def test_workers_run_cases_and_the_controller_judges(project: Example) -> None:
    project.conftest(TELL)
    assert project.run("-n", "1", plugins=("xdist",)).ret == 0
    assert parts(project, "gw0") == RUNS_CASES
    assert parts(project) == RUNS_CASES | JUDGES | {"auepora-workers"}


@pytest.mark.parametrize(
    ("args", "more", "less"),
    [
        (("--auepora-timeout=9",), set(), {"auepora-watchdog"}),
        (("-o", "auepora_history=off"), set(), {"auepora-recorder"}),
        (("--auepora-suggest",), {"auepora-suggesting"}, set()),
        (("-o", "auepora_junit_properties=true"), {"auepora-junit"}, set()),
    ],
)
def test_options_add_parts_and_leave_them_out(
    project: Example, args: tuple[str, ...], more: set[str], less: set[str]
) -> None:
    project.conftest(TELL)
    assert project.run(*args).ret == 0
    assert parts(project) == (RUNS_CASES | JUDGES | more) - less


def test_without_the_option_no_part_is_there(project: Example) -> None:
    project.conftest(TELL)
    project.write("test_it.py", "def test_it(auepora):\n    assert auepora.evaluate('shop.golden.yaml')['mrr'] > 0\n")
    assert project.run(auepora=False).ret == 0
    assert parts(project) == set()


@pytest.mark.parametrize("auepora", [False, True])
def test_no_thread_outlives_the_session(project: Example, auepora: bool) -> None:
    project.conftest("""
        import pathlib, threading

        def pytest_unconfigure(config):
            ours = [one for one in threading.enumerate() if one.name in ("auepora-loop", "auepora-call")]
            for one in ours:
                one.join(10)  # idle threads are told to end, and not waited for
            pathlib.Path("left.txt").write_text(" ".join(one.name for one in ours if one.is_alive()))
    """)
    project.write("test_it.py", "def test_it(auepora):\n    assert auepora.evaluate('shop.golden.yaml')['mrr'] > 0\n")
    assert project.run("-o", "auepora_timeout=5", auepora=auepora).ret == 0
    assert project.read("left.txt") == ""
