"""The OpenAI-compatible critic against a real server on loopback."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.metrics.judge.client import JudgeCallError, TransientJudgeError
from pytest_auepora.metrics.judge.critic import Judgement, JudgeReplyError, Question, Scale

from .judge_server import GOOD, Reply, chat, critic, judge_server

pytestmark = pytest.mark.usefixtures("no_proxy")
KEY = "sk-very-secret-0123"


# --- the good case


def test_what_is_asked_and_what_comes_back() -> None:
    with judge_server(GOOD) as server:
        judge = critic(server, prices=(2.0, 10.0), max_tokens=50, extra={"top_p": 1})
        found = judge.judge(prompt="How faithful is “it”?", metadata={"scale": (0, 1)})
    assert found == Judgement(0.75, "as the policy says")
    assert server.bodies == [
        {
            "model": "judge-1",
            "messages": [{"role": "user", "content": "How faithful is “it”?"}],
            "temperature": 0.0,
            "seed": 0,
            "max_tokens": 50,
            "top_p": 1,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "verdict", "schema": Scale(0, 1).form.schema, "strict": True},
            },
        }
    ]
    assert server.paths == ["/v1/chat/completions"]
    assert "Authorization" not in server.headers[0]
    usage = judge.usage
    assert (usage.requests, usage.retries, usage.prompt_tokens, usage.completion_tokens) == (1, 0, 100, 10)
    assert usage.cost == pytest.approx((100 * 2 + 10 * 10) / 1e6)
    assert usage.seconds > 0
    assert judge.params() == {"model": "judge-1", "temperature": 0.0, "seed": 0, "max_tokens": 50, "top_p": 1}


def test_temperature_and_seed_can_be_left_out() -> None:
    with judge_server(chat("1")) as server:
        assert critic(server, temperature=None, seed=None, schema="none").score(prompt="x") == 1
    assert set(server.bodies[0]) == {"model", "messages"}


@pytest.mark.parametrize(
    ("content", "score"),
    [
        ("0.5", 0.5),
        (" 4 \n", 4),
        ('{"score": 1}', 1),
        ('```json\n{"score": 3, "rationale": "r"}\n```', 3),
        ("-1e0", -1),
    ],
)
def test_replies_that_are_scores(content: str, score: float) -> None:
    with judge_server(chat(content)) as server:
        assert critic(server).score(prompt="x") == score


# --- replies that are no scores


@pytest.mark.parametrize(
    "content",
    [
        "",
        "I would say 4 out of 5.",
        '{"rationale": "no score"}',
        '{"score": "0.8"}',
        '{"score": true}',
        '{"score": null}',
        '{"score": NaN}',
        "[0.8]",
        "null",
        '{"score": 0.8',
        "[" * 20_000,
    ],
)
def test_a_reply_that_is_no_score_is_an_error_asked_once(content: str, tmp_path: Path) -> None:
    with judge_server(chat(content)) as server:
        judge = critic(server, cache_dir=tmp_path)
        with pytest.raises(JudgeReplyError):
            judge.score(prompt="x")
    assert len(server.bodies) == 1
    assert list(tmp_path.rglob("*.json")) == []


def test_a_score_off_the_scale_is_not_kept(tmp_path: Path) -> None:
    with (
        judge_server(chat('{"score": 7}')) as server,
        pytest.raises(JudgeReplyError, match="7 is not between 1 and 5"),
    ):
        critic(server, cache_dir=tmp_path).judge(prompt="x", metadata={"scale": (1, 5)})
    assert list(tmp_path.rglob("*.json")) == []


@pytest.mark.parametrize(
    "body",
    [
        b"<html>gateway</html>",
        b"",
        [],
        {},
        {"choices": []},
        {"choices": {"0": 1}},
        {"choices": [{"message": None}]},
        {"choices": [{"message": {"content": None}}]},
        {"choices": [{"message": {"content": 0.8}}]},
        {"choices": [{"message": {"content": [{"type": "text", "text": "1"}]}}]},
        {"error": {"message": "model is loading"}},
        "text",
        b"\xff\xfe",
    ],
)
def test_what_is_no_completion_is_tried_again_and_then_an_error(body: Any) -> None:
    with judge_server(Reply(body)) as server:
        judge = critic(server, attempts=3)
        with pytest.raises(TransientJudgeError, match="the judge's server gave"):
            judge.score(prompt="x")
    assert len(server.bodies) == 3
    with judge_server(Reply(body), GOOD) as server:
        assert critic(server).score(prompt="x") == 0.75


@pytest.mark.parametrize(("finish", "by"), [("length", "max_tokens"), ("content_filter", "its content filter")])
def test_a_model_that_was_cut_off_is_an_error(finish: str, by: str) -> None:
    with (
        judge_server(chat("Score: 0", finish=finish)) as server,
        pytest.raises(JudgeReplyError, match=f"cut off by {by}"),
    ):
        critic(server).score(prompt="x")
    assert len(server.bodies) == 1


@pytest.mark.parametrize("usage", [[], {"prompt_tokens": "many"}, {"prompt_tokens": 1.5, "completion_tokens": -1}, 7])
def test_tokens_that_are_not_named_are_counted_as_such(usage: Any) -> None:
    with judge_server(chat("1", usage=usage)) as server:
        judge = critic(server, prices=(1, 1))
        assert judge.judge(prompt="x").score == 1
    assert (judge.usage.unreported, judge.usage.prompt_tokens, judge.usage.cost) == (1, 0, 0.0)


# --- many at once


def test_concurrency_is_bounded_and_order_kept() -> None:
    def answer(body: dict[str, Any]) -> Reply:
        reply = chat(body["messages"][0]["content"])
        reply.delay = 0.05
        return reply

    with judge_server(answer=answer) as server:
        judge = critic(server, concurrency=3)
        found = judge.ask_many([Question(str(i % 12)) for i in range(24)])
    assert [f.score for f in found if isinstance(f, Judgement)] == [i % 12 for i in range(24)]
    assert len(server.bodies) == 12
    assert 1 < server.most_running <= 3
    assert judge.ask_many([]) == []


def test_the_bound_holds_over_threads() -> None:
    def answer(body: dict[str, Any]) -> Reply:
        reply = chat("1")
        reply.delay = 0.05
        return reply

    with judge_server(answer=answer) as server:
        judge = critic(server, concurrency=2)
        threads = [threading.Thread(target=judge.score, kwargs={"prompt": str(i)}) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert server.most_running <= 2
    assert judge.usage.requests == 8


def test_one_failure_leaves_the_others_alone() -> None:
    def answer(body: dict[str, Any]) -> Reply:
        prompt = body["messages"][0]["content"]
        return Reply({"error": "bad"}, 400) if prompt == "bad" else chat("1" if prompt == "good" else "maybe")

    with judge_server(answer=answer) as server:
        found = critic(server).ask_many([Question("good"), Question("bad"), Question("vague")])
    assert [type(f).__name__ for f in found] == ["Judgement", "JudgeCallError", "JudgeReplyError"]


# --- the key


def test_the_key_is_sent_and_kept_nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    with judge_server(GOOD) as server:
        judge = critic(server, api_key_env="MY_KEY", cache_dir=tmp_path)
        judge.score(prompt="x")
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    kept = repr(judge) + repr(vars(judge)) + json.dumps(judge.params())
    kept += "".join(f.read_text(encoding="utf-8") + str(f) for f in tmp_path.rglob("*") if f.is_file())
    assert KEY not in kept


def test_the_key_is_not_in_an_error_that_the_server_echoes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with (
        judge_server(Reply({"error": f"Incorrect API key provided: {KEY}"}, 401)) as server,
        pytest.raises(JudgeCallError) as caught,
    ):
        critic(server).score(prompt="x")
    assert KEY not in str(caught.value)
    assert "***" in str(caught.value)
