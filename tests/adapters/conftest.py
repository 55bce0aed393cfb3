"""Adapters against the real packages: no telemetry, and no socket that leaves this machine."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from tests.plugin.conftest import Example

from .endpoint import Endpoint, serving

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"  # read when haystack is imported, so before any test
os.environ["LANGSMITH_TRACING"] = "false"


@pytest.fixture
def project(pytester: pytest.Pytester) -> Example:
    return Example(pytester)


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """What a system behind HTTP asks."""
    with serving() as made:
        yield made


@pytest.fixture(autouse=True)
def only_loopback(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """Refuse every connection beyond loopback, and fail the test that tried one."""
    tried: list[Any] = []
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family != socket.AF_UNIX and address[0] not in ("127.0.0.1", "::1", "localhost"):
            tried.append(address)
            raise PermissionError(f"a test tried to reach {address}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)
    yield tried
    assert not tried
