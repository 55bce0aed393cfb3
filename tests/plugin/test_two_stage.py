"""Suites of two stages: a few answers each, and more of all cases only where something looks bad."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .conftest import Project, gates

COUNTING = """\
def rag():
    asked = []

    def ask(query):
        asked.append(query)
        with pathlib.Path("calls.txt").open("a") as file:
            file.write(query[:9] + "\\n")
        if "warehouse" in query and asked.count(query) in {misses}:
            return "no idea", [{"id": "contact", "text": ""}]
        return answer(query)

    return ask
"""
WAITING = COUNTING.replace("    def ask(query)", "    async def ask(query)")
ASYNC_FIXTURE = WAITING.replace("def rag()", "async def rag()")

ALWAYS, ONCE_IN_FIVE, LATE, NEVER = "(1, 2, 3, 4, 5)", "(2,)", "(4, 5)", "()"


@pytest.fixture
def staged(project: Project) -> Project:
    """A suite of two stages with a perfect baseline; one miss in three is 0.067 of its recall, one in five 0.04."""
    project.edit("  recall@3: 0.9\n", "  recall@3: 0.2\n")
    project.edit(
        "suite: shop\n",
        "suite: shop\nrepeat: {first: 3, total: 5}\n"
        "regression: {policy: tolerance, min_effect: 0.05, case_max_drop: 1}\n",
    )
    project.edit("metrics: [recall@1, recall@3, mrr, token_f1, refusal_correctness]", "metrics: [recall@1, recall@3]")
    project.edit("    thresholds: {token_f1: 0.5}\n", "")
    project.rag(COUNTING.replace("{misses}", NEVER))
    project.accept()
    assert calls(project) == 25, "what is accepted is asked as often as it may ever be compared with"
    return project


def calls(project: Project) -> int:
    path = Path(project.path / "calls.txt")
    lines = path.read_text().splitlines()
    path.unlink()
    return len(lines)


def numbers(result: pytest.RunResult) -> list[str]:
    """The table, the gates and the notes of the closing summary, without times."""
    text = str(result.stdout)
    section = re.sub(r"\nlatency: .*?(?=\n\S)", "", text[text.index("= auepora =") :], flags=re.DOTALL)  # of any length
    return [line for line in section.splitlines()[1:] if not re.search(r"^ *$|^=|FAILED", line)]


@pytest.mark.parametrize("source", [COUNTING, WAITING], ids=["sync", "async"])
@pytest.mark.parametrize(
    ("misses", "asked", "ret"), [(NEVER, 15, 0), (LATE, 15, 0), (ONCE_IN_FIVE, 25, 0), (ALWAYS, 25, 1)]
)
def test_all_cases_are_asked_again_only_where_something_looks_bad(
    staged: Project, source: str, misses: str, asked: int, ret: int
) -> None:
    staged.rag(source.replace("{misses}", misses))
    result = staged.run("--auepora-concurrency", "3" if source is WAITING else "1")
    assert (result.ret, calls(staged)) == (ret, asked), str(result.stdout)
    assert gates(result) == (["regression: recall@1", "regression: recall@3"] if ret else [])
    assert f"each case asked {asked // 5} times" in str(result.stdout)
    result.assert_outcomes(**({"passed": 7, "failed": 2} if ret else {"passed": 9}))


def test_the_last_case_asks_for_all_whatever_runs_before_it(staged: Project) -> None:
    staged.rag(COUNTING.replace("{misses}", ALWAYS))
    staged.write("test_own.py", "def test_own():\n    pass\n")
    between = "\n\ndef pytest_collection_modifyitems(items):\n    items.insert(2, items.pop())\n"
    staged.write("conftest.py", staged.read("conftest.py") + between)
    assert staged.run("--auepora-concurrency", "3").ret == 1
    assert calls(staged) == 25


@pytest.mark.parametrize("misses", [LATE, ALWAYS])
def test_where_the_system_is_out_of_reach_all_is_asked_at_once_and_judged_alike(staged: Project, misses: str) -> None:
    staged.rag(COUNTING.replace("{misses}", misses))
    serial = staged.run()
    calls(staged)
    spread = staged.run("-n", "2", plugins=("xdist",))
    assert calls(staged) == 25
    staged.rag(COUNTING.replace("{misses}", misses), scope="class")  # a case is in no class
    apart = staged.run()
    assert calls(staged) == 25
    assert serial.ret == spread.ret == apart.ret
    assert numbers(serial) == numbers(spread) == numbers(apart)


def test_a_last_case_that_may_not_run_cannot_ask_for_all(staged: Project) -> None:
    staged.rag(COUNTING.replace("{misses}", ALWAYS))
    with (staged.path / "conftest.py").open("a") as conftest:
        conftest.write("\n\ndef pytest_collection_modifyitems(items):\n")
        conftest.write("    items[-1].add_marker(pytest.mark.skipif(True, reason='why'))\n")
    staged.run()
    assert calls(staged) == 4 * 5


def test_a_system_in_a_loop_of_its_own(staged: Project) -> None:
    pytest.importorskip("pytest_asyncio")
    staged.rag(ASYNC_FIXTURE.replace("{misses}", ALWAYS), decorator="pytest_asyncio.fixture")
    staged.edit("import asyncio\n", "import asyncio\nimport pytest_asyncio\n", "conftest.py")
    staged.pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = session")
    assert staged.run(plugins=("pytest_asyncio.plugin",)).ret == 1
    assert calls(staged) == 25


def test_an_error_of_the_second_stage_is_an_error(staged: Project) -> None:
    failing = COUNTING.replace("{misses}", ALWAYS).replace(
        "        if ",
        "        if 'refund' in query and asked.count(query) == 4:\n            raise OSError('down')\n        if ",
    )
    staged.rag(failing)
    result = staged.run()
    assert "error_rate" in gates(result)
    assert "OSError: down (in 1 of 5 repeats)" in str(result.stdout)


def test_without_the_whole_suite_there_is_one_stage(staged: Project) -> None:
    staged.rag(COUNTING.replace("{misses}", ALWAYS))
    staged.run("-k", "ware")
    assert calls(staged) == 3


def test_the_option_says_so_too_and_the_fixture_does_it(staged: Project) -> None:
    staged.rag(COUNTING.replace("{misses}", ALWAYS))
    assert staged.run("--auepora-repeat", "1-2").ret == 1
    assert calls(staged) == 10
    staged.write(
        "test_q.py",
        "def test_q(auepora):\n    run = auepora.evaluate('shop.golden.yaml')\n"
        "    assert run.verdict.outcome == 'failed'\n    assert run.run.cases['warehouse'].repeats == 5\n",
    )
    staged.run("test_q.py", auepora=False).assert_outcomes(passed=1)


@pytest.mark.parametrize("wrong", ["repeat: {first: 5, total: 3}", "repeat: {total: 3}", "repeat: {first: 3, totl: 5}"])
def test_a_plan_that_cannot_be_is_refused_where_it_stands(project: Project, wrong: str) -> None:
    project.edit("suite: shop\n", f"suite: shop\n{wrong}\n")
    result = project.run()
    assert result.ret != 0
    assert "shop.golden.yaml:2:" in str(result.stdout)
