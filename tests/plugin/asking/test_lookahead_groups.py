"""Which calls are started early: none before all fixtures of its case stand, and each of them only once."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ..conftest import Example

SEEN = "seen.txt"

SYSTEM = """\
import pathlib, threading, time

ENV = ["nothing"]
LOCK = threading.Lock()
PAIR = threading.Barrier(2)


def note(text):
    with LOCK, pathlib.Path("seen.txt").open("a") as file:
        file.write(text + "\\n")


def ask(query):
    note(f"{query} in {ENV[0]}")
    time.sleep(0.1)  # for those that are started too early
    return "I do not know."


def ask_in_pairs(query):
    PAIR.wait(30)  # no call comes back before one beside it
    return ask(query)
"""

CONFTEST = """\
import itertools
import pytest
import system

COUNT = itertools.count(1)


@pytest.fixture(scope="session")
def rag():
    return system.ask
"""

SURROUNDINGS = """\
import pytest
import system


@pytest.fixture(autouse=True, scope={scope!r})
def surroundings({wanted}):
    before, system.ENV[0] = system.ENV[0], {name}
    yield
    system.ENV[0] = before
"""


def cases(project: Example, name: str, *queries: str, more: Sequence[str] = ()) -> None:
    """Write a golden file with a case for each of *queries*; *more* is what stands in the last ones."""
    lines = ["metrics: [refusal_correctness]", "cases:"]
    for at, query in enumerate(queries, len(more) - len(queries)):
        lines += [f"  - id: {query}", f"    query: {query}", "    relevant_docs: []"]
        if at >= 0 and more[at]:
            lines.append(f"    {more[at]}")
    project.write(name, "\n".join(lines) + "\n")


@pytest.fixture
def places(project: Example) -> Example:
    """Two golden files of two cases, and a system that writes down where it was asked."""
    project.golden.unlink()
    project.write("system.py", SYSTEM)
    project.write("conftest.py", CONFTEST)
    cases(project, "a.golden.yaml", "a1", "a2")
    cases(project, "two/b.golden.yaml", "b1", "b2")
    return project


def seen(project: Example, *args: str, plugins: tuple[str, ...] = ()) -> list[str]:
    """Run all with eight calls at a time, and return what the system has written."""
    result = project.run("--auepora-concurrency", "8", "--junitxml=j.xml", *args, plugins=plugins)
    assert result.ret == 0, str(result.stdout)
    return project.read(SEEN).splitlines()


def test_a_class_scoped_system_is_made_for_each_case(places: Example) -> None:
    places.edit(
        '@pytest.fixture(scope="session")\ndef rag():\n    return system.ask\n',
        '@pytest.fixture(scope="class")\ndef rag():\n    number = next(COUNT)\n\n    async def ask(query):\n'
        '        system.note(f"{query} by {number}")\n        return "I do not know."\n\n    return ask\n',
        "conftest.py",
    )
    assert seen(places) == ["a1 by 1", "a2 by 2", "b1 by 3", "b2 by 4"]


@pytest.mark.parametrize(("scope", "added"), [("class", False), ("function", False), ("function", True)])
def test_a_fixture_of_each_case_stands_before_the_case_is_asked(places: Example, scope: str, added: bool) -> None:
    """Also one that a hook adds to what was found out about the item."""
    around = SURROUNDINGS.format(scope=scope, wanted="request", name="request.node.name")
    if added:
        around = around.replace("autouse=True, ", "") + (
            "\n\ndef pytest_collection_modifyitems(items):\n    for item in items:\n"
            "        item.fixturenames = ['surroundings', *item.fixturenames]\n"
        )
    places.write("two/conftest.py", around)
    assert seen(places, "two") == ["b1 in b1", "b2 in b2"]


def test_a_module_fixture_parts_golden_files(places: Example) -> None:
    around = SURROUNDINGS.format(scope="module", wanted="request", name="request.node.path.name")
    places.write("conftest.py", CONFTEST.replace("system.ask", "system.ask_in_pairs") + "\n\n" + around)
    found = seen(places)
    assert sorted(found) == [f"{q} in {q[0]}.golden.yaml" for q in ("a1", "a2", "b1", "b2")]


@pytest.mark.parametrize("scope", ["package", "session"])
def test_a_folders_fixture_is_set_up_before_its_calls(places: Example, scope: str) -> None:
    """Files of one folder are asked together all the same."""
    places.edit("system.ask", "system.ask_in_pairs", "conftest.py")
    places.write("two/__init__.py", "")
    places.write("two/conftest.py", SURROUNDINGS.format(scope=scope, wanted="", name="'two'"))
    cases(places, "two/b.golden.yaml", "b1")
    cases(places, "two/c.golden.yaml", "c1")
    found = seen(places)
    assert sorted(found) == ["a1 in nothing", "a2 in nothing", "b1 in two", "c1 in two"]


def test_another_parameter_makes_another_system(places: Example) -> None:
    places.edit(
        '@pytest.fixture(scope="session")\ndef rag():\n    return system.ask\n',
        '@pytest.fixture(scope="session")\ndef rag(request):\n    system.ENV[0] = request.param\n'
        "    return lambda query: system.ask(f'{request.param}: {query}')\n\n\n"
        "def pytest_generate_tests(metafunc):\n"
        "    metafunc.parametrize('rag', [metafunc.definition.path.name], indirect=True)\n",
        "conftest.py",
    )
    found = seen(places)
    assert sorted(found) == [f"{q[0]}.golden.yaml: {q} in {q[0]}.golden.yaml" for q in ("a1", "a2", "b1", "b2")]


def test_cases_that_do_not_run_cost_no_call(places: Example) -> None:
    """Nothing goes with them, and nothing that was started early is thrown away."""
    # a case that a mark may skip is not called early, so nothing is beside it
    asking = "lambda query: (system.ask if query == 'not' else system.ask_in_pairs)(query)"
    places.edit("system.ask", asking, "conftest.py")
    places.write(
        "two/conftest.py",
        "import pytest\nMARKS = {'if': pytest.mark.skipif(True, reason='why'), 'not': pytest.mark.skipif(False, "
        "reason=''), 'x': pytest.mark.xfail(run=False)}\n\n\ndef pytest_itemcollected(item):\n"
        "    if item.name in MARKS:\n        item.add_marker(MARKS[item.name])\n",
    )
    cases(places, "a.golden.yaml", "a1", "skipped", more=("", "skip: why"))
    cases(
        places, "two/b.golden.yaml", "b1", "if", "b2", "x", "not", "b3", "skip", "b4", "b5", more=("skip: why", "", "")
    )
    found = seen(places)
    assert sorted(found) == [f"{q} in nothing" for q in ("a1", "b1", "b2", "b3", "b4", "b5", "not")]


def test_a_timed_case_has_the_system_for_itself(places: Example) -> None:
    pytest.importorskip("pytest_benchmark", reason="times cases")
    cases(places, "a.golden.yaml", "a1", "a2", "timed", "a3", more=("benchmark: {rounds: 3}", ""))
    found = [line.split()[0] for line in seen(places, plugins=("pytest_benchmark.plugin",))]
    first, last = found.index("timed"), len(found) - found[::-1].index("timed")
    assert sorted(found[:first]) == ["a1", "a2"]
    assert set(found[first:last]) == {"timed"}
    assert sorted(found[last:]) == ["a3", "b1", "b2"]


def test_nothing_is_started_across_a_test_of_the_project(places: Example) -> None:
    places.write(
        "test_between.py",
        "import pytest\nimport system\n\n\n@pytest.fixture\ndef other(monkeypatch):\n"
        "    monkeypatch.setattr(system, 'ENV', ['other'])\n\n\ndef test_it(other):\n    system.note('test')\n",
    )
    found = seen(places)
    assert sorted(found[:2]) == ["a1 in nothing", "a2 in nothing"]
    assert found[2] == "test"
    assert sorted(found[3:]) == ["b1 in nothing", "b2 in nothing"]
