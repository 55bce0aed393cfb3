"""A limit of pytest-timeout is for one call of a case: each further one has its own."""

from __future__ import annotations

import time

import pytest

from ..conftest import Example

TIMEOUT = ("pytest_timeout",)
SLOW = """\
def rag():
    import time

    {define} ask(query):
        with open("calls.txt", "a") as file:
            file.write(query + "\\n")
        if "warehouse" not in query:
            return answer(query)
        {wait}
        return "no idea", [{{"id": "contact", "text": ""}}]

    return ask
"""
WAITS = {"def": "time.sleep(0.6)", "async def": "await asyncio.sleep(0.6)"}
WAYS = {
    "item": "",
    "auepora_case": "import pytest\n\n\n@pytest.mark.auepora('shop.golden.yaml')\ndef test_it(auepora_case):\n"
    "    assert auepora_case.result.state == 'passed'\n",
}


@pytest.fixture
def slow(project: Example) -> Example:
    """A project in which the case about the warehouse fails, each of its answers after 0.6 s."""
    pytest.importorskip("pytest_timeout", reason="needs pytest-timeout")
    project.edit("thresholds:\n  recall@3: 0.9\n", "")
    project.edit("    query: When do", "    thresholds: {mrr: 0.9}\n    query: When do")
    project.system(SLOW.format(define="def", wait=WAITS["def"]))
    return project


def asked(project: Example) -> int:
    """How often the case about the warehouse was asked."""
    return project.read("calls.txt").count("warehouse")


@pytest.mark.parametrize("method", ["signal", "thread"])
@pytest.mark.parametrize("way", WAYS)
def test_asking_again_has_time(slow: Example, way: str, method: str) -> None:
    test = slow.write("test_it.py", WAYS[way]).name if WAYS[way] else "shop.golden.yaml"
    result = slow.run(test, "--timeout=1.7", f"--timeout-method={method}", plugins=TIMEOUT)
    assert "Timeout" not in str(result.stdout)
    assert asked(slow) == 3


@pytest.mark.parametrize("concurrency", ["1", "2"])
@pytest.mark.parametrize("define", WAITS)
@pytest.mark.slow
def test_repeats_have_time(slow: Example, define: str, concurrency: str) -> None:
    slow.system(SLOW.format(define=define, wait=WAITS[define]))
    slow.edit("cases:", "repeat: 3\ncases:")
    result = slow.run("--timeout=1.7", "--auepora-concurrency", concurrency, plugins=TIMEOUT)
    assert "Timeout" not in str(result.stdout)
    assert asked(slow) == 3


def test_a_limit_of_the_function_alone_is_for_one_call_too(slow: Example) -> None:
    slow.pytester.makeini("[pytest]\ntimeout = 1.7\ntimeout_func_only = true")
    result = slow.run(plugins=TIMEOUT)
    assert "Timeout" not in str(result.stdout)
    assert asked(slow) == 3


@pytest.mark.parametrize("concurrency", ["1", "2"])
@pytest.mark.slow
def test_a_further_call_that_hangs_still_ends(slow: Example, concurrency: str) -> None:
    slow.system(
        "def rag():\n    import threading\n    over, asked = threading.Event(), []\n\n    def ask(query):\n"
        "        if 'warehouse' in query:\n            asked.append(query)\n            if len(asked) == 2:\n"
        "                over.wait(60)\n            return 'no idea', []\n        return answer(query)\n\n"
        "    yield ask\n    over.set()\n"
    )
    started = time.monotonic()
    result = slow.run("--timeout=0.5", "--auepora-concurrency", concurrency, plugins=TIMEOUT)
    assert time.monotonic() - started < 30
    assert "passed" in str(result.stdout)


def test_asking_again_does_not_wait_for_the_calls_of_others(slow: Example) -> None:
    slow.system(
        "def rag():\n    import threading\n    asked, again = [], threading.Event()\n\n    def ask(query):\n"
        "        if 'refund' in query:\n            return answer(query)\n        if 'warehouse' in query:\n"
        "            asked.append(query)\n            if len(asked) == 3:\n                again.set()\n"
        "            return 'no idea', []\n        again.wait(60)\n        return answer(query)\n\n    return ask\n"
    )
    result = slow.run("--auepora-concurrency", "2", "--timeout=30", plugins=TIMEOUT)
    assert "Timeout" not in str(result.stdout)
    result.stdout.fnmatch_lines(["*1 failed*4 passed*"])
