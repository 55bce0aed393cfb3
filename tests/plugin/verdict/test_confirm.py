"""A failed case is asked again by its own test before it fails, and a replay decides as the run did, without a call."""

from __future__ import annotations

import pytest

from ..conftest import Example
from ..counting import store

ONCE_WRONG = """\
def rag():
    asked = []

    {define} ask(query):
        with open("calls.txt", "a") as file:
            file.write(query + "\\n")
        asked.append(query)
        if "warehouse" in query and asked.count(query) in {wrong}:
            return "no idea", [{{"id": "contact", "text": ""}}]
        return answer(query)

    return ask
"""

TESTS = {
    "item": "",
    "auepora_case": "import pytest\n\n\n@pytest.mark.auepora('shop.golden.yaml')\ndef test_it(auepora_case):\n"
    "    assert auepora_case.result.state == 'passed'\n",
    "evaluate": "def test_it(auepora):\n    run = auepora.evaluate('shop.golden.yaml').run\n"
    "    assert {case.state for case in run.cases.values()} == {'passed'}\n",
}


def unsteady(project: Example, *, wrong: tuple[int, ...], define: str = "def") -> None:
    """Let the answers about the warehouse with the numbers *wrong*, counted from 1, be wrong, and its case fail so."""
    project.system(ONCE_WRONG.format(define=define, wrong=wrong))
    project.edit("thresholds:\n  recall@3: 0.9\n", "")
    project.edit("    query: When do", "    thresholds: {mrr: 0.9}\n    query: When do")


def calls(project: Example) -> int:
    return project.read("calls.txt").count("\n")


@pytest.mark.parametrize("define", ["def", "async def"])
@pytest.mark.parametrize("way", TESTS)
def test_what_passes_once_does_not_fail_and_replays_so(project: Example, way: str, define: str) -> None:
    unsteady(project, wrong=(1, 3), define=define)
    test = project.write("test_it.py", TESTS[way]).name if TESTS[way] else "shop.golden.yaml"
    result = project.run(test)
    assert result.ret == 0, str(result.stdout)
    assert "varies, so it did not fail: warehouse (1 of 3 answers passed)" in str(result.stdout)
    first = store(project).load("last").cases["warehouse"]
    assert (first.state, first.scores["mrr"].value) == ("passed", 0.0)  # its mean is that of the first answer
    assert calls(project) == 7
    replayed = project.run(test, "--auepora-replay")
    assert replayed.ret == 0, str(replayed.stdout)
    again = store(project).load("last").cases["warehouse"]
    assert (again.state, again.scores["mrr"].value) == ("passed", 0.0)
    assert calls(project) == 7


@pytest.mark.parametrize("way", TESTS)
def test_what_never_passes_fails_and_replays_so(project: Example, way: str) -> None:
    unsteady(project, wrong=(1, 2, 3))
    test = project.write("test_it.py", TESTS[way]).name if TESTS[way] else "shop.golden.yaml"
    assert project.run(test).ret == 1
    assert calls(project) == 7
    assert project.run(test, "--auepora-replay").ret == 1
    assert store(project).load("last").cases["warehouse"].state == "failed"
    assert calls(project) == 7
