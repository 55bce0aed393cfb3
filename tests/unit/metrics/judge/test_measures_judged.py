"""What all judged metrics share: who is asked, how many at once, and the fingerprint."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_auepora.core.metrics_base import JUDGE_KEYS, provenance_keys_of
from pytest_auepora.metrics.generation_llm_judge import LLMAnswerQuality, LLMFaithfulnessScore
from pytest_auepora.metrics.judge.critic import LLMCritic

from ..samples import case, gave, reason


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
    assert reason(metric, case(), gave("I don't know.", "evidence")) == "the answer is a refusal"
    assert reason(metric, case(), gave("", "evidence")) == "the answer is empty"


def test_a_judge_is_part_of_what_scores_compare_under() -> None:
    assert set(JUDGE_KEYS) <= set(provenance_keys_of(LLMAnswerQuality(Fixed())))
    assert LLMAnswerQuality(Fixed()).params()["judge"] == {"critic": "Fixed"}


def test_a_critic_implements_one_of_two_methods() -> None:
    with pytest.raises(TypeError, match="neither score\\(\\) nor complete\\(\\)"):
        LLMCritic()
