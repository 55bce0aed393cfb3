"""What the OpenAI-compatible critic keeps of the replies."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_auepora.metrics.judge.cache import ReplyCache
from pytest_auepora.metrics.judge.client import JudgeCallError, OpenAICompatibleCritic

from .judge_server import GOOD, critic, judge_server

pytestmark = pytest.mark.usefixtures("no_proxy")


def test_a_question_is_asked_once(tmp_path: Path) -> None:
    with judge_server(GOOD) as server:
        first = critic(server, cache_dir=tmp_path)
        assert first.score(prompt="x") == first.score(prompt="x") == 0.75
        assert (first.usage.requests, first.usage.cache_hits) == (1, 1)
        again = critic(server, cache_dir=tmp_path)
        found = again.judge(prompt="x")
        assert (found.rationale, found.usage) == ("as the policy says", {"cached": True})
        assert (again.usage.requests, again.usage.cost) == (0, None)
        critic(server, cache_dir=tmp_path, temperature=0.5).score(prompt="x")
        critic(server, cache_dir=tmp_path).score(prompt="y")
    assert len(server.bodies) == 3


def test_replay_without_a_server(tmp_path: Path) -> None:
    with judge_server(GOOD) as server:
        critic(server, cache_dir=tmp_path).score(prompt="known")
    replay = OpenAICompatibleCritic("judge-1", base_url="http://127.0.0.1:9", cache_dir=tmp_path, cache_only=True)
    assert replay.score(prompt="known") == 0.75
    with pytest.raises(JudgeCallError, match="not in the cache"):
        replay.score(prompt="new")
    assert replay.usage.requests == 0


def test_a_broken_cache_file_is_a_miss_and_mended(tmp_path: Path) -> None:
    with judge_server(GOOD) as server:
        judge = critic(server, cache_dir=tmp_path)
        judge.score(prompt="x")
        (file,) = tmp_path.rglob("*.json")
        for broken in (b"", b"{", b"[]", b'{"reply": 3}', b"\xff"):
            file.write_bytes(broken)
            assert judge.score(prompt="x") == 0.75
        assert json.loads(file.read_bytes())["reply"]
    assert len(server.bodies) == 6


def test_keys_tell_prompts_models_and_parameters_apart() -> None:
    cache = ReplyCache("unused")
    keys = {
        cache.key("p", "m", {}),
        cache.key("p2", "m", {}),
        cache.key("p", "m2", {}),
        cache.key("p", "m", {"seed": 1}),
        cache.key("\ud800", "m", {}),
    }
    assert len(keys) == 5
    assert cache.key("p", "m", {"a": 1, "b": 2}) == cache.key("p", "m", {"b": 2, "a": 1})
