"""Servers that refuse a parameter: it is left out from then on, and that is said."""

from __future__ import annotations

import re
from typing import Any

import pytest

from pytest_auepora.metrics.judge.client import JudgeCallError
from pytest_auepora.metrics.judge.critic import Judgement, JudgeReplyError, Question

from .judge_server import GOOD, Reply, chat, critic, judge_server

pytestmark = pytest.mark.usefixtures("no_proxy")


def refuse(message: str, param: str | None = None, status: int = 400) -> Reply:
    return Reply({"error": {"message": message, "type": "invalid_request_error", "param": param}}, status)


def reasoning_model(body: dict[str, Any]) -> Reply:
    """Refuses what OpenAI's and Azure's reasoning models refuse, in their words."""
    if "max_tokens" in body:
        return refuse("Unsupported parameter: 'max_tokens' is not supported with this model. Use "
                      "'max_completion_tokens' instead.", "max_tokens")  # fmt: skip
    if body.get("temperature", 1) != 1:
        return refuse("Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value "
                      "is supported.", "temperature")  # fmt: skip
    return GOOD


def test_what_a_reasoning_model_refuses_is_left_out_and_told() -> None:
    with judge_server(answer=reasoning_model) as server:
        judge = critic(server, max_tokens=80)
        assert judge.score(prompt="x") == judge.score(prompt="y") == 0.75
    assert len(server.bodies) == 4  # the refusals are learned once
    assert {"temperature", "max_tokens"}.isdisjoint(server.bodies[-1])
    assert (server.bodies[-1]["max_completion_tokens"], server.bodies[-1]["seed"]) == (80, 0)
    renamed, left_out = judge.usage.notes
    assert re.findall(r"judge-1|max_\w+(?:=80)?", renamed) == ["judge-1", "max_tokens=80", "max_completion_tokens"]
    assert re.findall(r"judge-1|\w+=[\d.]+", left_out) == ["judge-1", "temperature=0.0"]
    assert judge.params() == {"model": "judge-1", "temperature": 0.0, "seed": 0, "max_tokens": 80}


def test_the_form_falls_back_to_what_the_server_has() -> None:
    def answer(body: dict[str, Any]) -> Reply:
        wanted = body.get("response_format", {"type": "text"})["type"]
        if wanted == "text":
            return chat('Well … {"rationale": "r", "score": 0.25}')
        return refuse(f"response_format: {wanted} is not supported", status=422)

    with judge_server(answer=answer) as server:
        judge = critic(server)
        assert judge.judge(prompt="x").score == 0.25
        assert [b.get("response_format", {}).get("type") for b in server.bodies] == ["json_schema", "json_object", None]
        assert judge.score(prompt="y") == 0.25
        assert len(server.bodies) == 4
        with pytest.raises(JudgeCallError, match="json_object is not supported"):
            critic(server, schema="json_object").score(prompt="x")


@pytest.mark.parametrize(
    "reply",
    [
        refuse("model 'judge-1' not found"),
        refuse("temperatures are high"),
        refuse("temperature", status=401),
        refuse("'max_tokens' or 'max_completion_tokens' is too large: 50. This model's maximum context length is 40"),
        refuse("This model's maximum context length is 40 tokens; reduce the prompt or max_tokens"),
    ],
)
def test_other_refusals_are_errors(reply: Reply) -> None:
    with judge_server(reply) as server, pytest.raises(JudgeCallError):
        critic(server, max_tokens=50).score(prompt="x")
    assert len(server.bodies) == 1


def test_a_parameter_that_is_always_refused_ends_as_an_error() -> None:
    wrong = refuse("temperature, seed and response_format are wrong")
    with judge_server(wrong) as server, pytest.raises(JudgeCallError):
        critic(server).score(prompt="x")
    assert set(server.bodies[-1]) == {"model", "messages"}


def test_a_refusal_to_judge_is_an_error() -> None:
    message = {"role": "assistant", "content": None, "refusal": "I cannot judge this."}
    reply = Reply({"choices": [{"message": message, "finish_reason": "stop"}]})
    with judge_server(reply) as server, pytest.raises(JudgeReplyError, match="refused to judge: I cannot judge this"):
        critic(server).score(prompt="x")
    assert len(server.bodies) == 1


def test_many_learn_a_refusal_together() -> None:
    with judge_server(answer=reasoning_model) as server:
        judge = critic(server)
        found = judge.ask_many([Question(str(i)) for i in range(12)])
    assert all(isinstance(one, Judgement) for one in found)
    assert len(judge.usage.notes) == 1


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
def test_a_server_that_is_busy_is_asked_again(status: int) -> None:
    with judge_server(Reply({"error": "later"}, status), GOOD) as server:
        assert critic(server).score(prompt="x") == 0.75
    assert len(server.bodies) == 2


@pytest.mark.parametrize("status", [401, 403, 404, 410, 418, 501])
def test_a_server_that_says_no_is_asked_once(status: int) -> None:
    with judge_server(Reply({"error": "never"}, status), GOOD) as server, pytest.raises(JudgeCallError):
        critic(server).score(prompt="x")
    assert len(server.bodies) == 1
