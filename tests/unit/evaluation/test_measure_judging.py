"""Judged metrics are asked side by side where their judge allows it; others, and those that share, one by one."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from pytest_auepora.adapters.systems import as_system
from pytest_auepora.calls.call import CallResult
from pytest_auepora.core.types import EvaluationSample, Response, SystemOutputs
from pytest_auepora.evaluation import measure
from pytest_auepora.evaluation.measure import (
    CaseCall,
    JudgedAnswer,
    JudgeTask,
    judge_answers,
    measure_calls,
    side_by_side,
)
from pytest_auepora.io.golden.model import GoldenCase
from pytest_auepora.metrics.generation_llm_judge import LLMAnswerQuality
from pytest_auepora.metrics.judge.critic import LLMCritic
from pytest_auepora.metrics.judge.usage import REPEAT, USAGE, JudgeUsage, count
from pytest_auepora.metrics.registry import Registry


class Meeting(LLMCritic):
    """Gives a score once so many questions are open at once; a serial caller would wait in vain."""

    def __init__(self, wanted: int) -> None:
        self.concurrency = wanted
        self.together = threading.Barrier(wanted)
        self.repeats: list[int] = []

    def score(self, *, prompt: str, metadata: dict[str, Any] | None = None) -> float:
        self.together.wait(timeout=20)
        self.repeats.append(REPEAT.get())
        count(JudgeUsage(), requests=1)
        return 0.5


def metric(critic: LLMCritic, name: str = "quality") -> LLMAnswerQuality:
    made = LLMAnswerQuality(critic)
    made.name = name
    return made


SAMPLE, OUTPUTS = EvaluationSample("1", "q"), SystemOutputs([], Response("a"))


def test_answers_and_metrics_are_asked_at_once() -> None:
    critic = Meeting(4)
    metrics = [metric(critic, "a"), metric(critic, "b")]
    found = judge_answers([JudgeTask(metrics, SAMPLE, OUTPUTS, repeat=i) for i in range(2)])
    assert [{n: s.value for n, s in scores.items()} for scores in found] == [{"a": 0.5, "b": 0.5}] * 2
    assert sorted(critic.repeats) == [0, 0, 1, 1]
    assert found[0]["a"].details[USAGE] == {"requests": 1}


def test_who_is_asked_alone_is_not_asked_side_by_side() -> None:
    class Alone(LLMCritic):
        def score(self, *, prompt: str, metadata: dict[str, Any] | None = None) -> float:
            return 1.0

    fast = metric(Meeting(2))
    assert side_by_side([metric(Alone()), fast, Registry().get("token_f1")]) == [fast]
    assert judge_answers([]) == []
    assert judge_answers([JudgeTask([], SAMPLE, OUTPUTS)]) == [{}]


def test_the_scores_of_many_calls_keep_their_order_and_usage() -> None:
    critic = Meeting(2)
    metrics = {m.name: m for m in (metric(critic), Registry().get("token_f1"))}
    system = as_system(lambda query: "a")
    calls = [CaseCall(GoldenCase(EvaluationSample(str(i), "q")), CallResult("a")) for i in range(2)]
    done = measure_calls(calls, system, metrics)
    assert [[*one.result.scores] for one in done] == [["quality", "token_f1"]] * 2
    assert [one.result.judge_usage for one in done] == [{"quality": {"requests": 1}}] * 2
    assert all(USAGE not in one.result.scores["quality"].details for one in done)


def test_what_is_judged_already_is_not_asked_again() -> None:
    critic = Meeting(2)
    judge = metric(critic)
    known = JudgedAnswer(OUTPUTS, {"quality": metric_score(0.25)})
    case_call = CaseCall(GoldenCase(SAMPLE), CallResult("a"), early=known)
    (done,) = measure_calls([case_call], as_system(lambda q: "a"), {"quality": judge})
    assert done.result.scores["quality"].value == 0.25
    assert critic.repeats == []


def metric_score(value: float) -> Any:
    from pytest_auepora.core.scoring import Score

    return Score("number", value)


def test_nothing_is_called_where_nothing_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "Caller", lambda concurrency: pytest.fail("a caller was made"))
    assert judge_answers([JudgeTask([], EvaluationSample("a", "q"), SystemOutputs([], Response("")))]) == [{}]
    assert judge_answers([]) == []
