"""Golden cases are pytest functions: whatever selects, orders, marks or reports tests works on them."""

from __future__ import annotations

import re
import signal

import pytest

from .conftest import Example
from .listening import judged


def test_node_ids_are_the_case_ids_in_file_order(project: Example) -> None:
    result = project.run("--co", "-q")
    result.stdout.fnmatch_lines(
        ["shop.golden.yaml::refund-window", "shop.golden.yaml::warehouse", "shop.golden.yaml::free-returns"]
    )


def test_a_node_id_selects_one_case_and_gates_are_not_judged(project: Example) -> None:
    result = project.run("shop.golden.yaml::warehouse")
    result.assert_outcomes(passed=1)
    assert "1 of 5" in str(result.stdout)
    assert "not judged" in str(result.stdout)


def test_keyword_selection(project: Example) -> None:
    project.run("-k", "warehouse or salary").assert_outcomes(passed=2, deselected=4)
    project.run("-k", "__test__").assert_outcomes(deselected=6)  # an attribute of the functions, not a keyword


def test_last_failed_runs_the_failed_case_alone(project: Example) -> None:
    project.case("warranty", "thresholds: {token_f1: 0.9}")
    project.run(cache=True).assert_outcomes(passed=5, failed=1)
    second = project.run("--lf", cache=True)
    second.assert_outcomes(failed=1)
    assert "warranty" in str(second.stdout)
    assert "1 of 5 cases" in str(second.stdout)


def test_exit_first_stops_and_does_not_judge_the_suite(project: Example) -> None:
    project.break_retriever()
    result = project.run("-x")
    assert result.ret == 1
    text = str(result.stdout)
    assert "stopping after 1 failures" in text
    assert result.parseoutcomes() == {"failed": 1}


@pytest.mark.parametrize("flag", ["--setup-plan", "--fixtures-per-test", "--setup-only"])
def test_fixture_listings_do_not_break(project: Example, flag: str) -> None:
    result = project.run(flag)
    assert result.ret == 0
    assert "INTERNALERROR" not in str(result.stdout) + str(result.stderr)


def test_skip_and_xfail_of_the_golden_file(project: Example) -> None:
    project.case("warehouse", "skip: moved")
    project.edit("  - id: free-returns\n", "  - id: free-returns\n    xfail: known\n    thresholds: {mrr: 1.0}\n")
    project.edit("relevant_docs: [returns]", "relevant_docs: [refunds]")
    result = project.run("-rsx")
    outcomes = result.parseoutcomes()
    assert (outcomes["skipped"], outcomes["xfailed"]) == (1, 1)
    assert "moved" in str(result.stdout)


def test_fixtures_of_a_directory_override(project: Example) -> None:
    project.write("sub/conftest.py", "import pytest\n@pytest.fixture\ndef rag():\n    return lambda q: 'nothing'")
    project.golden.rename(project.path / "sub" / "shop.golden.yaml")
    result = project.run("sub", "-k", "salary")
    assert re.search(r"refusal_correctness +0\.000", str(result.stdout))


def test_autouse_and_function_scoped_fixtures_run_for_each_case(project: Example) -> None:
    project.conftest(
        "@pytest.fixture(autouse=True)\ndef note(request):\n    print('before', request.node.name)\n    yield\n",
    )
    result = project.run("-s")
    assert str(result.stdout).count("before ") == 5 + 1  # and for the test that judges the suite


def test_another_fixture_name(project: Example) -> None:
    project.edit("def rag():", "def shop_bot():", "conftest.py")
    project.edit("suite: shop\n", "suite: shop\nfixture: shop_bot\n")
    assert project.run().ret == 0


def test_an_async_function_is_a_system(project: Example) -> None:
    project.system(
        "def rag():\n    async def ask(query):\n        await asyncio.sleep(0)\n        return answer(query)\n"
        "    return ask"
    )
    assert project.run().ret == 0


