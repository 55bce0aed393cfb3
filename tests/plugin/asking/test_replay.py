"""Earlier runs that answer in place of the system: judged again without a call, or resumed where they stopped."""

from __future__ import annotations

import re
from typing import Any

import pytest

from ..conftest import Example
from ..counting import CASES, calls, lock_out, store
from ..listening import gates, notes


def judged(project: Example, run: str = "last") -> dict[str, Any]:
    """Everything a stored verdict says, unrounded, but who it is about."""
    verdict = store(project).verdict(run)
    return {k: getattr(verdict, k) for k in ("gates", "aggregates", "comparison", "failed_cases")}


def test_a_replay_needs_no_system_and_gives_the_same_verdict(counted: Example) -> None:
    counted.accept()
    counted.break_retriever()
    assert counted.run().ret == 1
    assert calls(counted) == (2 + 1) * CASES + 3  # a case that fell is asked until it failed four times
    lock_out(counted)
    result = counted.run("--auepora-replay", auepora=False)
    assert result.ret == 1
    assert calls(counted) == 0
    replayed, then = store(counted).runs(2)
    assert judged(counted) == judged(counted, then.run_id)
    assert (replayed.origin["kind"], replayed.origin["run"]) == ("replayed", then.run_id)
    assert notes(result)["replayed"].detail == then.run_id
    assert store(counted).load("last").origin == {"kind": "replayed", "run": then.run_id, "taken": CASES}


def test_new_metrics_and_thresholds_judge_the_old_answers(counted: Example) -> None:
    assert counted.run().ret == 0
    lock_out(counted)
    counted.edit("metrics: [", "metrics: [k_precision, rougeL, ")
    counted.edit("  recall@3: 0.9", "  recall@3: 0.9\n  rougeL: 0.9")
    result = counted.run("--auepora-replay")
    assert gates(result) == ["rougeL"]
    scores = store(counted).load("last").cases["warranty"].scores
    assert scores["k_precision"].value is not None  # it reads the whole texts of what was retrieved


def test_a_replay_of_a_replay_is_one_of_the_run_that_asked(counted: Example) -> None:
    counted.run()
    first = store(counted).runs(1)[0].run_id
    for name in ("last", "last", None):
        counted.run(f"--auepora-replay={name or store(counted).runs(1)[0].run_id}")
        assert store(counted).runs(1)[0].origin["run"] == first


def test_what_the_run_cannot_answer_is_an_error_and_no_call(counted: Example) -> None:
    counted.run("--deselect", "shop.golden.yaml::free-returns")
    calls(counted)
    counted.edit("Within how many days", "In how many days")
    counted.case("warranty", "top_k: 3")
    counted.edit("  - id: ceo-salary\n", "  - id: new-one\n    query: New?\n  - id: ceo-salary\n")
    lock_out(counted)
    result = counted.run("--auepora-replay", "-rf")
    assert result.ret == 1
    assert calls(counted) == 0
    errors = {i: c.error for i, c in store(counted).load("last").cases.items() if c.state == "error"}
    assert errors.keys() == {"refund-window", "free-returns", "warranty", "new-one"}
    assert len({error.rpartition(": ")[2] for error in errors.values()}) == 4, "each has its own reason"
    assert re.search("5 .* 3", errors["warranty"]), "the documents asked for then and now"
    assert re.search("4 of 5", errors["free-returns"])
    assert "error_rate" in gates(result)


def test_an_error_then_is_the_same_error_now(counted: Example) -> None:
    counted.write("down.txt", "")
    counted.run()
    lock_out(counted)
    counted.run("--auepora-replay")
    again, then = (store(counted).load(f"last{back}").cases["warehouse"] for back in ("", "~1"))
    assert then.error.startswith("ConnectionError: no route")
    assert (again.state, again.error, again.scores) == (then.state, then.error, then.scores)


@pytest.mark.parametrize("how", ["serial", pytest.param("two processes", marks=pytest.mark.slow)])
def test_resuming_asks_only_what_is_missing(counted: Example, how: str) -> None:
    counted.write("down.txt", "")
    counted.run("-x")
    assert calls(counted) == 1 + 3  # what raises fails if it does so three times
    (counted.path / "down.txt").unlink()
    if how == "serial":
        result = counted.run("--auepora-resume")
    else:
        pytest.importorskip("xdist", reason="needs pytest-xdist")
        result = counted.run("--auepora-resume", "-n", "2", plugins=("xdist",))
    assert result.ret == 0
    assert calls(counted) == CASES - 1
    run = store(counted).load("last")
    assert (run.origin["kind"], run.origin["taken"], run.is_full) == ("resumed", 1, True)
    assert notes(result)["resumed"].data == {"taken": 1, "cases": CASES}
    assert counted.run("--auepora-replay").ret == 0  # what was taken is recorded in the new run as well
    assert calls(counted) == 0


