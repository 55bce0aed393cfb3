"""What a run of many cases holds is out of the garbage collector's sight, and nobody is told less for it."""

from __future__ import annotations

import pytest

from .conftest import Example

LEAKING = """
import gc
import pytest
from shop import answer
from pytest_auepora.pytest_plugin import out_of_sight

out_of_sight.MANY = {many}


class Socket:
    def __del__(self):
        raise RuntimeError("the socket was left open")


@pytest.fixture(scope="session")
def rag():
    left = Socket()
    left.itself = left
    gc.collect()
    gc.collect()  # it is as old as what stays
    yield answer
"""


def test_objects_made_before_many_cases_are_not_walked(
    project: Example,
) -> None:
    """A worker ends with its session; a process that runs pytest may go on to something else."""
    project.conftest(
        "\n\nimport atexit\nimport gc\nimport pathlib\nimport pytest\n"
        "from _pytest import unraisableexception\n"
        "from pytest_auepora.pytest_plugin import out_of_sight\n"
        "out_of_sight.MANY = 5\nPLACE = pathlib.Path(__file__).parent\n\n\n"
        "def pytest_configure(config):\n"
        "    global who\n"
        "    who = getattr(config, 'workerinput', {'workerid': 'first'})['workerid']\n\n\n"
        "def tell(when):\n"
        "    (PLACE / f'{who}-{when}.txt').write_text(str(gc.get_freeze_count() > 1000))\n\n\n"
        "def collected(*args, real=unraisableexception.gc_collect_harder):\n"
        "    tell('collect')\n    real(*args)\n\n\n"
        "def pytest_runtest_logfinish():\n    tell('run')\n\n\n"
        "def pytest_sessionfinish():\n    tell('finish')\n\n\n"
        "unraisableexception.gc_collect_harder = collected\n"
        "atexit.register(tell, 'exit')\n",
    )
    whole = {"run": "True", "finish": "False", "collect": "True", "exit": "False"}
    for args in ((), ("-n", "1")):
        project.run_apart(*args).assert_outcomes(passed=7)
        told = {path.stem: path.read_text(encoding="utf-8") for path in project.path.glob("*-*.txt")}
        assert {when: told.pop(f"first-{when}") for when in whole} == whole
        assert told == ({f"gw0-{when}": seen for when, seen in (whole | {"exit": "True"}).items()} if args else {})


@pytest.mark.parametrize("many", [5, 100])
def test_what_a_run_leaves_behind_is_found_as_ever(project: Example, many: int) -> None:
    project.write("conftest.py", LEAKING.format(many=many))
    text = str(project.run_apart("-p", "no:hypothesispytest").stderr)  # it collects garbage before pytest does
    assert "PytestUnraisableExceptionWarning" in text
    assert "the socket was left open" in text
