"""Gates in Allure's report: each is a result of its own, by the hook that Allure has for results."""

from __future__ import annotations

import json

import pytest

from .conftest import Example

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


@pytest.mark.parametrize("asked", [True, False])
def test_each_gate_is_a_result(project: Example, asked: bool) -> None:
    project.write("allure_commons/__init__.py", COMMONS)
    project.write("allure_commons/model2.py", MODEL)
    project.conftest("""
        def pytest_addoption(parser):
            parser.addoption("--alluredir", dest="allure_report_dir")
    """)
    project.break_retriever()
    result = project.run(*(["--alluredir=out"] if asked else []))
    assert result.ret == 1
    if not asked:
        assert not (project.path / "told.jsonl").exists()
        return
    told = {
        name: (status, message, where)
        for name, status, message, where in map(json.loads, project.read("told.jsonl").splitlines())
    }
    assert list(told) == ["gate: recall@3", "gate: error_rate"]
    status, message, where = told["gate: recall@3"]
    assert (status, where) == ("failed", "shop.golden.yaml::gate: recall@3")
    assert "recall@3 0.7500 is not >= 0.9" in message
    assert told["gate: error_rate"][0] == "passed"
