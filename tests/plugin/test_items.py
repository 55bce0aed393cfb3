"""Whatever is wrong, the message says what came, what was expected, and nothing is lost."""

from __future__ import annotations

import re
import signal

import pytest

from .conftest import Example
from .listening import gates, judged, mistakes


def output(result: pytest.RunResult) -> str:
    return str(result.stdout) + str(result.stderr)


def timed_out(result: pytest.RunResult) -> list[str]:
    """The cases that took too long; no other may have failed."""
    cases = judged(result).run.cases.values()
    assert {case.state for case in cases if not case.timed_out} == {"passed"}
    return [case.case_id for case in cases if case.timed_out]


def test_no_rag_fixture(project: Example) -> None:
    project.write("conftest.py", "")
    result = project.run()
    assert result.ret == 1
    result.stdout.re_match_lines(
        [
            r"  5 cases \(.*",
            r" +error: LookupError: there is no fixture 'rag': write it in conftest.py",
            r".*`auepora new` does, or name yours by `fixture: my_rag`.*",
        ]
    )
    assert "error_rate" in gates(result)


def test_a_fixture_without_a_system_errs_without_a_traceback(project: Example) -> None:
    project.system("def rag():\n    pass")
    result = project.run("-rf")
    assert result.ret == 1
    cases, text = judged(result).run.cases.values(), " ".join(output(result).split())
    assert {(case.state, "rag fixture gave NoneType" in case.error) for case in cases} == {("error", True)}
    assert "as_system" not in text
    (accepted,) = {case.accepted for case in cases}
    assert text.count(accepted.partition(",")[0]) == 1


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("lambda q: None", "None"),
        ("lambda q: {}", "{}"),
        ("lambda q: 42", "42"),
        ("lambda q: {'anwser': 'x'}", "did you mean 'answer'"),
        ("lambda q: ['a', 'b']", "list"),
        ("lambda q: (q, [{'score': 1.0}])", "id"),
    ],
)
def test_a_wrong_answer_shape_shows_what_is_accepted(project: Example, body: str, told: str) -> None:
    project.system(f"def rag():\n    return {body}")
    result = project.run("-k", "warehouse")
    assert result.ret == 1
    assert told in output(result)
    assert "accepted" in output(result)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("None", "return"),
        ("42", "int"),
        ("'a string'", "str"),
        ("type('Bot', (), {'run': lambda self, s, top_k=5: 'x'})", "class"),
    ],
)
def test_a_fixture_that_is_no_system(project: Example, body: str, told: str) -> None:
    project.system(f"def rag():\n    return {body}")
    result = project.run("-k", "warehouse")
    assert result.ret == 1
    assert told in output(result)
    assert "INTERNALERROR" not in output(result)


def test_a_raising_system_fails_its_case_with_the_users_frame(project: Example) -> None:
    project.when_asked("warehouse", "raise ConnectionError('index is down')")
    result = project.run()
    text = output(result)
    assert "ConnectionError: index is down" in text
    assert "shop.py" in text
    assert "pytest_auepora" not in "\n".join(line for line in text.splitlines() if line.lstrip().startswith("File "))
    assert result.parseoutcomes()["passed"] >= 4


def test_a_system_that_hangs_is_given_up(project: Example) -> None:
    project.when_asked("warehouse", "import time; time.sleep(5)")
    project.limit_only("warehouse")
    result = project.run("--auepora-timeout", "0.5")
    assert (result.ret, timed_out(result)) == (1, ["warehouse"])


HANGING = """\
def rag():
    import threading
    over = threading.Event()

    def ask(query):
        if "warehouse" in query:
            over.wait(60)
        return answer(query)

    yield ask
    over.set()
"""
SLEEPING = HANGING.replace("def ask", "async def ask").replace("over.wait", "await asyncio.sleep")


@pytest.mark.parametrize("concurrency", ["1", "4"])
@pytest.mark.parametrize("source", [HANGING, SLEEPING], ids=["sync", "async"])
def test_a_case_may_have_a_time_limit_of_its_own(project: Example, source: str, concurrency: str) -> None:
    project.system(source)
    project.case("warehouse", "timeout: 0.5")
    result = project.run("--auepora-concurrency", concurrency)
    assert timed_out(result) == ["warehouse"]


def test_a_case_has_its_own_timeout_in_an_async_fixtures_loop(project: Example) -> None:
    pytest.importorskip("pytest_asyncio", reason="runs async fixtures")
    project.system(SLEEPING.replace("def rag", "async def rag"), decorator="pytest_asyncio.fixture")
    project.edit("import pytest\n", "import pytest\nimport pytest_asyncio\n", "conftest.py")
    project.case("warehouse", "timeout: 0.5")
    loop = "asyncio_default_fixture_loop_scope=session"
    result = project.run("-o", loop, plugins=("pytest_asyncio.plugin",))
    assert timed_out(result) == ["warehouse"]


