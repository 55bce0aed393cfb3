"""Errors, deadlines, retries and resources."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.adapters.http import HttpCallError
from pytest_auepora.api.evaluation import evaluate
from pytest_auepora.core.scoring import aggregate, failed_scores, score_case
from pytest_auepora.core.types import EvaluationSample, Response, SystemOutputs
from pytest_auepora.errors import MetricError
from pytest_auepora.metrics.service.operational import (
    CpuPercent,
    ErrorRatePer1k,
    MemoryMb,
    Retries,
    TimeoutRate,
    ToolSuccessRate,
)

from ..rankings import score
from ..samples import is_na, reason

CASE = EvaluationSample("s", "q")


def gave(seconds: float | None = None, **extra: Any) -> SystemOutputs:
    return SystemOutputs([], Response("a"), {} if seconds is None else {"end_to_end": seconds}, extra)


@pytest.mark.parametrize(
    ("status", "expected"), [(None, 0.0), (200, 0.0), (302, 0.0), (400, 1000.0), (404, 1000.0), (503, 1000.0)]
)
def test_errors_by_status(status: int | None, expected: float) -> None:
    assert score(ErrorRatePer1k(), CASE, gave(status=status)) == expected


def test_client_aborts_do_not_count() -> None:
    assert is_na(ErrorRatePer1k(), CASE, gave(status=499))
    assert is_na(ErrorRatePer1k(), CASE, gave(status=500, aborted=True))


def test_errors_per_thousand() -> None:
    outputs = [gave(status=s) for s in (200, 500, 499, 200, None)]
    result = ErrorRatePer1k().compute([CASE] * 5, outputs)
    assert (result.value, result.details) == (250.0, {"num_samples": 4, "num_skipped": 1})


def test_calls_that_raised_are_in_the_rate() -> None:
    metric = ErrorRatePer1k()
    raised = failed_scores([metric], CASE, "boom", ConnectionError("boom"))[metric.name]
    found = aggregate(metric, [score_case([metric], CASE, gave(status=200))[metric.name]] * 3 + [raised])
    assert (found.value, found.gated, found.n_error) == (250.0, 250.0, 0)
    aborted = failed_scores([metric], CASE, "gone", HttpCallError("gone", 499))[metric.name]
    assert aborted.state == "n/a"


def test_half_of_the_calls_fail(tmp_path: Path) -> None:
    golden = tmp_path / "a.golden.yaml"
    cases = ", ".join(f"{{id: c{i}, query: '{i}'}}" for i in range(4))
    golden.write_text(f"metrics: [error_rate_per_1k, token_f1]\ncases: [{cases}]\n", encoding="utf-8")
    done = evaluate(golden, lambda query: "fine" if int(query) % 2 else 1 / 0)
    assert done.verdict.aggregates["error_rate_per_1k"].value == 500.0
    assert done.run.cases["c0"].scores["token_f1"].state == "n/a"


@pytest.mark.parametrize("status", ["500", 42, 600, 3.5])
def test_a_status_that_is_none(status: Any) -> None:
    with pytest.raises(MetricError, match="status must be an HTTP status"):
        ErrorRatePer1k().measure(CASE, gave(status=status))


def test_the_share_of_tool_calls_that_succeeded() -> None:
    metric = ToolSuccessRate()
    outputs = [
        gave(tools=[{"name": "search", "ok": True}, {"name": "sum", "ok": False}, {"name": "sum", "error": "none"}]),
        gave(tools=[{"name": "search", "error": None}]),
        gave(tools=[]),
        gave(),
    ]
    assert score(metric, CASE, outputs[0]) == pytest.approx(1 / 3)
    assert is_na(metric, CASE, outputs[2])
    assert is_na(metric, CASE, outputs[3])
    result = metric.compute([CASE] * 4, outputs)
    assert (result.value, result.details) == (0.5, {"num_samples": 2, "calls": 4, "num_skipped": 2})
    assert metric.compute([], []).value == 0.0


@pytest.mark.parametrize("tools", [["search"], [{"name": "x"}], [{"ok": "yes"}], "search", 3])
def test_tool_calls_that_are_none(tools: Any) -> None:
    with pytest.raises(MetricError, match=r"extra\['tools'\] must"):
        ToolSuccessRate().measure(CASE, gave(tools=tools))


def test_soft_deadlines() -> None:
    assert score(TimeoutRate(500), CASE, gave(0.5)) == 0.0
    assert score(TimeoutRate(500), CASE, gave(0.6)) == 1.0
    assert score(TimeoutRate(), CASE, gave(0.6, soft_deadline_ms=500)) == 1.0
    assert score(TimeoutRate(), EvaluationSample("s", "q", labels={"soft_deadline_ms": 700}), gave(0.6)) == 0.0
    assert score(TimeoutRate(), EvaluationSample("s", "q", metadata={"soft_deadline_ms": 500}), gave(0.6)) == 1.0
    assert (
        score(TimeoutRate(10, timing_key="retrieval"), CASE, SystemOutputs([], Response(""), {"retrieval": 1.0})) == 1.0
    )
    assert reason(TimeoutRate(), CASE, gave(0.6)) == "no soft_deadline_ms"
    assert is_na(TimeoutRate(500), CASE, gave())


def test_retries_and_their_reasons() -> None:
    outputs = [
        gave(retry={"attempts": 3, "reasons": ["429", "503"]}),
        gave(retry={"attempts": 2, "last_reason": "429"}),
        gave(retry={"attempts": 1, "last_reason": "stale"}),
        gave(retry={"attempts": 0}),
        gave(),
    ]
    result = Retries().compute([CASE] * 5, outputs)
    assert result.value == 3 / 4
    assert result.details == {
        "num_samples": 4, "num_skipped": 1, "total": 3, "reasons": {"429": 2, "503": 1},
    }  # fmt: skip
    assert list(result.details["reasons"]) == ["429", "503"]
    assert score(Retries(), CASE, gave(retries=2)) == 2.0
    assert is_na(Retries(), CASE, gave(retry={"last_reason": "x"}))


def test_resources() -> None:
    outputs = gave(resources={"cpu_percent": 87.5, "memory_mb": 12})
    assert (score(CpuPercent(), CASE, outputs), score(MemoryMb(), CASE, outputs)) == (87.5, 12.0)
    assert is_na(CpuPercent(), CASE, gave())


@pytest.mark.parametrize("metric", [ErrorRatePer1k(), TimeoutRate(), Retries(), CpuPercent(), MemoryMb()])
def test_lower_is_better_and_nothing_is_baselined(metric: Retries) -> None:
    assert (metric.direction, metric.baselined, metric.deterministic) == ("lower", False, False)
