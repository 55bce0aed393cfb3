"""The OpenAI-compatible critic and servers in trouble."""

from __future__ import annotations

import json
import time
import traceback
from email.utils import formatdate
from html import escape
from typing import Any
from urllib.parse import quote

import pytest

from pytest_auepora.adapters.http import HttpRag
from pytest_auepora.base.http import mask, mask_url, mask_urls, url_secrets
from pytest_auepora.core.types import EvaluationSample
from pytest_auepora.errors import AueporaError
from pytest_auepora.metrics.judge.client import JudgeCallError, OpenAICompatibleCritic, TransientJudgeError
from tests.loopback import nobody_listens
from tests.unit.metrics.judge.judge_server import GOOD, Reply, critic, judge_server

pytestmark = pytest.mark.usefixtures("no_proxy")


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 529])
def test_a_busy_server_is_asked_again(status: int) -> None:
    trouble = Reply({"error": "busy"}, status)
    with judge_server(trouble, trouble, GOOD) as server:
        judge = critic(server)
        assert judge.score(prompt="x") == 0.75
    assert len(server.bodies) == 3
    assert (judge.usage.requests, judge.usage.retries) == (3, 2)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_a_refusal_is_final(status: int) -> None:
    with (
        judge_server(Reply({"error": {"message": "no such model"}}, status), GOOD) as server,
        pytest.raises(JudgeCallError, match=f"said {status}: .*no such model") as caught,
    ):
        critic(server).score(prompt="x")
    assert caught.value.status == status
    assert not isinstance(caught.value, TransientJudgeError)
    assert len(server.bodies) == 1


def test_attempts_end() -> None:
    with judge_server(Reply({"error": "down"}, 500)) as server, pytest.raises(TransientJudgeError, match="said 500"):
        critic(server, attempts=4).score(prompt="x")
    assert len(server.bodies) == 4


def test_waits_double_unless_the_server_asks_for_another() -> None:
    with judge_server(Reply(None, 500), Reply(None, 500), Reply(None, 500), GOOD) as server:
        critic(server, backoff=0.1).score(prompt="x")
    gaps = [b - a for a, b in zip(server.times, server.times[1:], strict=False)]
    assert gaps[0] >= 0.1
    assert gaps[1] >= 0.2
    assert gaps[2] >= 0.4
    with judge_server(Reply(None, 429, {"Retry-After": "0.3"}), GOOD) as server:
        critic(server).score(prompt="x")
    assert server.times[1] - server.times[0] >= 0.3
    with judge_server(Reply(None, 429, {"Retry-After": "3600"}), GOOD) as server:
        critic(server, max_wait=0.2).score(prompt="x")
    assert 0.2 <= server.times[1] - server.times[0] < 1800


@pytest.mark.parametrize(
    ("header", "seconds"),
    [({"Retry-After": "7.5"}, 7.5), ({"retry-after-ms": "1500", "Retry-After": "2"}, 1.5), ({}, None)],
)
def test_what_the_server_asks_for_stands_on_the_error(header: dict[str, str], seconds: float | None) -> None:
    with judge_server(Reply(None, 429, header)) as server, pytest.raises(TransientJudgeError) as caught:
        critic(server, attempts=1).score(prompt="x")
    assert caught.value.retry_after == seconds


def test_a_retry_date_is_so_many_seconds_away() -> None:
    date = formatdate(time.time() + 3600, usegmt=True)
    with judge_server(Reply(None, 503, {"Retry-After": date})) as server, pytest.raises(TransientJudgeError) as caught:
        critic(server, attempts=1).score(prompt="x")
    assert caught.value.retry_after is not None
    assert 1800 < caught.value.retry_after <= 3600


def test_a_slow_server_is_given_up_and_tried_again() -> None:
    slow = Reply({}, delay=2.0)
    with judge_server(slow, GOOD) as server:
        assert critic(server, timeout=0.3).score(prompt="x") == 0.75
        assert len(server.bodies) >= 2
    with judge_server(slow) as server, pytest.raises(TransientJudgeError, match=r"no reply within 0\.2 s"):
        critic(server, timeout=0.2, attempts=2).score(prompt="x")


