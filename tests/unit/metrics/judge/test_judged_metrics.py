"""A rubric, answer relevancy, preference over the baseline: what is asked, what is n/a; what judged metrics share."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from pytest_auepora.core.metrics_base import JUDGE_KEYS, Measurement, provenance_keys_of
from pytest_auepora.core.types import SystemOutputs
from pytest_auepora.errors import MetricError
from pytest_auepora.metrics.generation_llm_judge import (
    BASELINE_ANSWER,
    AnswerRelevancy,
    LLMAnswerQuality,
    LLMFaithfulnessScore,
    Preference,
    Rubric,
)
from pytest_auepora.metrics.judge.critic import JudgeReplyError, LLMCritic
from pytest_auepora.metrics.registry import Registry

from ..samples import REFUSAL, case, gave, is_na, reason


class Says(LLMCritic):
    """Gives its replies in order, and remembers the prompts and schemas."""

    def __init__(self, *replies: Any) -> None:
        self.replies = [reply if isinstance(reply, str) else json.dumps(reply) for reply in replies]
        self.prompts: list[str] = []
        self.schemas: list[Any] = []

    def complete(self, *, prompt: str, schema: Any = None, metadata: dict[str, Any] | None = None) -> str:
        self.prompts.append(prompt)
        self.schemas.append(schema)
        return self.replies[len(self.prompts) - 1]


class OnlyScores(LLMCritic):
    def score(self, *, prompt: str, metadata: dict[str, Any] | None = None) -> float:
        return 1.0


ANSWER = gave("Within 30 days.")


def verdict(word: str, why: str = "") -> dict[str, str]:
    return {"rationale": why, "verdict": word}


def test_a_rubric_is_judged_with_a_reason() -> None:
    critic = Says(verdict("partly", "no day"))
    seen = Rubric(critic).measure(case(rubric="mentions the deadline"), ANSWER)
    assert seen == Measurement(0.5, details={"rationale": {"mentions the deadline": "no day"}})
    assert "mentions the deadline" in critic.prompts[0]
    assert critic.schemas[0]["properties"]["verdict"]["enum"] == ["no", "partly", "yes"]


def test_each_requirement_is_one_call() -> None:
    critic = Says(verdict("yes", "a"), verdict("no", "b"), verdict("yes"))
    seen = Rubric(critic).measure(case(rubric=["is polite", "names a price", "is short"]), ANSWER)
    assert isinstance(seen, Measurement)
    assert seen.value == pytest.approx(2 / 3)
    reasons = {"is polite": "a", "names a price": "b"}
    assert seen.details == {"scores": [1.0, 0.0, 1.0], "rationale": reasons}
    assert len(critic.prompts) == 3


def test_a_rubric_without_a_rubric_is_na() -> None:
    assert reason(Rubric(Says()), case(), ANSWER) == "no rubric"
    critic = Says(verdict("no"))
    assert Rubric(critic).measure(case(rubric="x"), gave("")) == Measurement(0.0)
    assert re.search(r"<answer>\n\S", critic.prompts[0]), "the judge is told that there is none"


def test_verdicts_of_ones_own() -> None:
    metric = Registry().get("rubric[scale=fail:0|weak:0.3|pass:1]")
    assert isinstance(metric, Rubric)
    metric.critic = Says(verdict("weak"))
    assert metric.measure(case(rubric="x"), ANSWER) == Measurement(0.3)
    metric.critic = Says(verdict("so-so"))
    with pytest.raises(JudgeReplyError, match="none of fail, weak, pass"):
        metric.measure(case(rubric="x"), ANSWER)


def statements(*verdicts: str) -> dict[str, Any]:
    return {"statements": [{"statement": f"s{i}", "verdict": v} for i, v in enumerate(verdicts)]}


def test_relevancy_is_a_share_of_statements() -> None:
    critic = Says(statements("yes", "no", "yes", "yes"))
    seen = AnswerRelevancy(critic).measure(case(), ANSWER)
    assert seen == Measurement(0.75, details={"of": 4, "irrelevant": ["s1"]})
    assert len(critic.prompts) == 1


def test_relevancy_invents_no_value() -> None:
    metric = AnswerRelevancy(Says(statements()))
    assert is_na(metric, case(), ANSWER)
    for answer in ("", REFUSAL):
        assert is_na(AnswerRelevancy(Says()), case(), gave(answer))
    for reply in ({"statements": "s"}, statements("maybe"), {"statements": [1]}, "no JSON", {}):
        with pytest.raises(JudgeReplyError):
            AnswerRelevancy(Says(reply)).measure(case(), ANSWER)
    with pytest.raises(MetricError, match="OnlyScores can only score"):
        AnswerRelevancy(OnlyScores()).measure(case(), ANSWER)


def after(accepted: str) -> SystemOutputs:
    """Return the answer, of a case whose accepted answer is known."""
    outputs = gave("Within 30 days.")
    outputs.memo[BASELINE_ANSWER] = accepted
    return outputs


@pytest.mark.parametrize(
    ("replies", "value"),
    [
        (("first", "second"), 1),
        (("second", "first"), 0),
        (("tie", "tie"), 0.5),
        (("first", "first"), 0.5),
        (("first", "tie"), 0.5),
    ],
)
def test_preference_asks_in_both_orders(replies: tuple[str, str], value: float) -> None:
    critic = Says(*map(verdict, replies))
    seen = Preference(critic).measure(case(), after("30 days"))
    assert isinstance(seen, Measurement)
    assert seen.value == value
    assert "<first>\nWithin 30 days.\n</first>" in critic.prompts[0]
    assert "<second>\nWithin 30 days.\n</second>" in critic.prompts[1]


def test_preference_needs_another_answer() -> None:
    assert is_na(Preference(Says()), case(), ANSWER)
    assert is_na(Preference(Says()), case(), after("Within 30 days. "))
    assert is_na(Preference(Says()), case("30 days"), after("30 days"))
    asked = Preference(Says(verdict("tie"), verdict("tie")), referenced=True)
    assert isinstance(asked.measure(case("30 days"), after("30 days")), Measurement)


@pytest.mark.parametrize(
    "metric", [Rubric(), Rubric(scale="0-1"), AnswerRelevancy(), Preference(), Preference(referenced=True)], ids=repr
)
def test_names_give_the_same_metric(metric: Any) -> None:
    again = Registry().get(metric.name)
    assert type(again) is type(metric)
    assert again.params() == metric.params()
    assert metric.judged


class Fixed(LLMCritic):
    concurrency = 3

    def score(self, *, prompt: str, metadata: dict[str, Any] | None = None) -> float:
        return 0.5


def test_as_many_cases_at_once_as_the_critic_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AUEPORA_JUDGE_URL", raising=False)
    assert LLMAnswerQuality(Fixed()).concurrency == 3
    assert LLMAnswerQuality().concurrency == 1  # there is no judge


def test_faithfulness_says_nothing_of_a_refusal() -> None:
    metric = LLMFaithfulnessScore(Fixed())
    assert is_na(metric, case(), gave(REFUSAL, "evidence"))
    assert is_na(metric, case(), gave("", "evidence"))


def test_a_judge_is_part_of_what_scores_compare_under() -> None:
    assert set(JUDGE_KEYS) <= set(provenance_keys_of(LLMAnswerQuality(Fixed())))
    assert LLMAnswerQuality(Fixed()).params()["judge"] == {"critic": "Fixed"}


def test_a_critic_implements_one_of_two_methods() -> None:
    with pytest.raises(TypeError, match="neither score\\(\\) nor complete\\(\\)"):
        LLMCritic()
