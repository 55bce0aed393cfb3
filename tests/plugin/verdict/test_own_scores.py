"""What a project's own metric returns is a score, or an error of the metric that turns the run red."""

from __future__ import annotations

import pytest

from ..conftest import Example
from ..listening import gates, judged

METRIC = """
from pytest_auepora import Measurement, Metric, NotApplicable, TargetCategory


class Own(Metric):
    name = "own"
    target = TargetCategory.GENERATION_CORRECTNESS

    def measure(self, sample, outputs):
        return VALUE if sample.query == "b" else Measurement(1.0)


def pytest_auepora_metrics(registry):
    registry.add("own", Own)
"""

GOLDEN = """\
metrics: [own]
thresholds: {own: 0.9}
cases:
  - {id: a, query: a}
  - {id: b, query: b}
"""


@pytest.fixture
def own(project: Example) -> Example:
    project.golden.unlink()
    project.write("own.golden.yaml", GOLDEN)
    project.conftest(METRIC.replace("VALUE", "Measurement(1.0)"))
    return project


@pytest.mark.parametrize("returned", ["Measurement(2.0)", "None"])
def test_what_is_no_score_leaves_no_mean_and_no_gate_green(own: Example, returned: str) -> None:
    own.accept()
    own.edit("return Measurement(1.0) if", f"return {returned} if", "conftest.py")
    result = own.run("--auepora-require-baseline")
    assert result.ret == 1
    assert "own" in gates(result)
    score, mean = judged(result).run.cases["b"].scores["own"], judged(result).verdict.aggregates["own"]
    assert (score.value, score.state) == (None, "error")
    assert (mean.value, mean.n, mean.total) == (1.0, 1, 2)


def test_what_does_not_apply_leaves_the_mean(own: Example) -> None:
    own.edit("return Measurement(1.0) if", "return NotApplicable('no price') if", "conftest.py")
    result = own.run()
    assert result.ret == 0
    mean = judged(result).verdict.aggregates["own"]
    assert (mean.value, mean.n, mean.total) == (1.0, 1, 2)


@pytest.mark.parametrize(
    ("system", "name"),
    [("(1 / 0)", "refusal_correctness"), ("(1 / 0)", "recall@3"), ("answer(query)", "no_such_label")],
)
def test_a_score_that_is_none_is_neither_true_nor_false(project: Example, system: str, name: str) -> None:
    project.system(f"def rag():\n    return lambda query: {system}")
    project.edit("  - id: ceo-salary\n    query: Xyzzy plugh?\n    relevant_docs: []\n", "")
    project.edit("refusal_correctness]", "refusal_correctness, 'sliced[recall@3,scenario:typo]']")
    name = "sliced[recall@3,scenario:typo]" if name == "no_such_label" else name
    project.write("test_it.py", f"def test_it(auepora):\n    assert auepora.evaluate('shop.golden.yaml')[{name!r}]\n")
    result = project.run("test_it.py", auepora=False)
    assert result.ret == 1
    result.stdout.fnmatch_lines([f"*NotMeasuredError: {name.replace('[', '[[]', 1)} has no value: *"])


def test_a_score_of_zero_is_false_and_scores_calculate(project: Example) -> None:
    project.system('def rag():\n    return lambda query: ("nothing", ["other"])')
    project.write(
        "test_it.py",
        "import pytest\n\n\ndef test_it(auepora):\n    run = auepora.evaluate('shop.golden.yaml')\n"
        "    assert not run['recall@3']\n    assert run['recall@3'] - run['mrr'] == pytest.approx(0)\n"
        "    assert round(sum([run['recall@3'], 1 - run['mrr']]), 3) == 1\n",
    )
    assert project.run("test_it.py", auepora=False).ret == 0