def test_a_connection_that_breaks_is_tried_again() -> None:
    with judge_server(Reply(hang_up=True), GOOD) as server:
        assert critic(server).score(prompt="x") == 0.75
    with (
        nobody_listens() as url,
        pytest.raises(TransientJudgeError, match="cannot be reached: ConnectionRefusedError"),
    ):
        OpenAICompatibleCritic("m", base_url=f"{url}/v1", attempts=2, backoff=0.01).score(prompt="x")


def test_a_redirect_is_not_followed() -> None:
    with (
        judge_server(GOOD) as other,
        judge_server(Reply(None, 307, {"Location": other.url})) as server,
        pytest.raises(JudgeCallError, match="said 307"),
    ):
        critic(server).score(prompt="x")
    assert other.bodies == []


def test_a_reply_without_end_is_cut() -> None:
    with judge_server(Reply(b" " * (11 * 2**20))) as server, pytest.raises(JudgeCallError, match="gave more than"):
        critic(server).score(prompt="x")


KEY = "judge-key-0123456789"


def with_locals(error: BaseException) -> str:
    """Return the traceback of *error* with the variables of every frame but the test's own."""
    assert error.__traceback__ is not None
    frames = traceback.walk_tb(error.__traceback__.tb_next)
    return "".join(traceback.StackSummary.extract(frames, capture_locals=True).format())


@pytest.mark.parametrize(
    "reply",
    [
        Reply({"error": "x" * 270 + KEY}, 401),
        Reply({"no choices": KEY}),
        Reply({"choices": [{"message": {"content": {"text": KEY}}}]}),
        Reply({"choices": [{"message": {"content": f"score for {KEY}"}}]}),
    ],
)
@pytest.mark.parametrize("end", ["", "\n"])
def test_a_key_that_comes_back_is_in_no_message(reply: Reply, end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY + end)
    with judge_server(reply) as server, pytest.raises(AueporaError) as caught:
        critic(server, attempts=1, api_key_env="OPENAI_API_KEY").score(prompt="x")
    assert KEY[:8] not in str(caught.value)
    assert KEY[:8] not in with_locals(caught.value)