def test_a_hanging_coroutine_is_cancelled(project: Example) -> None:
    project.system(
        "def rag():\n    async def ask(query):\n"
        "        if 'warehouse' in query:\n            await asyncio.sleep(600)\n"
        "        return answer(query)\n    return ask"
    )
    project.limit_only("warehouse")
    result = project.run("--auepora-timeout", "0.5")
    assert (result.ret, timed_out(result)) == (1, ["warehouse"])


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="no such signal there")
@pytest.mark.parametrize("scope", ["session", "function"])
@pytest.mark.slow
def test_a_blocked_loop_holds_no_other_case_up(project: Example, scope: str) -> None:
    project.system(
        "def rag():\n    async def ask(query):\n        if 'refund' in query:\n"
        "            signal.pthread_kill(threading.main_thread().ident, signal.SIGALRM)  # pytest-timeout's, at once\n"
        "            OVER.wait(90)\n        return answer(query)\n    return ask\n\n\n"
        "import signal, threading\nOVER = threading.Event()\n\n\ndef pytest_sessionfinish():\n    OVER.set()",
        scope=scope,
    )
    result = project.run("--timeout", "20", plugins=("pytest_timeout",))
    assert "from pytest-timeout" in output(result)
    assert re.search(r"1 errored \(.*\), 4 passed", output(result))


def test_a_fixture_that_raises_is_an_errored_case(project: Example) -> None:
    project.system("def rag():\n    raise RuntimeError('no index')")
    result = project.run()
    assert result.ret == 1
    assert "no index" in output(result)
    assert "error_rate" in gates(result)


WRONG = [
    ("  - id: warehouse", "  - id: refund-window", ":13:9", "refund-window"),
    ("metrics: [recall@1,", "metrics: [recal@1,", ":2:11", "did you mean 'recall@1'"),
    ("metrics: [recall@1,", "metrics: [recall@0,", ":2:11", "at least 1"),
    ("  recall@3: 0.9", "  recall@7: 0.9", ":4:3", "recall@7"),
    ("  recall@3: 0.9", "  recall@3: .nan", ":4:13", "finite number"),
    ("  recall@3: 0.9", "  recall@3: 90", ":4:13", "0.9"),
    ("    relevant_docs: [shipping]", "    relevant_doc: [shipping]", ":15:5", "did you mean 'relevant_docs'"),
    ("    query: When do parcels leave the warehouse?", "    query: a\n    query: b", ":15:5", "given twice"),
    (
        "  - id: warehouse",
        "  - id: warehouse\n    variant_of: refund-windo",
        ":14:17",
        "did you mean 'refund-window'",
    ),
    ("  recall@3: 0.9", "  mrr: {min: 0.5, slice: {scenario: typo}}", ":4:3", "no case has scenario: typo"),
    ("  - id: warehouse", "  - id: a::b", ":13:9", "::"),
    ("  - id: warehouse", "  - id: no", ":13:9", "quote"),
    ("    relevant_docs: [shipping]", "\trelevant_docs: [shipping]", ":15", "tab"),
]
"""What is edited, what it becomes, where the mistake is, what is said of it."""


def test_a_wrong_golden_file_is_located(project: Example) -> None:
    right = project.read("shop.golden.yaml")
    project.golden.unlink()
    for number, (old, new, _, _) in enumerate(WRONG):
        assert right.count(old) == 1
        project.write(f"{number}.golden.yaml", right.replace(old, new))
    result = project.run()
    text = output(result)
    assert result.ret == 2, text
    assert "Traceback" not in text
    for number, (_, _, place, told) in enumerate(WRONG):
        _, _, rest = text.partition(f" ERROR collecting {number}.golden.yaml ")
        part, _, _ = rest.partition(" ERROR collecting ")
        assert f"{number}.golden.yaml{place}" in part
        assert told in part


@pytest.mark.slow
def test_several_problems_at_once(project: Example) -> None:
    project.edit("  recall@3: 0.9", "  recall@7: 0.9")
    project.edit("tags: [smoke]", "tag: [smoke]")
    limit, key = mistakes(project.run())
    assert (limit.line, "recall@7" in limit.message) == (4, True)
    assert (key.line, "'tags'" in key.message) == (11, True)


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"cases: []", b"- 1"])
def test_files_without_cases(project: Example, content: bytes) -> None:
    project.golden.write_bytes(content)
    result = project.run()
    assert result.ret == 2
    assert "shop.golden.yaml" in output(result)
    assert "Traceback" not in output(result)


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("concurrency", "0", "--auepora-concurrency 0: expected more than 0"),
        ("timeout", "-1", "--auepora-timeout -1.0: expected more than 0"),
        ("timeout", "nan", "--auepora-timeout nan: expected more than 0"),
        ("repeat", "0", "--auepora-repeat 0: expected more than 0"),
        ("repeat", "-3", "--auepora-repeat -3: expected more than 0"),
        ("seed", "-1", "--auepora-seed -1: expected 0 or more"),
        ("seed", "x", "--auepora-seed: invalid int value: 'x'"),
    ],
)
def test_a_wrong_number_of_an_option(project: Example, option: str, value: str, message: str) -> None:
    result = project.run(f"--auepora-{option}", value)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert message in output(result)


def test_names_of_exceptions_that_are_none(project: Example) -> None:
    project.pytester.makeini("[pytest]\nauepora_retry = ConnectionError,TimeoutError")
    result = project.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: auepora_retry = ConnectionError,TimeoutError: *"])
