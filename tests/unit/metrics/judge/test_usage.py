"""What judges spent, summed by metric over the cases of a run."""

from __future__ import annotations

from pytest_auepora.core.run import CaseResult, Run
from pytest_auepora.core.scoring import Score
from pytest_auepora.metrics.judge.usage import USAGE, JudgeUsage, pop_usage, summed, usage_of


def test_usage_leaves_the_scores_details() -> None:
    scores = {"a": Score("number", 1.0, details={"of": 2, USAGE: {"requests": 2}}), "b": Score("n/a", reason="none")}
    assert pop_usage(scores) == {"a": {"requests": 2}}
    assert scores["a"].details == {"of": 2}
    assert pop_usage(scores) == {}


def test_a_run_sums_its_cases_by_metric() -> None:
    run = Run("s")
    run.add(
        [
            CaseResult("1", judge_usage={"a": {"requests": 2, "prompt_tokens": 10, "cost": 0.5}}),
            CaseResult("2", judge_usage={"a": {"requests": 1, "notes": ["x"]}, "b": {"cache_hits": 1, "notes": ["x"]}}),
            CaseResult("3"),
        ]
    )
    found = usage_of(run)
    assert found["a"] == JudgeUsage(requests=3, prompt_tokens=10, cost=0.5, notes=["x"])
    assert found["b"] == JudgeUsage(cache_hits=1, notes=["x"])
    assert found["a"].tokens == 10


def test_the_sum_has_no_zeros_but_a_cost_of_nothing() -> None:
    total = summed(JudgeUsage, [{"a": {"requests": 1, "cost": 0.0}}, {"a": {"requests": 1}}])["a"]
    assert total.to_dict() == {"requests": 2, "cost": 0.0}
    assert summed(JudgeUsage, []) == {}
