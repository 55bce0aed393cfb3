"""Calls ahead of time: they overlap, and still everything belongs to the item that owns it."""

from __future__ import annotations

import re

import pytest

from ..conftest import Example

COUNTING = """\
def rag():
    import threading, time
    state = {"running": 0, "most": 0}
    lock = threading.Lock()

    def ask(query):
        with lock:
            state["running"] += 1
            state["most"] = max(state["most"], state["running"])
            print("asked", query)
        time.sleep(0.05)
        with lock:
            state["running"] -= 1
        %s
        return answer(query)

    yield ask
    pathlib.Path("most.txt").write_text(str(state["most"]))
"""


TOGETHER = """end = time.monotonic() + 30
        while state["most"] < 3 and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(0.05)  # for one too many"""


def most(project: Example) -> int:
    return int((project.path / "most.txt").read_text())


def test_calls_overlap_up_to_the_concurrency(project: Example) -> None:
    project.system((COUNTING % "").replace("time.sleep(0.05)", TOGETHER))
    assert project.run("--auepora-concurrency", "3").ret == 0
    assert most(project) == 3
    project.system(COUNTING % "")
    assert project.run().ret == 0
    assert most(project) == 1  # clients of sync systems may not be thread-safe, so one at a time unless asked


def test_async_systems_overlap_by_themselves(project: Example) -> None:
    project.system(
        "def rag():\n    state = [0, 0]\n    async def ask(query):\n        state[0] += 1\n"
        "        state[1] = max(state)\n        for _ in range(3000):\n            if state[1] == 5: break\n"
        "            await asyncio.sleep(0.01)\n        state[0] -= 1\n"
        "        return answer(query)\n    yield ask\n    pathlib.Path('most.txt').write_text(str(state[1]))"
    )
    assert project.run().ret == 0
    assert most(project) == 5


def test_an_exception_belongs_to_its_own_case(project: Example) -> None:
    project.system(COUNTING % "if 'warranty' in query: raise ValueError('only mine')")
    result = project.run("--auepora-concurrency", "4", "-v")
    assert re.findall(r"shop.golden.yaml::(\S+) FAILED", str(result.stdout)) == ["warranty", "suite"]


def test_output_is_shown_with_the_case_that_printed_it(project: Example) -> None:
    project.system(COUNTING % "if 'warranty' in query: raise ValueError('only mine')")
    text = str(project.run("--auepora-concurrency", "4").stdout)
    captured = text.split("Captured stdout call")[1]
    assert "asked How many months" in captured
    assert text.count("asked ") == captured.count("asked How many months") == 3  # the others passed


def test_each_case_has_its_own_words_and_log_records(project: Example) -> None:
    project.system(COUNTING % "import logging; logging.warning('logged %s', query)")
    text = str(project.run("--auepora-concurrency", "4", "-rP").stdout)
    passed = text[text.index("= PASSES =") : text.index("= auepora =")]
    shown = re.split(r"^_+ (\S+) _+$", passed, flags=re.MULTILINE)[1:]
    told = {
        name: re.findall(r"(?:^|\d )(asked|logged) .*?(\w+)\?$", lines, re.MULTILINE)
        for name, lines in zip(shown[::2], shown[1::2], strict=True)
    }
    ends = {
        "refund-window": "purchase",
        "warehouse": "warehouse",
        "free-returns": "label",
        "warranty": "delivery",
        "ceo-salary": "plugh",
    }
    assert told == {name: [("asked", end), ("logged", end)] for name, end in ends.items()}


def test_output_while_pytest_reports_stays_off_the_terminal(project: Example) -> None:
    """Between phases pytest captures nothing; a call that runs then still keeps its words to itself."""
    project.system(
        "def rag():\n    def ask(query):\n        if 'warehouse' in query:\n            REPORTING.wait(20)\n"
        "            print('said meanwhile')\n            SAID.set()\n        return answer(query)\n    return ask\n\n"
        "import threading\nREPORTING, SAID = threading.Event(), threading.Event()\n\n\n"
        "def pytest_runtest_logreport(report):\n    if report.when == 'call' and not REPORTING.is_set():\n"
        "        REPORTING.set()\n        assert SAID.wait(20)"
    )
    quiet = project.run("--auepora-concurrency", "4")
    assert quiet.ret == 0
    assert "said meanwhile" not in str(quiet.stdout)
    assert "said meanwhile" in str(project.run("--auepora-concurrency", "4", "-rP").stdout).split("warehouse")[-1]


