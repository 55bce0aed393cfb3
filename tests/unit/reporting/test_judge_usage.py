"""Tokens and cost of judges, in words: to the last one, by metric, with what went wrong."""

from __future__ import annotations

from typing import Any

from pytest_auepora.core.run import CaseResult, Run
from pytest_auepora.core.scoring import Score
from pytest_auepora.metrics.judge.usage import USAGE
from pytest_auepora.reporting.judge_usage import cost_text, judge_lines, judge_usage_dict


def run_of(*spent: dict[str, dict[str, Any]]) -> Run:
    run = Run("s")
    run.add(CaseResult(str(i), extra={USAGE: usage}) for i, usage in enumerate(spent))
    return run


def test_a_run_without_a_judge_says_nothing() -> None:
    run = Run("s")
    run.add([CaseResult("1")])
    assert judge_lines(run) == []
    assert judge_usage_dict(run) == {}


def test_one_metric_is_one_line() -> None:
    one = {"rubric": {"requests": 1, "prompt_tokens": 1_200, "completion_tokens": 30, "cost": 0.00125}}
    assert judge_lines(run_of(one)) == ["judge: 1 request, 1,200 + 30 tokens, cost 0.00125"]


def test_several_metrics_are_told_apart() -> None:
    run = run_of(
        {
            "a": {
                "requests": 3,
                "retries": 1,
                "prompt_tokens": 30,
                "completion_tokens": 3,
                "notes": ["m: seed left out"],
            }
        },
        {"a": {"cache_hits": 2}, "b": {"requests": 1, "unreported": 1}},
    )
    assert judge_lines(run) == [
        "judge: 4 requests (1 retry, 2 more from the cache), 30 + 3 tokens, 1 reply without token counts",
        "judge by metric: a 3 requests, 33 tokens; b 1 request, 0 tokens",
        "m: seed left out",
    ]
    said = judge_usage_dict(run)
    assert said["total"]["requests"] == 4
    assert said["metrics"]["b"] == {"requests": 1, "unreported": 1}


def test_a_budget_that_stopped_is_told() -> None:
    run = run_of({"a": {"requests": 2, "prompt_tokens": 9, "completion_tokens": 1}})
    reason = "JudgeBudgetError: the judge's budget is used up: requests 2 of 2"
    run.add([CaseResult(i, "passed", {"a": Score.failed(reason)}) for i in "xyz"])
    assert judge_lines(run)[-1] == "the judge's budget is used up: requests 2 of 2: 3 scores not judged"


def test_costs_are_exact_to_the_millionth() -> None:
    assert [cost_text(c) for c in (0.0, 1.5, 0.000022, 1234.5678914)] == ["0", "1.5", "0.000022", "1,234.567891"]
