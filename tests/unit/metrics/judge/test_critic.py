"""The critic that the environment names, and options that make no sense."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.errors import MetricError
from pytest_auepora.metrics.judge.client import (
    OpenAICompatibleCritic,
)
from pytest_auepora.metrics.judge.settings import critic_from_environment

from .judge_server import GOOD, judge_server
from .test_client import KEY


def test_the_critic_of_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("AUEPORA_JUDGE_URL", raising=False)
    with pytest.raises(MetricError, match="AUEPORA_JUDGE_URL and AUEPORA_JUDGE_MODEL"):
        critic_from_environment()
    with judge_server(GOOD) as server:
        monkeypatch.setenv("AUEPORA_JUDGE_URL", server.url + "/")
        monkeypatch.setenv("AUEPORA_JUDGE_MODEL", "m")
        monkeypatch.setenv("AUEPORA_JUDGE_API_KEY", "k")
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("AUEPORA_JUDGE_CACHE", str(tmp_path))
        assert critic_from_environment().score(prompt="x") == 0.75
    assert server.headers[0]["Authorization"] == "Bearer k"
    assert server.paths == ["/v1/chat/completions"]
    assert list(tmp_path.rglob("*.json"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"base_url": "ftp://x"}, "base_url must be"),
        ({"base_url": "file:///etc/passwd"}, "base_url must be"),
        ({"base_url": "https://user:pw@host/v1"}, "base_url must be"),
        ({"base_url": "https://host/v1?key=1"}, "base_url must be"),
        ({"base_url": "https://host/v1/chat/completions"}, "ends before /chat/completions"),
        ({"timeout": 0}, "timeout above 0"),
        ({"timeout": float("nan")}, "timeout above 0"),
        ({"concurrency": 0}, "concurrency of at least 1"),
        ({"attempts": 0}, "attempts must be at least 1"),
        ({"backoff": -1}, "must not be negative"),
        ({"cache_only": True}, "needs a cache_dir"),
    ],
)
def test_options_that_make_no_sense(options: dict[str, Any], message: str) -> None:
    with pytest.raises(MetricError, match=message):
        OpenAICompatibleCritic("m", **options)
    with pytest.raises(MetricError, match="needs a model"):
        OpenAICompatibleCritic("")