ADDED = "\n\ndef pytest_collection_modifyitems(items):\n    items[1].add_marker(pytest.mark.{})\n"
ASKED = {"refund": 1, "warehouse": 1, "returns": 1, "warranty": 1, "Xyzzy": 1}


@pytest.mark.parametrize(
    ("key", "added", "warehouse", "outcomes"),
    [
        ("skip: why", "", 0, {"passed": 5, "skipped": 1}),
        ("xfail: why", "", 1, {"passed": 5, "xpassed": 1}),
        ("tags: []", "skip", 0, {"passed": 5, "skipped": 1}),
        ("tags: []", "xfail(run=False)", 0, {"passed": 5, "xfailed": 1}),
    ],
)
def test_what_is_not_run_is_not_asked_and_all_else_once(
    counted: Example, key: str, added: str, warehouse: int, outcomes: dict[str, int]
) -> None:
    counted.case("warehouse", f"{key}")
    if added:
        counted.conftest(ADDED.format(added))
    counted.run("--auepora-concurrency", "4").assert_outcomes(**outcomes)
    asked = counted.read("calls.txt")
    assert {word: asked.count(word) for word in ASKED} == ASKED | {"warehouse": warehouse}


def test_a_function_scoped_fixture_means_no_early_call(project: Example) -> None:
    project.system(COUNTING % "", scope="function")
    assert project.run("--auepora-concurrency", "4").ret == 0
    assert most(project) == 1


def test_exit_first_wastes_little_and_stops(project: Example) -> None:
    project.system(COUNTING % "if 'refund' in query: raise ValueError('first')")
    result = project.run("-x", "--auepora-concurrency", "2")
    assert result.ret == 1
    assert result.parseoutcomes() == {"failed": 1}


def test_the_verdict_is_the_same(project: Example, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")  # a line with times in it is one, however many digits those have
    project.accept()
    project.break_retriever()
    one, many = project.run(), project.run("--auepora-concurrency", "4")

    def shape(result: pytest.RunResult) -> list[str]:
        timed = (" in ", "latency", "auepora:")
        return [line for line in result.outlines if not any(word in line for word in timed)]

    assert one.ret == many.ret == 1
    assert any(line.startswith("latency: ") and line.endswith(" over 5 cases") for line in one.outlines)
    assert shape(one) == shape(many)


def test_named_exceptions_are_retried_and_counted(project: Example) -> None:
    project.system(
        "def rag():\n    seen = []\n    class Busy(Exception):\n        retry_after = 0.01\n    def ask(query):\n"
        "        seen.append(query)\n        if 'warranty' in query and seen.count(query) < 3: raise Busy('429')\n"
        "        return answer(query)\n    return ask"
    )
    project.edit("metrics: [", "metrics: [retries, ")
    refused = project.run()
    assert refused.ret == 1
    project.pytester.makeini("[pytest]\nauepora_retry = Busy")
    result = project.run()
    assert result.ret == 0
    result.stdout.re_match_lines([r"retries +0\.400 +5/5"])


UNHANDLED = "pytest.PytestUnhandledThreadExceptionWarning"


def test_an_exception_that_cannot_print_ends_its_case_alone(project: Example) -> None:
    project.system(
        "def rag():\n    class Busy(Exception):\n        retry_after = 0.01\n        def __str__(self):\n"
        "            return {'code': 429}\n    def ask(query):\n"
        "        if 'warranty' in query: raise Busy\n        return answer(query)\n    return ask"
    )
    project.pytester.makeini("[pytest]\nauepora_retry = Busy")
    result = project.run("--auepora-concurrency", "3", "--auepora-timeout", "60", "-W", f"error::{UNHANDLED}")
    result.stdout.re_match_lines(["error: .*Busy: <exception str\\(\\) failed> \\(3 attempts\\)"])
    result.stdout.fnmatch_lines(["1 errored*4 passed*"])


def test_a_case_that_was_retried_in_vain_says_how_often(project: Example) -> None:
    project.system(
        "def rag():\n    class Busy(Exception):\n        retry_after = 0.01\n    def ask(query):\n"
        "        if 'warranty' in query: raise Busy('429')\n        return answer(query)\n    return ask"
    )
    project.pytester.makeini("[pytest]\nauepora_retry = Busy")
    project.run().stdout.re_match_lines(["error: .*Busy: 429 \\(3 attempts\\)"])
