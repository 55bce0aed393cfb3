"""Tokens and cost to the last one, and a budget that stops."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_auepora.metrics.judge.client import JudgeBudgetError
from pytest_auepora.metrics.judge.critic import Judgement, Question
from pytest_auepora.metrics.judge.usage import Budget, Prices, metered

from .judge_server import GOOD, Reply, chat, critic, judge_server

pytestmark = pytest.mark.usefixtures("no_proxy")


def test_cached_tokens_have_a_price_of_their_own() -> None:
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 60}}
    with judge_server(chat("1", usage=usage)) as server:
        judge = critic(server, prices=Prices(1.0, 4.0, 0.1))
        judge.score(prompt="x")
    assert judge.usage.cached_tokens == 60
    assert judge.usage.cost == pytest.approx((40 * 1 + 60 * 0.1 + 10 * 4) / 1e6)
    assert Prices(1, 4).cost(100, 10, 60) == pytest.approx(140e-6)


@pytest.mark.parametrize(("total", "completion"), [(110, 10), (173, 73), (50, 10), ("many", 10)])
def test_thoughts_that_stand_in_the_total_alone_are_counted(total: object, completion: int) -> None:
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": total}
    with judge_server(chat("1", usage=usage)) as server:
        judge = critic(server, prices=(1.0, 4.0))
        judge.score(prompt="x")
    assert judge.usage.completion_tokens == completion
    assert judge.usage.cost == pytest.approx((100 + completion * 4) / 1e6)


@pytest.mark.parametrize(
    ("budget", "told"),
    [
        (Budget(requests=2), "requests 2 of 2"),
        (Budget(tokens=150), "tokens 220 of 150"),
        (Budget(cost=0.0002), "cost 0.00022 of 0.0002"),
        (0.0002, "cost 0.00022 of 0.0002"),
    ],
)
def test_a_budget_stops(budget: Budget | float, told: str) -> None:
    with judge_server(GOOD) as server:
        judge = critic(server, prices=(1, 1), budget=budget, concurrency=1)
        found = judge.ask_many([Question(str(i)) for i in range(5)])
    assert [type(one) for one in found] == [Judgement, Judgement, *[JudgeBudgetError] * 3]
    assert told in str(found[-1])
    assert len(server.bodies) == 2


def test_a_reply_in_the_cache_costs_nothing(tmp_path: Path) -> None:
    with judge_server(GOOD) as server:
        judge = critic(server, budget=Budget(requests=1), cache_dir=tmp_path)
        assert judge.score(prompt="x") == judge.score(prompt="x")
        with pytest.raises(JudgeBudgetError):
            judge.score(prompt="y")


def test_what_each_asker_spends_is_counted_over_threads() -> None:
    with judge_server(Reply({"error": "busy"}, 503), GOOD) as server:
        judge = critic(server, prices=(1, 1))
        with metered() as first:
            judge.ask_many([Question(str(i)) for i in range(6)])
        with metered() as second:
            judge.score(prompt="one more")
    assert (first.requests, first.retries, first.prompt_tokens, first.completion_tokens) == (7, 1, 600, 60)
    assert (second.requests, second.tokens) == (1, 110)
    assert judge.usage.tokens == first.tokens + second.tokens
    assert first.cost == pytest.approx(660e-6)
