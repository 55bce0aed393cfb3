"""An update asks a steady system twice and a varying one five times; earlier cases are completed behind the suite."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from ..conftest import Example
from .varying import ACCEPTED, N_CASES, accepted, calls, says, vary

FIVE = 5 * N_CASES
LATE = """\
def rag():
    asked = {}

    def ask(query):
        asked[query] = number = asked.get(query, -1) + 1
        with open("calls.txt", "a") as file:
            file.write(query + "\\n")
        word = "bad" if "number 7" in query and number == 1 else "good"
        return f"{word} {number}", [word]

    return ask
"""
TOLD = "auepora: the update takes 24 calls, up to 60 if answers vary"


def answers(project: Example) -> dict[str, object]:
    """How many accepted answers each block of the baseline has, by its scores."""
    cases = json.loads(project.baseline.read_text())["cases"]
    return {case_id: block["answers"] for case_id, block in cases.items()}


def test_a_steady_system_is_asked_twice(project: Example) -> None:
    says(vary(project), "good")
    result = project.run("--auepora-update")
    assert (result.ret, len(calls(project))) == (0, 2 * N_CASES)
    assert TOLD in str(result.stdout)
    says(project, "good")
    green = project.run()
    assert (green.ret, len(calls(project))) == (0, N_CASES)
    assert "auepora: the update" not in str(green.stdout)


@pytest.mark.parametrize("option", ["--auepora-concurrency=1", "--auepora-concurrency=4"])
def test_a_varying_system_is_asked_five_times(project: Example, option: str) -> None:
    accepted(vary(project), option)
    assert Counter(calls(project)) == {f"number {i}?": 5 for i in range(N_CASES)}
    assert set(answers(project).values()) == {5}


def test_earlier_cases_are_asked_behind_the_suite(project: Example) -> None:
    vary(project)
    project.system(LATE)
    says(project, "")
    assert project.run("--auepora-update").ret == 0
    assert Counter(calls(project)) == {f"number {i}?": 5 for i in range(N_CASES)}
    assert calls(project)[-3 * 7 :] == [f"number {i}?" for i in range(7) for _ in range(3)]
    assert set(answers(project).values()) == {5}


@pytest.mark.parametrize(("words", "times"), [("good", 2), (ACCEPTED, 5)])
def test_the_baseline_says_how_often_to_ask(project: Example, words: str, times: int) -> None:
    vary(project)
    says(project, words)
    project.accept()
    says(project, "good")
    assert project.run("--auepora-update").ret == 0
    assert len(calls(project)) == times * N_CASES


@pytest.mark.parametrize("scope", ["class", "function"])
def test_a_system_for_one_test_alone_is_asked_five_times(project: Example, scope: str) -> None:
    says(vary(project, scope=scope), "good")
    result = project.run("--auepora-update")
    assert (result.ret, len(calls(project))) == (0, FIVE)
    assert f"{FIVE} calls\n" in str(result.stdout)


@pytest.mark.slow
def test_workers_ask_five_times(project: Example) -> None:
    pytest.importorskip("xdist", reason="needs pytest-xdist")
    says(vary(project), "good")
    result = project.run("--auepora-update", "-n", "2", plugins=("xdist",))
    assert (result.ret, len(calls(project))) == (0, FIVE)
    assert f"{FIVE} calls\n" in str(result.stdout)


def test_an_async_fixture_is_asked_behind_the_suite(project: Example) -> None:
    pytest.importorskip("pytest_asyncio")
    options = ("-o", "asyncio_default_fixture_loop_scope=session", "-W", "ignore")
    vary(project)
    project.system(LATE.replace("def ", "async def "), decorator="pytest_asyncio.fixture")
    project.edit("import pathlib", "import pathlib, pytest_asyncio", "conftest.py")
    says(project, "")
    assert project.run("--auepora-update", *options, plugins=("pytest_asyncio.plugin",)).ret == 0
    assert set(answers(project).values()) == {5}


def test_a_test_that_evaluates_completes_its_cases(project: Example) -> None:
    vary(project)
    project.system(LATE)
    says(project, "")
    project.write("test_it.py", "def test_it(auepora):\n    auepora.evaluate('shop.golden.yaml')\n")
    assert project.run("--auepora-update", "test_it.py").ret == 0
    assert set(answers(project).values()) == {5}


def test_all_answers_are_replayed(project: Example) -> None:
    vary(project)
    project.system(LATE)
    says(project, "")
    project.run("--auepora-update")
    before = project.baseline.read_text()
    project.baseline.unlink()
    says(project, "")
    assert project.run("--auepora-replay", "--auepora-update").ret == 0
    assert calls(project) == []
    assert project.baseline.read_text() == before


def test_a_partial_update_of_a_steady_suite_asks_twice(project: Example) -> None:
    says(vary(project), "good")
    project.accept()
    says(project, "good")
    assert project.run("--auepora-update", "-k", "c01 or c02").ret == 0
    assert len(calls(project)) == 2 * 2
