"""While the first answers are awaited, what the rest of a run takes is made ready."""

from __future__ import annotations

import pytest

from .conftest import CONFTEST, Example

LATER = ("evaluation.case_flow", "regression.verdict", "history.store", "reporting.terminal.summary")

NOTHING_YET = f"""
def rag():
    import sys

    def ask(query):
        ready = [name for name in {LATER} if "pytest_auepora." + name in sys.modules]
        seen.append(ready)
        return answer(query)

    seen = []
    yield ask
    assert seen[0] == [], seen[0]
"""

AWAITED = f"""
def rag():
    import sys
    import time

    def ask(query):
        end = time.monotonic() + 20
        while not all("pytest_auepora." + name in sys.modules for name in {LATER}):
            assert time.monotonic() < end, "nothing is made ready while this is awaited"
            time.sleep(0.01)
        return answer(query)

    return ask
"""


def test_calls_start_before_what_takes_answers_is_imported(project: Example) -> None:
    project.system(NOTHING_YET)
    project.run_apart("-p", "no:xdist", "shop.golden.yaml").assert_outcomes(passed=7)


def test_later_modules_are_imported_during_the_first_call(project: Example) -> None:
    project.system(AWAITED)
    result = project.run_apart("--auepora-concurrency", "2", "-p", "no:xdist", "shop.golden.yaml")
    result.assert_outcomes(passed=7)


@pytest.mark.parametrize("concurrency", ["1", "2"])
def test_what_cannot_be_imported_is_told_where_it_is_used(project: Example, concurrency: str) -> None:
    broken = "pytest_auepora.reporting.terminal.summary"
    project.write("conftest.py", f"import sys\n\nsys.modules[{broken!r}] = None\n{CONFTEST}")
    result = project.run_apart("--auepora-concurrency", concurrency, "-p", "no:xdist", "shop.golden.yaml")
    result.stdout.fnmatch_lines(["shop.golden.yaml .......*"])
    assert f"import of {broken} halted" in str(result.stdout) + str(result.stderr)


def test_without_sqlite_no_system_is_called(project: Example) -> None:
    project.write("conftest.py", f"import sys\n\nsys.modules['_sqlite3'] = None\n{CONFTEST}")
    result = project.run_apart("-p", "no:xdist", "shop.golden.yaml")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: this Python has no sqlite3 to keep runs with; -o auepora_history=off *"])
    project.run_apart("-o", "auepora_history=off", "-p", "no:xdist", "shop.golden.yaml").assert_outcomes(passed=7)