@pytest.mark.parametrize("default", ["session", "function", "fixture-scope"])
def test_an_async_fixture_under_pytest_asyncio(project: Example, default: str) -> None:
    project.write(
        "conftest.py",
        "import asyncio\nimport pytest_asyncio\nfrom shop import answer\n\n"
        "@pytest_asyncio.fixture(scope='session', loop_scope='session')\n"
        "async def rag():\n"
        "    lock = asyncio.Lock()\n"
        "    loop = asyncio.get_running_loop()\n"
        "    asked = set()\n"
        "    async def ask(query):\n"
        "        assert asyncio.get_running_loop() is loop\n"
        "        assert query not in asked, 'once is enough'\n"
        "        asked.add(query)\n"
        "        async with lock:\n"
        "            return answer(query)\n"
        "    yield ask\n",
    )
    project.pytester.makeini(f"[pytest]\nfilterwarnings = error\nasyncio_default_fixture_loop_scope = {default}")
    result = project.run(plugins=("pytest_asyncio.plugin",))
    assert result.ret == 0, str(result.stdout)


def test_a_timeout_holds_for_functions_of_async_fixtures(project: Example) -> None:
    project.write(
        "conftest.py",
        "import threading\nimport pytest_asyncio\nfrom shop import answer\n\n"
        "@pytest_asyncio.fixture(scope='session', loop_scope='session')\n"
        "async def rag():\n"
        "    over = threading.Event()\n"
        "    def ask(query):\n"
        "        if 'warehouse' in query:\n"
        "            over.wait(600)\n"
        "        return answer(query)\n"
        "    yield ask\n"
        "    over.set()\n",
    )
    project.pytester.makeini("[pytest]\nfilterwarnings = error\nasyncio_default_fixture_loop_scope = function")
    project.limit_only("warehouse")
    result = project.run("--auepora-timeout", "0.5", plugins=("pytest_asyncio.plugin",))
    assert judged(result).run.cases["warehouse"].timed_out
    result.stdout.fnmatch_lines(["1 errored (*), 4 passed*"])


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="no such signal there")
@pytest.mark.parametrize("concurrency", ["1", "4"])
def test_what_pytest_timeout_ends_does_not_go_on_later(project: Example, concurrency: str) -> None:
    project.write(
        "conftest.py",
        "import asyncio, pathlib, signal, sys, threading, time\nimport pytest_asyncio\nfrom shop import answer\n\n"
        "LATE = []\n\n"
        "def end_the_waiting(main):\n"
        "    while sys._current_frames()[main].f_code.co_name != 'select':\n"
        "        time.sleep(0.01)\n"
        "    signal.pthread_kill(main, signal.SIGALRM)  # pytest-timeout's, at once\n\n"
        "@pytest_asyncio.fixture(scope='session', loop_scope='session')\n"
        "async def rag():\n"
        "    LATE.append(asyncio.Event())\n"
        "    async def ask(query):\n"
        "        if 'refund' in query:\n"
        "            threading.Thread(target=end_the_waiting, args=[threading.main_thread().ident]).start()\n"
        "            await LATE[0].wait()\n"
        "            pathlib.Path('late.txt').touch()\n"
        "        return answer(query)\n"
        "    yield ask\n\n"
        "def pytest_runtest_logreport(report):\n"
        "    if report.when == 'call':\n"
        "        LATE[0].set()\n",
    )
    project.pytester.makeini("[pytest]\nfilterwarnings = error\nasyncio_default_fixture_loop_scope = function")
    plugins = ("pytest_asyncio.plugin", "pytest_timeout")
    result = project.run("--timeout", "20", "--auepora-concurrency", concurrency, "-rA", plugins=plugins)
    assert "from pytest-timeout" in str(result.stdout)
    result.stdout.fnmatch_lines(["1 errored (*), 4 passed*"])
    assert "given up" not in str(result.stdout)
    assert not (project.path / "late.txt").exists()


@pytest.mark.parametrize(("mode", "needs", "gives"), [("strict", "anyio_backend", "yield"), ("auto", "", "return")])
def test_an_async_fixture_under_anyio(project: Example, mode: str, needs: str, gives: str) -> None:
    if mode == "auto":
        project.pytester.makeini("[pytest]\nanyio_mode = auto")
    project.write(
        "conftest.py",
        "import pytest\nfrom shop import answer\n\n"
        "@pytest.fixture(scope='session')\ndef anyio_backend():\n    return 'asyncio'\n\n"
        f"@pytest.fixture(scope='session')\nasync def rag({needs}):\n"
        f"    async def ask(query):\n        return answer(query)\n    {gives} ask\n",
    )
    result = project.run(plugins=("anyio.pytest_plugin",))
    assert result.ret == 0, str(result.stdout)


