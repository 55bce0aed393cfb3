"""Tokens and cost of the system itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.adapters.systems import as_system
from pytest_auepora.api.evaluation import evaluate
from pytest_auepora.core.metrics_base import Measurement
from pytest_auepora.core.model_calls import USAGE
from pytest_auepora.core.types import EvaluationSample, Response, SystemOutputs
from pytest_auepora.errors import MetricError
from pytest_auepora.metrics.judge.settings import use_judge
from pytest_auepora.metrics.judge.usage import summed
from pytest_auepora.metrics.registry import Registry
from pytest_auepora.metrics.service.system_usage import Spending, spending_of, total_spending

from ..rankings import score
from ..samples import is_na

CASE = EvaluationSample("s", "q")
CALL = {"model": "m-1", "input_tokens": 100, "output_tokens": 20, "cached_tokens": 60}
SMALL = {"model": "m-0", "input_tokens": 10, "output_tokens": 5}
metric = Registry().get


def gave(*calls: Any) -> SystemOutputs:
    return SystemOutputs([], Response("a"), extra={USAGE: list(calls)} if calls else {})


@pytest.fixture
def prices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return what writes prices into the settings of the judge."""
    monkeypatch.delenv("AUEPORA_JUDGE", raising=False)
    file = tmp_path / "judge.yaml"

    def write(text: str) -> None:
        file.write_text(text)
        use_judge(file)

    yield write
    use_judge(None)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("mean_tokens", 135.0),
        ("mean_tokens[input]", 110.0),
        ("mean_tokens[output]", 25.0),
        ("mean_tokens[cached]", 60.0),
        ("p95_tokens", 135.0),
        ("p50_tokens[output]", 25.0),
    ],
)
def test_tokens_of_all_model_calls_behind_an_answer(name: str, value: float) -> None:
    assert metric(name).name == name
    assert score(metric(name), CASE, gave(CALL, SMALL)) == value


def test_a_percentile_is_a_value_that_was_measured() -> None:
    measured = [Measurement(float(n)) for n in range(1, 101)]
    result = metric("p95_tokens").aggregate(measured)
    assert (result.value, result.details["reliable"]) == (95.0, True)
    assert not metric("p95_tokens").aggregate(measured[:10]).details["reliable"]
    with pytest.raises(MetricError, match="percent must be between 1 and 100"):
        metric("p101_tokens")


@pytest.mark.parametrize("name", ["mean_tokens", "p95_tokens", "mean_cost", "total_cost"])
def test_without_usage_there_is_no_number(name: str) -> None:
    assert is_na(metric(name), CASE, gave())
    with pytest.raises(MetricError, match="usage must be a list of model calls"):
        metric(name).measure(CASE, SystemOutputs([], Response("a"), extra={USAGE: "premium"}))


def test_a_model_call_without_counts_makes_the_sum_unknown() -> None:
    assert is_na(metric("mean_tokens"), CASE, gave(CALL, {"model": "m-2"}))
    assert is_na(metric("mean_cost"), CASE, gave({"model": "m-2"}))


def test_costs_are_those_of_the_prices_by_model(prices: Any) -> None:
    prices("prices: {m-1: {input: 10, output: 100, cached_input: 1}, m-0: {input: 1, output: 2}}")
    large, small = (40 * 10 + 60 * 1 + 20 * 100) / 1e6, (10 * 1 + 5 * 2) / 1e6
    assert score(metric("mean_cost"), CASE, gave(CALL, SMALL)) == pytest.approx(large + small)
    assert is_na(metric("mean_cost"), CASE, gave({**CALL, "model": "m-9"}))
    assert score(metric("mean_cost"), CASE, gave({"cost": 0.25}, SMALL)) == pytest.approx(0.25 + small)
    total = metric("total_cost").aggregate([Measurement(0.1)] * 10)
    assert (total.value, total.details) == (1.0, {"num_samples": 10})


def test_prices_of_the_judge_alone_are_not_those_of_the_system(prices: Any) -> None:
    prices("url: http://localhost/v1\nmodel: judge\nprices: {input: 10, output: 100}")
    assert is_na(metric("mean_cost"), CASE, gave(CALL))
    assert score(metric("mean_cost"), CASE, gave({**SMALL, "model": "judge"})) == pytest.approx(600 / 1e6)
    prices("prices: {input: 10, output: 100}")
    assert score(metric("mean_cost"), CASE, gave(SMALL)) == pytest.approx(600 / 1e6)
    prices("prices: {m-0: {input: 10}}")
    with pytest.raises(MetricError, match=r"judge.yaml:1:10: there is no key .prices.m-0.output."):
        metric("mean_cost").measure(CASE, gave(SMALL))


def test_spending_is_summed_by_model(prices: Any) -> None:
    prices("prices: {m-0: {input: 1, output: 2}}")
    spent = spending_of(gave(CALL, SMALL, SMALL, {}))
    assert spent["m-0"] == {"calls": 2, "input_tokens": 20, "output_tokens": 10, "cost": pytest.approx(40 / 1e6)}
    assert spent["m-1"]["unpriced"] == spent[""]["unreported"] == 1
    assert summed(Spending, [spent, spent, {}])["m-1"].input_tokens == 200
    total = total_spending([spent, spent])
    assert (total.calls, total.tokens, total.unreported) == (8, 2 * (120 + 2 * 15), 2)
    assert spending_of(gave()) == {}
    assert spending_of(SystemOutputs([], Response("a"), extra={USAGE: 3})) == {}
    assert Spending().to_dict() == {}


def test_a_run_knows_what_each_case_spent(tmp_path: Path) -> None:
    golden = tmp_path / "a.golden.yaml"
    golden.write_text("metrics: [mean_tokens]\nrepeat: 3\ncases: [{id: a, query: Q}, {id: b, query: QQ}]")
    system = as_system(lambda query: {"answer": "a", "usage": {"input_tokens": len(query), "output_tokens": 1}})
    run = evaluate(golden, system).run
    assert [case.system_usage[""]["input_tokens"] for case in run.cases.values()] == [3, 6], "of all answers"
    assert run.cases["b"].scores["mean_tokens"].value == 3.0
    assert run.cases["b"].outputs["usage"] == [{"input_tokens": 2, "output_tokens": 1}]
