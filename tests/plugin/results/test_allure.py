"""What has no item in Allure's report: a result by the hook that Allure has for results."""

from __future__ import annotations

import json

import pytest

from ..conftest import Example

MODEL = """\
class _Held:
    def __init__(self, **said):
        vars(self).update(said)

TestResult = StatusDetails = Label = _Held
"""
COMMONS = """\
import json

class _Hook:
    def report_result(self, result):
        with open("told.jsonl", "a") as file:
            file.write(json.dumps([result.name, result.status, result.statusDetails.message, result.fullName]) + "\\n")

class plugin_manager:
    hook = _Hook()
"""


@pytest.fixture
def told(project: Example) -> Example:
    """A project with Allure's names, and an option of its own."""
    project.write("allure_commons/__init__.py", COMMONS)
    project.write("allure_commons/model2.py", MODEL)
    project.conftest("""
        def pytest_addoption(parser):
            parser.addoption("--alluredir", dest="allure_report_dir")
    """)
    project.write("test_it.py", "def test_it(auepora):\n    auepora.evaluate('shop.golden.yaml')\n")
    project.break_retriever()
    return project


def test_a_suite_without_an_item_is_a_result(told: Example) -> None:
    assert told.run("test_it.py", "--alluredir=out").ret == 1
    (result,) = map(json.loads, told.read("told.jsonl").splitlines())
    name, status, message, where = result
    assert (name, status, where) == ("suite", "failed", "shop.golden.yaml::suite")
    assert "recall@3: 0.7500 " in message


@pytest.mark.parametrize("args", [("test_it.py",), ("shop.golden.yaml", "--alluredir=out")])
def test_allure_is_told_of_no_item_and_only_where_asked_for(told: Example, args: tuple[str, ...]) -> None:
    assert told.run(*args).ret == 1
    assert not (told.path / "told.jsonl").exists()