def test_foreign_yaml_is_never_opened(project: Example) -> None:
    project.write("other.yaml", "a: [unclosed")
    project.write("sub/data.yml", "\tx")
    assert project.run().ret == 0


@pytest.mark.parametrize("concurrency", ["1", "4"])
def test_reruns_count_the_last_result(project: Example, concurrency: str) -> None:
    pytest.importorskip("pytest_rerunfailures", reason="reruns need pytest-rerunfailures")
    project.edit(
        "def answer(query, docs=DOCS):",
        "calls = []\n\n\ndef answer(query, docs=DOCS):\n    calls.append(query)\n"
        "    if 'warehouse' in query and calls.count(query) <= 3: 1 / 0",
        "shop.py",
    )
    result = project.run("--reruns", "1", "--auepora-concurrency", concurrency, plugins=("pytest_rerunfailures",))
    assert result.ret == 0, str(result.stdout)
    assert result.parseoutcomes()["rerun"] == 1


def test_a_plugin_that_tells_cases_apart_is_asked_about_each(project: Example) -> None:
    hook = (
        "\n\ndef pytest_generate_tests(metafunc):\n"
        "    if metafunc.function.__name__ == 'warehouse':\n"
        "        metafunc.parametrize('rag', ['twice', 'asked'], indirect=False)\n"
    )
    project.conftest(hook)
    listed = str(project.run("--co", "-q").stdout)
    assert "shop.golden.yaml::warehouse[twice]" in listed
    assert "shop.golden.yaml::warehouse[asked]" in listed
    assert "shop.golden.yaml::ceo-salary\n" in listed


def test_cases_share_what_was_found_out_and_nothing_else(project: Example) -> None:
    project.case("warehouse", "tags: [logistics]")
    project.edit('scope="session")', 'scope="session", params=["a", "b"])', "conftest.py")
    project.conftest(NOTE)
    seen = {tuple(line.split()[1:]) for line in str(project.run("--co", "-q").stdout).splitlines() if "seen" in line}
    lines = {line[0]: line[1:] for line in seen}
    assert lines["warehouse[b]"][:4] == ("warehouse", "warehouse", "b", "True")
    assert lines["ceo-salary[a]"][:4] == ("ceo-salary", "ceo-salary", "a", "False")
    assert lines["suite[a]"][:5] == ("suite", "suite", "a", "False", "0")
    assert len({line[4] for line in lines.values()}) == 6, "each stands on its own line"


NOTE = """

def pytest_collection_finish(session):
    for item in session.items:
        tagged = item.get_closest_marker("logistics") is not None and "logistics" in item.keywords
        print("seen", item.name, item.originalname, item.function.__name__, item.callspec.id, tagged, item.location[1])
"""


@pytest.mark.parametrize(
    ("glob", "found"),
    [
        ("golden/**/*.yaml", {"a", "b", "c"}),
        ("golden/*.yaml", {"a"}),
        ("./golden/**/c.yaml", {"c"}),
        ("c.yaml", {"c"}),
        ("**/x/*.yaml", {"b"}),
    ],
)
def test_globs_of_golden_files_match_as_full_match_does(project: Example, glob: str, found: set[str]) -> None:
    project.golden.unlink()
    for name, place in {"a": "golden/a", "b": "golden/x/b", "c": "golden/x/y/c"}.items():
        project.write(f"{place}.yaml", f"metrics: [mrr]\ncases: [{{id: in-{name}, query: q, relevant_docs: [d]}}]\n")
    text = str(project.run("--co", "-q", "-o", f"auepora_files={glob}").stdout)
    assert set(re.findall(r"::in-(\w)", text)) == found


def test_nothing_of_ours_is_a_keyword_of_a_case(project: Example) -> None:
    """Some versions of pytest select by all names in the dictionary of a function; `pytestmark` has "test" in it."""
    hook = "def pytest_collection_modifyitems(items):\n    assert not any(vars(item.function) for item in items)\n"
    project.write("conftest.py", f"{project.read('conftest.py')}\n\n{hook}")
    assert project.run("-m", "smoke").ret == 0


@pytest.mark.parametrize("name", ["shop.golden.yaml", "shop.golden.yaml::warranty"])
def test_a_golden_file_named_without_the_option_says_so(project: Example, name: str) -> None:
    result = project.run(name, auepora=False)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {name} *--auepora*"])
