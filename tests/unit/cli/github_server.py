"""A GitHub that knows one repository with pull requests and comments, on loopback."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.loopback import Quiet, served

BOT = "github-actions[bot]"


@dataclass
class FakeGitHub:
    """What the repository holds; ``answers`` replaces the reply to the next requests: (status, headers, body)."""

    url: str = ""
    token: str = "t0ken"
    pulls: list[dict[str, Any]] = field(default_factory=list)
    comments: list[dict[str, Any]] = field(default_factory=list)
    answers: list[tuple[int, dict[str, str], str]] = field(default_factory=list)
    requests: list[tuple[str, str]] = field(default_factory=list)

    def comment(self, body: str, login: str = BOT) -> dict[str, Any]:
        number = 100 + len(self.comments)
        made = {"id": number, "body": body, "user": {"login": login}, "html_url": f"https://example.org/c{number}"}
        self.comments.append(made)
        return made

    def pull(self, number: int, label: str, sha: str) -> None:
        self.pulls.append({"number": number, "head": {"label": label, "sha": sha}})

    @property
    def bodies(self) -> list[str]:
        return [comment["body"] for comment in self.comments]

    def reply(self, method: str, path: str, query: dict[str, list[str]], body: Any) -> Any:
        """Return what GitHub would, or None for 404."""
        if method == "GET" and path == "/repos/acme/shop/pulls":
            head = query.get("head", [""])[0]
            return _page([p for p in self.pulls if p["head"]["label"] == head or ":" not in head], query)
        if path == "/repos/acme/shop/issues/7/comments":
            return _page(self.comments, query) if method == "GET" else self.comment(body["body"])
        if method == "PATCH" and path.startswith("/repos/acme/shop/issues/comments/"):
            for comment in self.comments:
                if comment["id"] == int(path.rsplit("/", 1)[1]):
                    comment["body"] = body["body"]
                    return comment
        return None


def _page(found: list[Any], query: dict[str, list[str]]) -> list[Any]:
    size, page = int(query.get("per_page", ["30"])[0]), int(query.get("page", ["1"])[0])
    return found[size * (page - 1) : size * page]


class _Handler(Quiet):
    protocol_version = "HTTP/1.0"

    def __init__(self, github: FakeGitHub, *args: Any) -> None:
        self.github = github
        super().__init__(*args)

    def answer(self) -> None:
        status, headers, text = self.reply()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text.encode())

    do_GET = do_POST = do_PATCH = answer  # noqa: N815 - names of the standard library

    def reply(self) -> tuple[int, dict[str, str], str]:
        github, raw, parts = self.github, self.sent(), urlsplit(self.path)
        github.requests.append((self.command, parts.path))
        if github.answers:
            return github.answers.pop(0)
        if self.headers.get("Authorization") != f"Bearer {github.token}":
            return 401, {}, json.dumps({"message": "Bad credentials"})
        body = github.reply(self.command, parts.path, parse_qs(parts.query), json.loads(raw) if raw else None)
        return (404, {}, json.dumps({"message": "Not Found"})) if body is None else (200, {}, json.dumps(body))


@contextmanager
def serving() -> Iterator[FakeGitHub]:
    """Serve a repository as long as the context is open."""
    github = FakeGitHub()
    with served(partial(_Handler, github)) as github.url:
        yield github
