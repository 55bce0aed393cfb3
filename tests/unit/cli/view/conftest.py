"""Three stored runs, and the page over them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import NamedTuple

import pytest

from pytest_auepora.cli.view.app import app_of, open_socket, server_of

from .histories import Stored, stored

TOKEN = "let-me-in"
LABEL = b'{"run": "last", "case": "steady", "metric": "helpful", "person": "anna", "label": true}'


class Reply(NamedTuple):
    code: int
    headers: dict[str, str]
    body: str


class Page:
    """Asks the server as anybody could."""

    def __init__(self, port: int) -> None:
        self.port, self.host = port, f"127.0.0.1:{port}"

    def __call__(self, path: str, method: str = "GET", body: bytes = b"", **headers: str) -> Reply:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body or None, given)
        reply = connection.getresponse()
        made = Reply(reply.status, {k.lower(): v for k, v in reply.getheaders()}, reply.read().decode())
        connection.close()
        return made


@pytest.fixture
def page(history: Stored) -> Iterator[Page]:
    listening = open_socket(0)
    server = server_of(app_of(history.library, TOKEN))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    yield Page(listening.getsockname()[1])
    server.should_exit = True
    thread.join()
    listening.close()


@pytest.fixture
def history(tmp_path: Path) -> Stored:
    return stored(tmp_path)