def test_resuming_under_other_conditions_takes_nothing(counted: Example) -> None:
    hook = "\n\ndef pytest_auepora_provenance():\n    return {'model': pathlib.Path('model.txt').read_text()}\n"
    counted.conftest(hook)
    counted.write("model.txt", "m-1")
    counted.run()
    counted.write("model.txt", "m-2")
    calls(counted)
    lock_out(counted)
    counted.run("--auepora-replay")  # judged as what it was
    assert (calls(counted), store(counted).load("last").provenance["model"]) == (0, "m-1")
    counted.write("key.txt", "")
    result = counted.run("--auepora-resume")
    assert calls(counted) == CASES
    why = notes(result)["recorded otherwise"].why
    assert why is not None
    assert why.changes == (("model", "m-1", "m-2"),)
    assert store(counted).load("last").origin["taken"] == 0


@pytest.mark.slow
def test_a_killed_run_is_stored_by_the_next_and_can_be_resumed(counted: Example) -> None:
    counted.edit("client(query)", "client(query) if 'label' not in query else __import__('os')._exit(9)", "conftest.py")
    assert counted.run_apart("-p", "no:xdist").ret == 9
    assert calls(counted) == 3
    assert not store(counted).exists()
    assert list((counted.path / ".auepora").glob("unfinished-*"))
    counted.edit(" if 'label' not in query else __import__('os')._exit(9)", "", "conftest.py")
    assert counted.run("--auepora-resume").ret == 0
    assert calls(counted) == CASES - 2
    resumed, killed = store(counted).runs()
    assert (killed.outcome, killed.complete, killed.cases) == ("not judged", False, 2)
    assert (resumed.origin["kind"], resumed.origin["run"]) == ("resumed", killed.run_id)
    assert not list((counted.path / ".auepora").glob("unfinished-*"))


def test_the_answers_of_a_run_whose_hook_failed_are_taken(counted: Example) -> None:
    counted.conftest("def pytest_auepora_run_finished():\n    1 / 0\n")
    assert counted.run().ret == pytest.ExitCode.TESTS_FAILED
    counted.edit("\n\ndef pytest_auepora_run_finished():\n    1 / 0\n", "", "conftest.py")
    calls(counted)
    assert counted.run("--auepora-resume").ret == 0
    assert calls(counted) == 0


@pytest.mark.parametrize("extra", [(), ("--auepora-repeat", "3")])
def test_every_repeat_is_recorded_by_itself(counted: Example, extra: tuple[str, ...]) -> None:
    counted.edit(
        "        return client(query)", "        text, docs = client(query)\n"
        "        n = pathlib.Path('calls.txt').read_text().count('warehouse')\n"
        "        return text, docs[::-1] if 'warehouse' in query and n % 2 else docs", "conftest.py",
    )  # fmt: skip
    counted.edit("  recall@3: 0.9", "  recall@3: 0.5")
    counted.edit("suite: shop\n", "suite: shop\nrepeat: 2\n")
    counted.run(*extra)
    lock_out(counted)
    counted.run("--auepora-replay")
    n = 3 if extra else 2
    assert calls(counted) == n * CASES
    replayed, then = (store(counted).load(f"last{back}") for back in ("", "~1"))
    assert then.cases["warehouse"].answers == replayed.cases["warehouse"].answers
    assert len(then.cases["warehouse"].values("mrr")) == n
    assert judged(counted) == judged(counted, "last~1")
    counted.run("--auepora-replay", "--auepora-repeat", "4")
    assert re.search(rf" {n} times.* {n + 1}\b", store(counted).load("last").cases["warranty"].error)


def test_each_configuration_is_replayed_from_its_own_run(counted: Example) -> None:
    counted.edit('@pytest.fixture(scope="session")\ndef rag(client):', '@pytest.fixture(scope="session", '
                 'params=["good", "bad"])\ndef rag(client, request):', "conftest.py")  # fmt: skip
    counted.edit(
        "return client(query)", "return client(query) if request.param == 'good' else ('no', [])", "conftest.py"
    )
    counted.run()
    then = {run.variant: judged(counted, run.run_id) for run in store(counted).runs()}
    bad = next(run.run_id for run in store(counted).runs() if run.variant == "bad")
    calls(counted)
    lock_out(counted)
    counted.run("--auepora-replay")
    assert calls(counted) == 0
    assert {run.variant: judged(counted, run.run_id) for run in store(counted).runs(2)} == then
    counted.run(f"--auepora-replay={bad}", "-k", "good and warranty")
    assert "shop[good]" in store(counted).load("last").cases["warranty"].error


