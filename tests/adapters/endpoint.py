"""A real server that answers as it is told, for systems behind HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from tests.loopback import Quiet, served

SECRET = "s3cret-token-value"
"""What no message may show."""


class Endpoint:
    """What the server noted of what it was asked, and what it is told to answer."""

    def __init__(self) -> None:
        self.url = ""
        self.asked: list[dict[str, Any]] = []
        self.status = 200
        self.body: bytes | Callable[[Any], object] = b"{}"
        self.headers: dict[str, str] = {}

    def says(self, value: Any) -> None:
        self.body = json.dumps(value).encode()


class Handler(Quiet):
    def __init__(self, endpoint: Endpoint, *args: Any) -> None:
        self.endpoint = endpoint
        super().__init__(*args)

    def answer(self) -> None:
        endpoint, sent = self.endpoint, self.sent()
        headers = {k.lower(): v for k, v in self.headers.items()}
        body = json.loads(sent) if sent else None
        endpoint.asked.append({"method": self.command, "path": self.path, "headers": headers, "body": body})
        if callable(endpoint.body):
            endpoint.body(self)
            return
        self.send_response(endpoint.status)
        for name, value in endpoint.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(endpoint.body)))
        self.end_headers()
        self.wfile.write(endpoint.body)

    do_GET = do_POST = do_PUT = answer  # noqa: N815


@contextmanager
def serving() -> Iterator[Endpoint]:
    """Serve an endpoint as long as the context is open."""
    made = Endpoint()
    with served(partial(Handler, made)) as url:
        made.url = f"{url}/ask"
        yield made
