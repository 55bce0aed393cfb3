"""What the OpenAI-compatible critic keeps of the replies."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from pytest_auepora.metrics.annotation.judge import JudgeLabels
from pytest_auepora.metrics.annotation.labelled import Helpfulness
from pytest_auepora.metrics.claims.claim_shares import Faithfulness
from pytest_auepora.metrics.judge.client import JudgeCallError, OpenAICompatibleCritic, ReplyCache
from pytest_auepora.metrics.judge.critic import JudgeReplyError
from pytest_auepora.metrics.judge.usage import repeated

from ..samples import case, gave, value
from .judge_server import GOOD, chat, critic, judge_server

pytestmark = pytest.mark.usefixtures("no_proxy")


def test_a_question_is_asked_once(tmp_path: Path) -> None:
    with judge_server(GOOD) as server:
        first = critic(server, cache_dir=tmp_path)
        assert first.score(prompt="x") == first.score(prompt="x") == 0.75
        assert (first.usage.requests, first.usage.cache_hits) == (1, 1)
        again = critic(server, cache_dir=tmp_path)
        assert again.judge(prompt="x").rationale == "as the policy says"
        assert (again.usage.requests, again.usage.cache_hits, again.usage.cost) == (0, 1, None)
        critic(server, cache_dir=tmp_path, temperature=0.5).score(prompt="x")
        critic(server, cache_dir=tmp_path).score(prompt="y")
    assert len(server.bodies) == 3


def test_replay_without_a_server(tmp_path: Path) -> None:
    with judge_server(GOOD) as server:
        critic(server, cache_dir=tmp_path).score(prompt="known")
        url = server.url
    replay = OpenAICompatibleCritic("judge-1", base_url=url, cache_dir=tmp_path, cache_only=True)
    assert replay.score(prompt="known") == 0.75
    with pytest.raises(JudgeCallError, match="not in the cache"):
        replay.score(prompt="new")
    assert replay.usage.requests == 0


def test_a_broken_cache_file_is_a_miss_and_mended(tmp_path: Path) -> None:
    with judge_server(GOOD) as server:
        judge = critic(server, cache_dir=tmp_path)
        judge.score(prompt="x")
        (file,) = tmp_path.rglob("*.json")
        for broken in (b"", b"{", b"[]", b'{"reply": 3}', b"\xff", b'{"reply": "no verdict"}'):
            file.write_bytes(broken)
            assert judge.score(prompt="x") == 0.75
        assert json.loads(file.read_bytes())["reply"]
    assert len(server.bodies) == 7


def test_keys_tell_all_apart_that_changes_a_reply() -> None:
    ask = {"model": "m", "messages": ["p"]}
    keys = {
        ReplyCache.key("http://a", ask),
        ReplyCache.key("http://b", ask),
        ReplyCache.key("http://a", {**ask, "messages": ["p2"]}),
        ReplyCache.key("http://a", {**ask, "messages": ["\ud800"]}),
        ReplyCache.key("http://a", {**ask, "model": "m2"}),
        ReplyCache.key("http://a", {**ask, "seed": 1}),
        ReplyCache.key("http://a", {**ask, "response_format": {"type": "json_object"}}),
        ReplyCache.key("http://a", ask, repeat=1),
    }
    assert len(keys) == 8
    assert ReplyCache.key("u", {"a": 1, "b": 2}) == ReplyCache.key("u", {"b": 2, "a": 1})


def test_each_repeat_is_asked_once(tmp_path: Path) -> None:
    with judge_server(GOOD) as server:
        judge = critic(server, cache_dir=tmp_path)
        for repeat in (0, 1, 0, 1):
            with repeated(repeat):
                judge.score(prompt="x")
    assert len(server.bodies) == 2


def test_what_a_metric_cannot_use_is_not_kept(tmp_path: Path) -> None:
    claims, answer = '{"claims": ["Rent is due", "Pets are free"]}', gave("Rent is due. Pets are free.", "Rent is due.")
    too_few = '{"verdicts": [{"number": 1, "verdict": "yes"}]}'
    both = '{"verdicts": [{"number": 1, "verdict": "yes"}, {"number": 2, "verdict": "no"}]}'
    with judge_server(chat(claims), chat(too_few), chat(both)) as server:
        judge = critic(server, cache_dir=tmp_path / "claims")
        with pytest.raises(JudgeReplyError, match="spoke of"):
            Faithfulness(critic=judge).measure(case(), answer)
        assert value(Faithfulness(critic=judge), case(), answer) == 0.5
    with judge_server(chat('{"score": 0.5}'), chat('{"score": 1}')) as server:
        helpful = Helpfulness(labels=JudgeLabels(critic(server, cache_dir=tmp_path / "labels")))
        with pytest.raises(JudgeReplyError, match="0 or 1"):
            helpful.measure(case(), answer)
        assert value(helpful, case(), answer) == 1


def test_what_a_killed_writer_left_in_the_cache_is_removed(tmp_path: Path) -> None:
    left = [tmp_path / "ab" / f".cd.json.x{i}.auepora.tmp" for i in range(2)]
    left[0].parent.mkdir()
    for path in left:
        path.write_text("half")
    os.utime(left[0], (0, 0))
    ReplyCache(tmp_path)
    assert [path.exists() for path in left] == [False, True]  # the other may be under way
