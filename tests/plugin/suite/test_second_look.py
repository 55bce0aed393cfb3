"""A suite that varies is asked once more before it fails: behind its cases, once, while its system lives."""

from __future__ import annotations

import pytest

from pytest_auepora.cli.main import main

from ..conftest import Example
from ..counting import store
from ..listening import gates, notes, outcomes
from .varying import N_CASES, accepted, calls, says, vary

CHANCE = "bad good"
"""The first answers are bad, the second ones are not: chance."""
WORSE = "bad"


@pytest.fixture
def varying(project: Example) -> Example:
    return accepted(vary(project))


def test_chance_alone_does_not_fail_it(varying: Example) -> None:
    says(varying, CHANCE)
    result = varying.run()
    asked = calls(varying)
    assert (result.ret, len(asked)) == (0, 2 * N_CASES), str(result.stdout)
    result.assert_outcomes(passed=N_CASES + 1)
    assert len(set(asked[:N_CASES])) == len(set(asked[N_CASES:])) == N_CASES, "it asks behind all cases"
    assert varying.read("made.txt").count("made") == 1, "the system of the cases is asked"


def test_a_worse_system_fails_it(varying: Example) -> None:
    says(varying, WORSE)
    result = varying.run()
    assert (result.ret, len(calls(varying))) == (1, 2 * N_CASES)
    result.assert_outcomes(passed=N_CASES, failed=1)
    assert "regression: recall@1" in gates(result)
    gate = outcomes(result)["regression: recall@1"]
    assert (gate.word, gate.look, gate.value) == ("worse", "second", 0.0)
    assert "auepora help non-deterministic" in " ".join(str(result.stdout).split()), "no URL is known"
    assert main(["help", "non-deterministic"]) == 0


def test_it_knows_what_it_can_see(varying: Example) -> None:
    """Where answers are lost, the drop of a mean says too much: so both."""
    says(varying, "turn good bad good good")
    test = outcomes(varying.run())["regression: recall@1"].test
    assert test is not None
    assert test.detectable is not None
    assert test.detectable_answers is not None
    assert 0 < test.detectable < 1 <= test.detectable_answers <= 9


def test_it_asks_nothing_where_nothing_got_worse(varying: Example) -> None:
    says(varying, "good")
    assert varying.run().ret == 0
    assert len(calls(varying)) == N_CASES


@pytest.mark.parametrize(("ask", "n_calls"), [("def", 4), ("async def", 1), ("async def", 4)])
@pytest.mark.slow
def test_calls_are_made_side_by_side(project: Example, ask: str, n_calls: int) -> None:
    accepted(vary(project, ask=ask))
    for words, failed in ((CHANCE, 0), (WORSE, 1)):
        says(project, words)
        assert project.run(f"--auepora-concurrency={n_calls}").ret == failed
        assert len(calls(project)) == 2 * N_CASES


@pytest.mark.parametrize("scope", ["package", "module"])
def test_the_system_of_the_cases_is_asked(project: Example, scope: str) -> None:
    accepted(vary(project, scope=scope))
    says(project, CHANCE)
    assert project.run().ret == 0
    assert len(calls(project)) == 2 * N_CASES
    assert project.read("made.txt").count("made") == 1


@pytest.mark.parametrize("scope", ["class", "function"])
@pytest.mark.slow
def test_a_system_for_one_test_alone_is_not_asked(project: Example, scope: str) -> None:
    accepted(vary(project, scope=scope))
    says(project, WORSE)
    result = project.run()
    assert (result.ret, len(calls(project))) == (1, N_CASES)
    assert (notes(result)["looked once"].detail, notes(result)["looked once"].names) == ("scope", ("rag",))
    replayed = project.run("--auepora-replay")
    assert (replayed.ret, notes(replayed)["looked once"].detail) == (1, "replay")