@pytest.mark.parametrize("ask", [
    lambda url: OpenAICompatibleCritic("m", api_key_env="RAG_TOKEN", base_url=url).score(prompt="x"),
    lambda url: HttpRag(url, headers={"Authorization": "Bearer ${RAG_TOKEN}"}).run(EvaluationSample("s", "q")),
])  # fmt: skip
def test_a_key_is_in_no_variable_of_a_request(ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def cannot(*_: Any) -> Any:
        raise LookupError

    monkeypatch.setenv("RAG_TOKEN", KEY)
    monkeypatch.setattr("pytest_auepora.base.http._read_blocks", cannot)
    with pytest.raises(LookupError) as caught:
        ask("http://127.0.0.1:9/v1")
    assert KEY[:8] not in with_locals(caught.value)


@pytest.mark.parametrize(
    "written",
    [
        r'{"error": "no such key ab\/cd+ef=="}',
        '{"error": "key=ab%2Fcd%2Bef%3D%3D"}',
        '{"error": "no such key AB/CD+EF=="}',
        '{"error": "no such key Ab/cD+eF=="}',
        r'{"error": "no such key ab/cd\u002Bef\u003d\u003d"}',
        r'{"error": "{\"key\": \"ab\\/cd\\u002bef==\"}"}',
        '{"error": "<p>ab&#47;cd&#x2B;ef==</p>"}',
    ],
)
def test_a_key_written_another_way_is_masked_too(written: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "ab/cd+ef==")
    with judge_server(Reply(written.encode(), 401)) as server, pytest.raises(JudgeCallError) as caught:
        critic(server).score(prompt="x")
    assert "***" in str(caught.value)
    assert "cd" not in str(caught.value)


def test_every_text_of_a_reply_is_masked() -> None:
    reply = {"a": KEY, KEY: [f"<{KEY}>", {"n": 1, "x": None}], "short": "abc"}
    masked = {"a": "***", "***": ["<***>", {"n": 1, "x": None}], "short": "abc"}
    assert mask(reply, iter([KEY[:8], "abc", KEY])) == masked


@pytest.mark.parametrize("key", ["q\"u\\o'te", "<tag>&amp", "ключ-é"])
def test_characters_that_are_escaped_are_masked(key: str) -> None:
    in_json = json.dumps(json.dumps(key)[1:-1])[1:-1]
    for form in (key, json.dumps(key)[1:-1], in_json, quote(key), quote(key, safe=""), escape(key)):
        assert mask(f"key {form}, again {form.title()}", [key]) == "key ***, again ***"
    assert mask("all is well", [key]) == "all is well"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://me:se:cret@host/db", "postgresql://me:***@host/db"),
        ("postgresql+psycopg://me:sek@ret/pw@127.0.0.1:1/db", "postgresql+psycopg://me:***@127.0.0.1:1/db"),
        ("postgresql://h/db?user=me&password=x&sslmode=off", "postgresql://h/db?user=me&password=***&sslmode=off"),
        ("mysql://:pw@host/db?PASSWD=x#y", "mysql://:***@host/db?PASSWD=***#y"),
        ("https://ghp_abc@github.com/a/b", "https://***@github.com/a/b"),
        ("https://a.example/v1?version=1&api_key=k&sig=s", "https://a.example/v1?version=1&api_key=***&sig=***"),
        ("(at 'redis://u:p@h' and 'redis://u:q@h')", "(at 'redis://u:***@h' and 'redis://u:***@h')"),
        ("mssql+pyodbc:///?odbc_connect=UID%3Dme%3BPWD%3Dx&a=b", "mssql+pyodbc:///?odbc_connect=***&a=b"),
        ("postgresql://h/db?options=-cpassword%3dx", "postgresql://h/db?options=***"),
        ("postgresql://h/db?options=-csearch_path%3dx", "postgresql://h/db?options=-csearch_path%3dx"),
        ("postgresql://me@host/db", "postgresql://me@host/db"),
        ("https://a.example:8080/pkg@1.0", "https://a.example:8080/pkg@1.0"),
        ("https://a.example/pkg@1.0?q=a@b", "https://a.example/pkg@1.0?q=a@b"),
        ("sqlite:///here.sqlite", "sqlite:///here.sqlite"),
        ("write to me@a.example: 5 tokens", "write to me@a.example: 5 tokens"),
    ],
)
def test_urls_show_no_credentials(url: str, shown: str) -> None:
    assert mask_urls(url) == shown
    assert bool(url_secrets(url)) == (url != shown)
    assert not any(len(secret) > 1 and secret in shown for secret in url_secrets(url))


@pytest.mark.parametrize("password", ["se cret", "se'cret", 'se"cret', "se<cret>", "se\tcret"])
def test_a_password_of_any_characters_is_hidden(password: str) -> None:
    url = f"postgresql://me:{password}@host/db"
    assert mask_url(url) == "postgresql://me:***@host/db"
    assert password in url_secrets(url)
    assert "cret" not in mask_url(f"postgresql://host/db?password={password}")


def test_a_key_in_the_url_is_in_no_message() -> None:
    with judge_server(Reply({"error": f"no such key {KEY.lower()}"}, 401)) as server:
        rag = HttpRag(f"{server.url}?api_key={KEY}")
        with pytest.raises(AueporaError) as caught:
            rag.run(EvaluationSample("s", "q"))
    assert "no such key ***" in str(caught.value)
    assert KEY not in repr(rag)


def test_a_line_break_after_a_key_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", f"{KEY}\r\n")
    with judge_server(GOOD) as server:
        critic(server).score(prompt="x")
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("inside", ["\n", "\x1b", "…"])
def test_a_key_that_no_header_may_hold_is_not_told(inside: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY + inside + KEY)
    with judge_server(GOOD) as server, pytest.raises(JudgeCallError, match="header Authorization") as caught:
        critic(server).score(prompt="x")
    assert KEY not in str(caught.value)
    assert not isinstance(caught.value, TransientJudgeError)
    assert server.bodies == []
