"""Calls ahead of time are made of the system of their own case, and end before it is torn down."""

from __future__ import annotations

import json
import sys

import pytest

from ..conftest import Example

SYSTEM = """\
import itertools
import pytest

count = itertools.count(1)


@pytest.fixture(scope={scope!r})
def rag(request):
    up = [{name}]
    yield lambda query: (up[0], [])
    up.clear()
"""
"""A system that answers with its own name, until it is torn down."""

ALTERNATELY = """

def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.name[1:])
"""


def two_files(project: Example) -> None:
    project.golden.unlink()
    for name in ("a", "b"):
        cases = "".join(f"  - {{id: {name}{i}, query: q{i}, reference_answer: x}}\n" for i in range(3))
        project.write(f"{name}/{name}.golden.yaml", f"suite: {name}\nmetrics: [exact_match]\ncases:\n{cases}")


def answered(project: Example) -> dict[str, str]:
    """Run with calls ahead of time and return what each case was answered, in the order of their names."""
    project.run("--auepora-concurrency", "4", "--auepora-report", "json:report.json")
    report = json.loads(project.read("report.json"))
    cases = [case for suite in report["suites"] for case in suite["run"]["cases"].values()]
    return {case["case_id"]: case["texts"]["outputs"].get("answer", case["error"]) for case in cases}


@pytest.mark.parametrize(
    ("scope", "name", "own"),
    [
        ("package", "'it'", "it it it it it it"),
        ("module", "request.path.parent.name", "a a a b b b"),
    ],
)
def test_each_case_is_answered_by_the_system_of_its_scope(project: Example, scope: str, name: str, own: str) -> None:
    two_files(project)
    project.write("conftest.py", SYSTEM.format(scope=scope, name=name))
    assert " ".join(answered(project).values()) == own


@pytest.mark.parametrize("scope", ["session", "package", "module"])
def test_each_case_is_answered_by_its_folders_system(project: Example, scope: str) -> None:
    two_files(project)
    project.write("conftest.py", SYSTEM.format(scope=scope, name="'of all'"))
    for folder in ("a", "b"):
        project.write(f"{folder}/conftest.py", SYSTEM.format(scope=scope, name=repr(folder)))
    assert " ".join(answered(project).values()) == "a a a b b b"


def test_a_file_whose_turn_comes_again_has_a_new_system(project: Example) -> None:
    two_files(project)
    project.write("conftest.py", SYSTEM.format(scope="module", name="str(next(count))") + ALTERNATELY)
    assert answered(project) == {"a0": "1", "b0": "2", "a1": "3", "b1": "4", "a2": "5", "b2": "6"}


ENDLESS = """
import asyncio
import os
import pathlib
import pytest
import signal
from pytest_auepora.calls.caller import Caller

Caller.__init__.__kwdefaults__["grace"] = 60  # a loaded machine may take its time to cancel calls
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def rag():
    running, others = set(), asyncio.Event()

    async def ask(query):
        running.add(query)
        try:
            if "refund" in query:
                await others.wait()
                {ends}
            others.set()
            await asyncio.sleep(600)
        finally:
            running.remove(query)

    yield ask
    pathlib.Path("running.txt").write_text(" ".join(running))
"""


@pytest.mark.parametrize(
    ("ends", "told"),
    [
        ("raise ValueError", "stopping after 1 failures"),
        pytest.param(
            "os.kill(os.getpid(), signal.SIGINT)",
            "KeyboardInterrupt",
            marks=pytest.mark.skipif(sys.platform == "win32", reason="os.kill cannot send Ctrl-C there"),
        ),
    ],
)
def test_no_call_runs_any_more_when_its_system_is_torn_down(project: Example, ends: str, told: str) -> None:
    project.write("conftest.py", ENDLESS.format(ends=ends))
    assert told in str(project.run_apart("-x").stdout)  # which changes its own process
    assert project.read("running.txt") == ""