@pytest.mark.parametrize("scope", ["session", "module"])
def test_an_async_fixture_is_asked_in_its_loop(project: Example, scope: str) -> None:
    pytest.importorskip("pytest_asyncio")
    options = ("-o", f"asyncio_default_fixture_loop_scope={scope}", "-W", "ignore")
    decorator = "pytest_asyncio.fixture"
    vary(project, scope=scope, decorator=decorator, define="async def", ask="async def")
    project.edit("import pathlib", "import pathlib, pytest_asyncio", "conftest.py")
    accepted(project, *options, plugins=("pytest_asyncio.plugin",))
    says(project, CHANCE)
    result = project.run(*options, plugins=("pytest_asyncio.plugin",))
    assert (result.ret, len(calls(project))) == (0, 2 * N_CASES), str(result.stdout)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_an_anyio_fixture_is_asked_in_its_loop(project: Example, backend: str) -> None:
    pytest.importorskip("anyio")
    vary(project, define="async def", ask="async def", arguments="anyio_backend")
    project.conftest(f"@pytest.fixture(scope='session')\ndef anyio_backend():\n    return {backend!r}\n")
    accepted(project, plugins=("anyio.pytest_plugin",))
    says(project, CHANCE)
    result = project.run(plugins=("anyio.pytest_plugin",))
    assert (result.ret, len(calls(project))) == (0, 2 * N_CASES), str(result.stdout)


@pytest.mark.slow
def test_each_configuration_has_its_own_look(project: Example) -> None:
    vary(project)
    project.edit("scope='session')", "scope='session', params=['a', 'b'])", "conftest.py")
    accepted(project)
    says(project, CHANCE)
    assert project.run().ret == 0
    assert len(calls(project)) == 2 * 2 * N_CASES


def test_a_rerun_asks_nothing_again(varying: Example) -> None:
    pytest.importorskip("pytest_rerunfailures")
    says(varying, WORSE)
    result = varying.run("--reruns=2", plugins=("pytest_rerunfailures",))
    assert result.parseoutcomes() == {"passed": N_CASES, "failed": 1, "rerun": 2}
    assert len(calls(varying)) == 2 * N_CASES


def test_a_run_without_the_suite_asks_nothing_again(varying: Example) -> None:
    without: dict[tuple[str, ...], int] = {
        ("-k", "c01 or c02"): 2, ("-k", "not suite"): N_CASES, ("--deselect", "shop.golden.yaml::suite"): N_CASES,
        ("--collect-only",): 0,
    }  # fmt: skip
    for args, n_calls in without.items():
        says(varying, WORSE)
        varying.run(*args)
        assert len(calls(varying)) == n_calls, args


@pytest.mark.slow
def test_a_replay_reads_the_second_answers(varying: Example) -> None:
    for words, failed in ((CHANCE, 0), (WORSE, 1)):
        says(varying, words)
        assert varying.run().ret == failed
        first = store(varying).load("last")
        says(varying, "good")
        result = varying.run("--auepora-replay")
        assert (result.ret, calls(varying)) == (failed, []), str(result.stdout)
        assert "looked once" not in notes(result)
        again = store(varying).load("last")
        assert [case.scores for case in again.cases.values()] == [case.scores for case in first.cases.values()]


@pytest.mark.slow
@pytest.mark.parametrize("dist", ["load", "loadfile", "worksteal"])
def test_workers_look_once_and_say_so(varying: Example, dist: str) -> None:
    pytest.importorskip("xdist", reason="needs pytest-xdist")
    says(varying, WORSE)
    result = varying.run("-n", "2", "--dist", dist, plugins=("xdist",))
    assert (result.ret, len(calls(varying))) == (1, N_CASES)
    result.assert_outcomes(passed=N_CASES, failed=1)
    assert notes(result)["looked once"].detail == "workers"


def test_a_test_that_evaluates_has_its_own_look(varying: Example) -> None:
    varying.write(
        "test_it.py", "def test_it(auepora):\n    auepora.evaluate('shop.golden.yaml').assert_no_regression()\n"
    )
    says(varying, CHANCE)
    varying.run("test_it.py").assert_outcomes(passed=1 + 1)
    assert len(calls(varying)) == 2 * N_CASES
    says(varying, WORSE)
    varying.run("test_it.py").assert_outcomes(failed=1 + 1)
    assert len(calls(varying)) == 2 * N_CASES


def test_a_time_limit_for_tests_does_not_end_it(varying: Example) -> None:
    pytest.importorskip("pytest_timeout")
    varying.edit("        return (f", "        import time; time.sleep(0.15)\n        return (f", "conftest.py")
    says(varying, CHANCE)
    result = varying.run("--timeout=1", plugins=("pytest_timeout",))
    assert (result.ret, len(calls(varying))) == (0, 2 * N_CASES), str(result.stdout)
