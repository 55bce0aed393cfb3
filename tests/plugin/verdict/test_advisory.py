"""A judged metric in a pytest run: shown, never failing, until its calibration says so."""

from __future__ import annotations

import pytest

from pytest_auepora.base.files import write_atomically
from pytest_auepora.base.records import record_text
from pytest_auepora.core.run import MetricInfo
from pytest_auepora.metrics.generation_llm_judge import LLMAnswerQuality
from pytest_auepora.metrics.judge.critic import LLMCritic
from pytest_auepora.regression.guards.calibration import Calibration, calibration_path
from pytest_auepora.regression.thresholds import Bound

from ..conftest import Example
from ..listening import gates, judged, outcomes

CONFTEST = """
import pytest
from shop import DOCS, answer
from pytest_auepora.metrics.generation_llm_judge import LLMAnswerQuality
from pytest_auepora.metrics.judge.critic import LLMCritic


class Strict(LLMCritic):
    def score(self, *, prompt, metadata=None):
        return 0.25

    def params(self):
        return {"model": "strict-1"}


def pytest_auepora_metrics(registry):
    registry.add("taste", LLMAnswerQuality(Strict()))


@pytest.fixture(scope="session")
def rag():
    return answer
"""


class Same(LLMCritic):
    def score(self, *, prompt: str, metadata: object = None) -> float:
        return 0.0

    def params(self) -> dict[str, object]:
        return {"model": "strict-1"}


def calibrate(project: Example, folder: str = "__calibrations__") -> None:
    metric = LLMAnswerQuality(Same())
    metric.name = "taste"
    made = Calibration("taste", True, "people agree", MetricInfo.of(metric).judge)
    write_atomically(calibration_path(project.path / folder, "taste"), record_text(made))


def test_it_advises_until_it_is_calibrated_and_then_gates(project: Example) -> None:
    project.write("conftest.py", CONFTEST)
    project.edit("metrics: [recall@1,", "metrics: [taste, recall@1,")
    project.edit("  recall@3: 0.9", "  recall@3: 0.9\n  taste: 0.8\ncase_thresholds: {taste: 0.5}")
    result = project.run()
    assert result.ret == 0
    gate, verdict, cases = outcomes(result)["threshold: taste"], judged(result).verdict, judged(result).run.cases
    assert (gate.state, gate.would_be, gate.value) == ("advisory", "failed", 0.25)
    assert (verdict.advisory["taste"].reason, gate.bound) == ("no calibration", Bound("min", 0.8))
    assert verdict.advisory["taste"].place == "__calibrations__/taste.json"
    found = [finding for case in cases.values() for finding in case.findings if finding.metric == "taste"]
    assert [(one.status, one.after, one.limit) for one in found] == [("advisory", 0.25, 0.5)] * 5

    calibrate(project)
    result = project.run()
    assert result.ret == 1
    assert gates(result) == ["taste"]
    result.assert_outcomes(failed=6)  # five cases and their suite

    project.edit("cases:", "regression: {metrics: {taste: {judge: advisory}}}\ncases:")
    result = project.run()
    assert result.ret == 0
    assert judged(result).verdict.advisory["taste"].reason == "policy"


def test_the_folder_of_calibrations_can_be_named(project: Example) -> None:
    project.write("conftest.py", CONFTEST)
    project.edit("metrics: [recall@1,", "metrics: [taste, recall@1,")
    project.edit("  recall@3: 0.9", "  taste: 0.8")
    calibrate(project, "judges")
    assert project.run().ret == 0
    result = project.run("-o", "auepora_calibrations=judges")
    assert gates(result) == ["taste"]


def test_a_judge_that_is_gone_or_silent_fails_the_run(project: Example, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AUEPORA_JUDGE_URL", "AUEPORA_JUDGE_MODEL"):
        monkeypatch.delenv(name, raising=False)
    project.write("conftest.py", CONFTEST.replace("LLMAnswerQuality(Strict())", "LLMAnswerQuality()"))
    project.edit("metrics: [recall@1,", "metrics: [taste, recall@1,")
    assert "calibration: taste" in gates(project.run())  # nobody calibrated it, and nobody answers
    calibrate(project)
    assert "calibration: taste" in gates(project.run())
