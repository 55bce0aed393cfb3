"""A server on loopback that speaks chat completions and misbehaves as told."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from pytest_auepora.metrics.judge.client import OpenAICompatibleCritic
from tests.loopback import Quiet, served


@dataclass
class Reply:
    """One HTTP reply; ``delay`` seconds before it, ``trickle`` seconds between its bytes."""

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    trickle: float = 0.0
    hang_up: bool = False


def chat(content: Any, *, usage: Any = None, finish: str = "stop") -> Reply:
    """Return a well-formed completion with *content*."""
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content}}
    counted = {"prompt_tokens": 100, "completion_tokens": 10} if usage is None else usage
    return Reply({"object": "chat.completion", "choices": [choice], "usage": counted})


GOOD = chat('{"rationale": "as the policy says", "score": 0.75}')


@dataclass
class JudgeServer:
    """Gives the scripted replies in order, the last one for ever; remembers requests and how many ran at once."""

    url: str = ""
    script: list[Reply] = field(default_factory=list)
    answer: Callable[[dict[str, Any]], Reply] | None = None
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    running: int = 0
    most_running: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def next_reply(self, body: dict[str, Any]) -> Reply:
        if self.answer is not None:
            return self.answer(body)
        return self.script.pop(0) if len(self.script) > 1 else self.script[0]


class _Handler(Quiet):
    protocol_version = "HTTP/1.1"

    def __init__(self, state: JudgeServer, *args: Any) -> None:
        self.state = state
        super().__init__(*args)

    def answer(self) -> None:
        state, raw = self.state, self.sent()
        with state.lock:
            state.bodies.append(json.loads(raw))
            state.headers.append(dict(self.headers.items()))
            state.paths.append(self.path)
            state.times.append(time.monotonic())
            state.running += 1
            state.most_running = max(state.most_running, state.running)
            reply = state.next_reply(state.bodies[-1])
        time.sleep(reply.delay)
        with state.lock:
            state.running -= 1  # before the reply: its reader may send the next request at once
        with suppress(OSError):  # the client gave up
            self.give(reply)

    do_POST = answer  # noqa: N815 - a name of the standard library

    def give(self, reply: Reply) -> None:
        if reply.hang_up:
            self.connection.close()
            return
        raw = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(raw)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        if not reply.trickle:
            self.wfile.write(raw)
            return
        for i in range(len(raw)):
            self.wfile.write(raw[i : i + 1])
            self.wfile.flush()
            time.sleep(reply.trickle)


@contextmanager
def judge_server(*script: Reply, answer: Callable[[dict[str, Any]], Reply] | None = None) -> Iterator[JudgeServer]:
    """Serve until the block ends."""
    state = JudgeServer(script=list(script), answer=answer)
    with served(partial(_Handler, state)) as url:
        state.url = f"{url}/v1"
        yield state


def critic(server: JudgeServer, **options: Any) -> OpenAICompatibleCritic:
    """Return one that asks *server*, and does not wait for long."""
    options = {"backoff": 0.01, "timeout": 5.0, **options}
    return OpenAICompatibleCritic("judge-1", base_url=server.url, **options)
