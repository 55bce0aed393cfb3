"""The test `suite` stands behind the last case of its configuration, whoever sorts, repeats or reruns tests."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from ..conftest import Example

CASES = {"refund-window", "warehouse", "free-returns", "warranty", "ceo-salary"}
ORDER = """
def pytest_runtest_logstart(nodeid):
    with open("order.txt", "a") as file:
        print(nodeid, file=file)
"""
TWO = "@pytest.fixture(scope='session', params=['a', 'b'])\ndef rag(request):\n    return answer\n"
SHUFFLE = """
import random

@pytest.hookimpl({first}=True)
def pytest_collection_modifyitems(items):
    random.Random({seed}).shuffle(items)
"""
REVERSE = """
@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items):
    yield
    items.reverse()
"""
REPEATED = """
@pytest.fixture(autouse=True, scope={scope!r}, params=[1, 2])
def again(request):
    pass
"""


def order(project: Example, *args: str, plugins: tuple[str, ...] = ()) -> list[str]:
    """Names of the tests of the golden file in the order that they run in."""
    (project.path / "order.txt").unlink(missing_ok=True)
    project.run(*args, plugins=plugins)
    return [line.partition("::")[2] for line in project.read("order.txt").splitlines() if line.startswith("shop.")]


def stands_behind(names: Sequence[str], suite: str, cases: Sequence[str]) -> bool:
    """Whether *suite* is right behind the last of *cases*."""
    return names.count(suite) == 1 and names[names.index(suite) - 1] == [name for name in names if name in cases][-1]


@pytest.mark.parametrize(("seed", "first"), [(0, "tryfirst"), (1, "trylast"), (2, "trylast")])
def test_behind_shuffled_cases(project: Example, seed: int, first: str) -> None:
    project.write("conftest.py", f"import pytest\nfrom shop import answer\n\n{TWO}{ORDER}")
    project.conftest(SHUFFLE.format(seed=seed, first=first))
    project.write("test_user.py", "def test_user(rag): pass\n")
    names = order(project)
    assert len(names) == 2 * 6
    for name in "ab":
        assert stands_behind(names, f"suite[{name}]", [f"{case}[{name}]" for case in CASES])


def test_behind_reversed_cases(project: Example) -> None:
    project.conftest(ORDER + REVERSE)
    assert order(project)[-1] == "suite"


@pytest.mark.parametrize("scope", ["function", "session"])
def test_once_behind_repeated_cases(project: Example, scope: str) -> None:
    project.conftest(ORDER + REPEATED.format(scope=scope))
    names = order(project)
    assert len(names) == 2 * 5 + 1
    assert names[-1].startswith("suite[")


def test_before_the_tests_of_the_user(project: Example) -> None:
    project.conftest(ORDER)
    project.write("test_user.py", "def test_user(): pass\n")
    project.run("shop.golden.yaml", "test_user.py")
    assert [line.partition("::")[2] for line in project.read("order.txt").splitlines()][-2:] == ["suite", "test_user"]


def test_a_rerun_keeps_the_verdict(project: Example) -> None:
    pytest.importorskip("pytest_rerunfailures", reason="reruns need pytest-rerunfailures")
    project.edit("recall@3: 0.9", "mean_latency: {max: 0.000000001}")
    result = project.run("--reruns=2", "-rf", plugins=("pytest_rerunfailures",))
    assert result.parseoutcomes() == {"passed": 5, "failed": 1, "rerun": 2}


def test_a_case_that_is_rerun_is_judged_by_its_last_result(project: Example) -> None:
    pytest.importorskip("pytest_rerunfailures", reason="reruns need pytest-rerunfailures")
    project.system(
        "def rag():\n    asked = []\n    def ask(query):\n        asked.append(query)\n"
        "        if len(asked) <= 3:\n            raise OSError('busy')\n        return answer(query)\n    return ask"
    )  # three times in a row: then the case fails
    result = project.run("--reruns=1", plugins=("pytest_rerunfailures",))
    assert result.parseoutcomes() == {"passed": 6, "rerun": 1}


def test_a_time_limit_for_tests_is_none_for_it(project: Example) -> None:
    pytest.importorskip("pytest_timeout", reason="needs pytest-timeout")
    project.conftest("""
        def pytest_collection_finish(session):
            limits = {item.name: item.get_closest_marker("timeout") for item in session.items}
            assert limits.pop("suite").args == (0,)
            assert not any(limits.values())
    """)
    assert project.run("--timeout=60", plugins=("pytest_timeout",)).ret == 0


def test_random_orders_differ() -> None:
    """The seeds above shuffle in different ways."""
    orders = set()
    for seed in range(3):
        names = [*range(12)]
        random.Random(seed).shuffle(names)
        orders.add(tuple(names))
    assert len(orders) == 3
