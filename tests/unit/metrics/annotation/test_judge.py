"""Labels by a judge: yes, no, or an error; texts that are empty are not asked about."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_auepora.core.types import Document
from pytest_auepora.errors import MetricError
from pytest_auepora.metrics.annotation.judge import JudgeLabels
from pytest_auepora.metrics.annotation.labelled import (
    Helpfulness,
    LabelMRRAtK,
    NDCGLabelledAtK,
    TopicalPrecisionAtK,
    UnsupportedClaim,
)
from pytest_auepora.metrics.judge import settings
from pytest_auepora.metrics.judge.critic import JudgeReplyError, LLMCritic

from ..samples import case, gave, is_na, value


class Says(LLMCritic):
    """Says what is written for a word of the prompt."""

    def __init__(self, replies: dict[str, Any]) -> None:
        self.replies = replies
        self.prompts: list[str] = []

    def score(self, *, prompt: str, metadata: dict[str, Any] | None = None) -> float:
        self.prompts.append(prompt)
        said = next(v for k, v in self.replies.items() if k in prompt)
        if isinstance(said, Exception):
            raise said
        return said  # type: ignore[no-any-return]  # tests give what a critic should not


def test_a_judge_labels_chunks_and_answers() -> None:
    critic = Says({"good chunk": 1, "bad chunk": 0.0, "<answer>": 1.0})
    source = JudgeLabels(critic)
    outputs = gave("the answer", "a good chunk", "a bad chunk", "another good chunk")
    sample = case(query="how long?")
    metric = TopicalPrecisionAtK(2, labels=source)
    assert value(metric, sample, outputs) == 1 / 2
    assert len(critic.prompts) == 2
    assert value(LabelMRRAtK(2, labels=source), sample, outputs) == 1
    assert len(critic.prompts) == 2
    assert value(NDCGLabelledAtK(3, labels=source), sample, outputs) < 1
    assert value(Helpfulness(labels=source), sample, outputs) == 1
    assert "<context>" not in critic.prompts[-1]
    assert value(UnsupportedClaim(labels=source), sample, outputs) == 1
    assert "<context>\n[1] d1\na good chunk" in critic.prompts[-1]
    assert not metric.deterministic
    assert metric.params()["labels"]["judge"] == {"critic": "Says"}
    assert TopicalPrecisionAtK(2).deterministic


def test_the_settings_name_the_judge_when_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AUEPORA_JUDGE", raising=False)
    monkeypatch.delenv("AUEPORA_JUDGE_URL", raising=False)
    metrics = [Helpfulness(labels="judge"), NDCGLabelledAtK(3, labels="judge"), TopicalPrecisionAtK(3, labels="judge")]
    assert [m.params()["labels"]["judge"] for m in metrics] == [{}] * 3, "a golden file loads without its judge"
    assert {m.concurrency for m in metrics} == {1}
    with pytest.raises(MetricError, match="there is no judge"):
        metrics[0].measure(case(), gave("x"))
    critic = Says({"": 1})
    monkeypatch.setattr(settings, "critic_from_environment", lambda: critic)
    assert metrics[0].params()["labels"]["judge"] == {"critic": "Says"}
    outputs = gave("the answer", "a chunk")
    value(TopicalPrecisionAtK(1, labels="judge"), case(), outputs)
    value(metrics[2], case(), outputs)
    assert len(critic.prompts) == 1, "metrics of one judge share its replies"


@pytest.mark.parametrize("said", [0.5, 2, True, float("nan"), "1"])
def test_a_judge_says_yes_or_no_or_it_is_an_error(said: Any) -> None:
    with pytest.raises(JudgeReplyError, match="0 or 1"):
        Helpfulness(labels=JudgeLabels(Says({"": said}))).measure(case(), gave("x"))


def test_a_failing_judge_is_an_error_empty_texts_are_not_asked() -> None:
    source = JudgeLabels(Says({"": RuntimeError("quota")}))
    with pytest.raises(RuntimeError, match="quota"):
        Helpfulness(labels=source).measure(case(), gave("x"))
    assert is_na(Helpfulness(labels=source), case(), gave(" "))
    assert is_na(TopicalPrecisionAtK(2, labels=source), case(), gave("x", Document("a")))
    assert value(TopicalPrecisionAtK(2, labels=source), case(), gave("x")) == 0
