"""A metric of the project's whose aggregate fails: red, with a reason, and nothing else is lost."""

from __future__ import annotations

import json

import pytest

from ..conftest import Example
from ..listening import gates, runs

METRIC = """
from pytest_auepora import Measurement, Metric, MetricResult, TargetCategory


class Spread(Metric):
    name, target, range = "spread", TargetCategory.GENERATION_RELEVANCE, (0.0, 1.0)

    def measure(self, sample, outputs):
        return Measurement(len(outputs.retrieved) / 10)

    def aggregate(self, measurements):
        return MetricResult(self.name, self.target, sum(m.value for m in measurements) / len(measurements))


def pytest_auepora_metrics(registry):
    registry.add("spread", Spread)
"""


@pytest.mark.parametrize(
    ("broken", "problem"),
    [
        ("float('nan')", "its aggregate returned nan"),
        ("1 / 0", "its aggregate raised ZeroDivisionError: division by zero"),
    ],
)
def test_an_aggregate_that_fails_is_red(project: Example, broken: str, problem: str) -> None:
    project.conftest(METRIC)
    project.edit("metrics: [", "metrics: [spread, ")
    project.write("other.golden.yaml", project.read("shop.golden.yaml").replace("suite: shop", "suite: other"))
    project.edit("metrics: [spread, ", "metrics: [", "other.golden.yaml")
    project.accept()
    project.edit("sum(m.value for m in measurements) / len(measurements)", broken, "conftest.py")
    result = project.run("--auepora-report", "json:r.json", "--auepora-report", "summary:s.json")
    assert result.ret == 1
    assert gates(result) == ["coverage: spread"]
    assert [gate.detail for one in runs(result) for gate in one.verdict.gates if gate.state == "failed"] == [problem]
    assert [suite["outcome"] for suite in json.loads(project.read("r.json"))["suites"]] == ["passed", "failed"]
    assert json.loads(project.read("s.json"))
