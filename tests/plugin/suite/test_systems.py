"""The test `suite` has the fixtures of its cases, and sets up no system of its own."""

from __future__ import annotations

import pytest

from ..conftest import Example
from ..listening import gates

NOTED = """\
def rag(request):
    with open("made.txt", "a") as file:
        print(request.node.name or "session", file=file)
    yield answer
"""
ASYNC = """\
async def rag():
    with open("made.txt", "a") as file:
        print("made", file=file)

    async def ask(query):
        return answer(query)

    yield ask
"""


@pytest.mark.parametrize(
    ("scope", "made"), [("session", 1), ("package", 1), ("module", 1), ("class", 5), ("function", 5)]
)
def test_the_system_is_made_for_cases_alone(project: Example, scope: str, made: int) -> None:
    project.system(NOTED, scope=scope)
    project.run().assert_outcomes(passed=6)
    assert len(project.read("made.txt").splitlines()) == made


@pytest.mark.parametrize("scope", ["session", "function"])
@pytest.mark.parametrize("plugin", ["pytest_asyncio.plugin", "anyio.pytest_plugin"])
def test_an_async_fixture_is_made_for_cases_alone(project: Example, plugin: str, scope: str) -> None:
    pytest.importorskip(plugin.partition(".")[0])
    decorator = "pytest_asyncio.fixture" if "asyncio" in plugin else "pytest.fixture"
    project.system(ASYNC, scope=scope, decorator=decorator)
    own: tuple[str, ...] = ()
    if "asyncio" in plugin:
        project.edit("import pathlib", "import pathlib, pytest_asyncio", "conftest.py")
        own = ("-o", f"asyncio_default_fixture_loop_scope={scope}")
    else:
        project.conftest("@pytest.fixture(scope='session')\ndef anyio_backend():\n    return 'asyncio'\n")
        project.edit("async def rag():", "async def rag(anyio_backend):", "conftest.py")
    result = project.run("-W", "default", *own, plugins=(plugin,))
    result.assert_outcomes(passed=6)
    assert len(project.read("made.txt").splitlines()) == (5 if scope == "function" else 1)


def test_a_system_that_cannot_be_made_fails_cases_and_gates(project: Example) -> None:
    project.system("def rag():\n    raise RuntimeError('no index')")
    result = project.run()
    result.assert_outcomes(errors=5, failed=1)
    assert gates(result) == ["recall@3", "error_rate"]


def test_a_system_that_is_not_there_is_skipped(project: Example) -> None:
    project.system("def rag():\n    pytest.skip('no key')")
    project.run().assert_outcomes(skipped=6)


def test_a_replay_judges_without_a_system(counted: Example) -> None:
    counted.run().assert_outcomes(passed=6)
    (counted.path / "key.txt").unlink()
    counted.run("--auepora-replay").assert_outcomes(passed=6)


def test_calls_are_made_early_across_it(project: Example) -> None:
    project.write("z.golden.yaml", project.read("shop.golden.yaml").replace("suite: shop", "suite: z"))
    project.system(
        "def rag():\n    import threading\n    together = threading.Barrier(10, timeout=20)\n"
        "    def ask(query):\n        together.wait()\n        return answer(query)\n    return ask"
    )
    project.run("--auepora-concurrency", "10").assert_outcomes(passed=12)


def test_a_suite_that_another_plugin_skips_is_still_judged(project: Example) -> None:
    project.edit("recall@3: 0.9", "mean_latency: {max: 0.000000001}")
    project.conftest("""
        def pytest_runtest_setup(item):
            if item.name == "suite":
                pytest.skip("not mine")
    """)
    result = project.run()
    assert result.ret == 1
    assert gates(result) == ["mean_latency"]
    project.edit("mean_latency: {max: 0.000000001}", "recall@3: 0.9")
    project.run().assert_outcomes(passed=5, skipped=1)
