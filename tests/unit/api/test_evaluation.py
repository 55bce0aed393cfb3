"""A suite evaluated without pytest: its verdict, and a second look where the first alone would be too often red."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from pytest_auepora.api.evaluation import evaluate
from pytest_auepora.core.metrics_base import Measurement, Metric
from pytest_auepora.core.types import EvaluationSample, SystemOutputs, TargetCategory
from pytest_auepora.errors import UnknownNameError
from pytest_auepora.metrics.registry import Registry
from pytest_auepora.regression.accept import accept
from pytest_auepora.regression.baseline import baseline_path

GOLDEN = "suite: shop\nmetrics: [token_f1]\ncases:\n" + "".join(
    f"- {{id: c{i}, query: Question {i}, reference_answer: within thirty days of purchase}}\n" for i in range(12)
)


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    path = tmp_path / "shop.golden.yaml"
    path.write_text(GOLDEN)
    return path


def test_a_score_is_a_number_and_an_unknown_name_is_told(golden: Path) -> None:
    done = evaluate(golden, lambda query: "within thirty days of purchase")
    assert done["token_f1"] == 1.0
    with pytest.raises(UnknownNameError, match="did you mean 'token_f1'"):
        done["token_f2"]


def test_a_suite_that_never_varied_is_asked_once(golden: Path) -> None:
    asked = Counter[str]()

    def system(query: str) -> str:
        asked[query] += 1
        return "within thirty days of purchase"

    assert evaluate(golden, system).verdict.outcome == "passed"
    assert set(asked.values()) == {1}


class Fresh(Metric):
    """A metric of a project that raises what it is told to."""

    name = "fresh"
    target = TargetCategory.OPERATIONAL
    baselined = False
    says = ""

    def measure(self, sample: EvaluationSample, outputs: SystemOutputs) -> Measurement:
        if self.says:
            raise RuntimeError(self.says)
        return Measurement(1.0)


@pytest.mark.parametrize(
    "says",
    [
        "index rebuilt since Monday", "index rebuilt since the baseline", "accepted: nothing", "timed out",
        "metric: recall@1 fell", "unknown metric 'recall'", "not checked: no text", "output: wrong shape",
    ],
)  # fmt: skip
def test_what_a_metric_raises_decides_nothing(golden: Path, says: str) -> None:
    """`shared/cases/finding-read-from-prose`: whatever it says, it is a metric that raised."""
    golden.write_text(GOLDEN.replace("[token_f1]", "[token_f1, fresh]"))
    registry, fresh = Registry(), Fresh()
    registry.add("fresh", fresh)

    def system(query: str) -> str:
        return "within thirty days of purchase"

    accept(baseline_path(golden, "shop", ""), evaluate(golden, system, registry=registry).run, ["all"])
    fresh.says = says
    verdict = evaluate(golden, system, registry=registry).verdict
    assert (verdict.outcome, verdict.word, len(verdict.regressed_cases)) == ("failed", "mixed", 12)
    assert {gate.word for gate in verdict.gates if gate.kind == "regression" and gate.metric == "token_f1"} == {"same"}
