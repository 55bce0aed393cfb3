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


@pytest.mark.parametrize(("way", "define"), [*((way, "def") for way in TESTS), ("item", "async def")])
def test_what_passes_once_does_not_fail_and_replays_so(project: Example, way: str, define: str) -> None:
    unsteady(project, wrong=(1, 3), define=define)
    test = project.write("test_it.py", TESTS[way]).name if TESTS[way] else "shop.golden.yaml"
    result = project.run(test)
    assert result.ret == 0, str(result.stdout)
    assert "warehouse varies: 1 of 2 today held" in str(result.stdout)
    first = store(project).load("last").cases["warehouse"]
    assert (first.state, first.scores["mrr"].value) == ("passed", 0.0)  # its mean is that of the first answer
    assert calls(project) == 6
    replayed = project.run(test, "--auepora-replay")
    assert replayed.ret == 0, str(replayed.stdout)
    again = store(project).load("last").cases["warehouse"]
    assert (again.state, again.scores["mrr"].value) == ("passed", 0.0)
    assert calls(project) == 6


@pytest.mark.parametrize("way", TESTS)
def test_what_never_passes_fails_and_replays_so(project: Example, way: str) -> None:
    unsteady(project, wrong=(1, 2, 3))
    test = project.write("test_it.py", TESTS[way]).name if TESTS[way] else "shop.golden.yaml"
    assert project.run(test).ret == 1
    assert calls(project) == 7
    assert project.run(test, "--auepora-replay").ret == 1
    assert store(project).load("last").cases["warehouse"].state == "failed"
    assert calls(project) == 7


@pytest.mark.parametrize("plugins", [(), pytest.param(("xdist",), marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("scope", "wrong", "failed", "n_calls"),
    [("function", (1,), 0, 6), ("module", (1, 2), 0, 7), ("class", (1, 2, 3), 1, 7)],
)
def test_fixtures_of_any_scope_answer_again(
    project: Example, plugins: tuple[str, ...], scope: str, wrong: tuple[int, ...], failed: int, n_calls: int
) -> None:
    unsteady(project, wrong=wrong)
    project.system(ONCE_WRONG.format(define="def", wrong=wrong), scope=scope)
    result = project.run(*(("-n", "2") if plugins else ()), plugins=plugins)
    assert (result.ret, calls(project)) == (failed, n_calls), str(result.stdout)


def test_an_async_fixture_answers_again_in_its_own_loop(project: Example) -> None:
    unsteady(project, wrong=(1, 2))
    source = ONCE_WRONG.format(define="async def", wrong=(1, 2)).replace("def rag", "async def rag", 1)
    scopes = "pytest_asyncio.fixture(scope='session', loop_scope='session')\n"
    project.write("conftest.py", f"import pytest_asyncio\nfrom shop import answer\n\n\n@{scopes}{source}")
    result = project.run("-o", "asyncio_default_fixture_loop_scope=session", plugins=("pytest_asyncio.plugin",))
    assert (result.ret, calls(project)) == (0, 7), str(result.stdout)


@pytest.mark.parametrize(("wrong", "failed"), [((1, 2), 0), ((1, 2, 3), 1)])
def test_a_resumed_run_decides_as_the_first(project: Example, wrong: tuple[int, ...], failed: int) -> None:
    unsteady(project, wrong=wrong)
    assert project.run().ret == failed
    result = project.run("--auepora-resume")
    assert (result.ret, calls(project)) == (failed, 7), str(result.stdout)


def test_after_ten_failures_nothing_is_asked_again(project: Example) -> None:
    unsteady(project, wrong=tuple(range(1, 99)))
    case = "  - {{id: w{0}, query: When is the warehouse number {0} open?, relevant_docs: [shipping]}}\n"
    cases = "".join(map(case.format, range(14)))
    project.golden.write_text(f"suite: shop\nmetrics: [mrr]\ncase_thresholds: {{mrr: 0.9}}\ncases:\n{cases}")
    project.run().assert_outcomes(passed=1, failed=14)
    assert calls(project) == 14 + 2 * 10