@pytest.mark.parametrize("loop", ["asyncio", "anyio"])
def test_an_async_fixture_is_not_set_up_either(counted: Example, loop: str) -> None:
    pytest.importorskip("pytest_asyncio" if loop == "asyncio" else "anyio", reason=f"needs {loop}")
    backend = (
        ""
        if loop == "asyncio"
        else "\n\n@pytest.fixture(scope='session')\ndef anyio_backend():\n    return 'asyncio'\n"
    )
    wanted = "" if loop == "asyncio" else "anyio_backend, "
    decorator = "pytest_asyncio.fixture" if loop == "asyncio" else "pytest.fixture"
    counted.system(
        f"async def rag({wanted}tmp_path_factory):\n    assert pathlib.Path('key.txt').exists()\n\n"
        "    async def ask(query):\n        with open('calls.txt', 'a') as file:\n            file.write('x\\n')\n"
        f"        return answer(query)\n\n    return ask\n{backend}", decorator=decorator,
    )  # fmt: skip
    if loop == "asyncio":
        counted.edit("import asyncio\n", "import asyncio\nimport pytest_asyncio\n", "conftest.py")
    counted.pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = session")
    plugins = ("pytest_asyncio.plugin",) if loop == "asyncio" else ("anyio.pytest_plugin",)
    assert counted.run(plugins=plugins).ret == 0
    assert calls(counted) == CASES
    lock_out(counted)
    assert counted.run("--auepora-replay", plugins=plugins).ret == 0
    assert calls(counted) == 0
    assert judged(counted) == judged(counted, "last~1")


def test_a_timed_case_is_replayed_and_not_timed(counted: Example) -> None:
    pytest.importorskip("pytest_benchmark", reason="needs pytest-benchmark")
    counted.case("warehouse", "benchmark: {rounds: 3}")
    counted.run(plugins=("pytest_benchmark.plugin",))
    assert calls(counted) == CASES + 2
    lock_out(counted)
    assert counted.run("--auepora-replay").ret == 0  # without pytest-benchmark
    assert calls(counted) == 0
    again, then = (store(counted).load(f"last{back}").cases["warehouse"] for back in ("", "~1"))
    assert again.seconds == then.seconds > 0
    assert again.outputs["timings"] == then.outputs["timings"]


@pytest.mark.slow
@pytest.mark.parametrize(("asked", "concurrency"), [((), 1), (("-n", "2"), 2)], ids=["alone", "by two"])
def test_a_replay_judges_the_latency_of_its_run(timed: Example, asked: tuple[str, ...], concurrency: int) -> None:
    pytest.importorskip("xdist", reason="needs pytest-xdist")
    assert timed.run("--auepora-update", *asked, plugins=("xdist",)).ret == 0
    accepted = timed.baseline.read_text()
    timed.baseline.write_text(accepted.replace('"mean_latency": 1.0', '"mean_latency": 0.5'))
    for how in ((), ("-n", "2")):
        assert gates(timed.run("--auepora-replay", *how, plugins=("xdist",))) == ["regression: mean_latency"]
        assert {case.concurrency for case in store(timed).load("last").cases.values()} == {concurrency}


def test_fixture_and_marker_in_test_files(counted: Example) -> None:
    counted.write(
        "test_quality.py",
        "import pytest\n\n\ndef test_all(auepora):\n    assert auepora.evaluate('shop.golden.yaml')['mrr'] == 1.0\n"
        "\n\n@pytest.mark.auepora('shop.golden.yaml')\ndef test_each(auepora_case):\n"
        "    assert auepora_case.answer\n",
    )
    assert counted.run("test_quality.py").ret == 0
    assert calls(counted) == 2 * CASES
    lock_out(counted)
    assert counted.run("test_quality.py", "--auepora-replay").ret == 0
    assert calls(counted) == 0


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--auepora-replay", "-o", "auepora_history=off"], "history is switched off"),
        (["--auepora-replay", "--auepora-resume"], "give one of them"),
        (["--auepora-replay=last"], "the answers of no runs"),
        (["--auepora-resume=261121-101010"], "no run '261121-101010'"),
    ],
)
def test_what_cannot_be_replayed_is_a_usage_error(counted: Example, args: list[str], message: str) -> None:
    result = counted.run(*args)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert message in str(result.stderr)
    assert calls(counted) == 0


def test_a_path_behind_the_option_is_a_path(counted: Example) -> None:
    counted.run()
    counted.write("elsewhere/other.golden.yaml", "cases:\n  - {id: a, query: b}\n")
    counted.run("--auepora-replay", "shop.golden.yaml")
    assert store(counted).runs(1)[0].suite == "shop"
    assert len(store(counted).runs()) == 2
