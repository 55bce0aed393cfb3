"""What judges and the system took."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_auepora.core.run import CaseResult, Run
from pytest_auepora.reporting.formats.json_report import judge_usage
from pytest_auepora.reporting.wording.spending import cost_text, judge_lines, system_lines


def run_that_spent(*spent: dict[str, dict[str, Any]]) -> Run:
    run = Run("s")
    run.add(CaseResult(str(i), judge_usage=usage) for i, usage in enumerate(spent))
    return run


def test_a_run_without_a_judge_says_nothing() -> None:
    assert judge_lines(run_that_spent({})) == []
    assert judge_usage(run_that_spent({})) == {}


def test_several_judged_metrics_are_told_apart() -> None:
    run = run_that_spent(
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
        "judge by metric: a 3 requests (1 retry, 2 more from the cache), 30 + 3 tokens; "
        "b 1 request, 1 reply without token counts",
        "m: seed left out",
    ]
    assert judge_usage(run)["total"]["requests"] == 4


@pytest.mark.parametrize(
    ("spent", "lines"),
    [
        ([], []),
        ([{"m": {"calls": 2, "input_tokens": 2000, "output_tokens": 9, "cost": 0.5}}, {}],
         ["system: 2 model calls, 2,000 + 9 tokens, cost 0.5"]),
        ([{"m": {"calls": 1, "unreported": 1, "unpriced": 1}}],
         ["system: 1 model call, 1 without token counts"]),
        ([{"m": {"calls": 2, "input_tokens": 5, "unpriced": 1, "cost": 1.0}, "": {"calls": 1, "unpriced": 1}}],
         ["system: 3 model calls, 5 + 0 tokens, cost 1, 2 without a cost",
          "system by model: m 2 model calls, 5 + 0 tokens, cost 1, 1 without a cost; "
          "unnamed 1 model call, 0 + 0 tokens"]),
    ],
)  # fmt: skip
def test_what_the_system_spent(spent: list[dict[str, dict[str, Any]]], lines: list[str]) -> None:
    run = Run("s")
    run.add(CaseResult(str(i), system_usage=usage) for i, usage in enumerate(spent))
    assert system_lines(run) == lines


def test_costs_are_exact_to_the_millionth() -> None:
    assert [cost_text(c) for c in (0.0, 1.5, 0.000022, 1234.5678914)] == ["0", "1.5", "0.000022", "1,234.567891"]
