"""What opens URLs: no redirects, and one deadline for all of a request."""

from __future__ import annotations

import time
from functools import lru_cache
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from io import BufferedReader, RawIOBase
from socket import socket
from typing import Any
from urllib.request import HTTPHandler, HTTPRedirectHandler, HTTPSHandler, OpenerDirector, build_opener


@lru_cache(maxsize=1)
def opener() -> OpenerDirector:
    """Return the opener; proxies are those of the environment.

    The timeout of a request is for all of it, from its first byte to the last of the reply, unlike that of a socket,
    which begins anew with every byte.  The system looks up names without a limit, and where a name has several
    addresses, each is given the timeout to be reached.
    """
    return build_opener(_NoRedirect, _Http, _Https)


class _NoRedirect(HTTPRedirectHandler):
    """Refuses redirects: they would send the key to another server."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


class _Http(HTTPHandler):
    def do_open(self, http_class: Any, req: Any, **options: Any) -> HTTPResponse:
        return super().do_open(_Connection, req, **options)


class _Https(HTTPSHandler):
    def do_open(self, http_class: Any, req: Any, **options: Any) -> HTTPResponse:
        return super().do_open(_SecureConnection, req, **options)


class _Connection(HTTPConnection):
    """A connection for one request, whose timeout is for all of it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._deadline = time.monotonic() + (self.timeout or 0.0)  # every request has one

    def connect(self) -> None:
        super().connect()
        _set_timeout(self.sock, self._deadline)

    def send(self, data: Any) -> None:
        if self.sock is not None:
            _set_timeout(self.sock, self._deadline)
        super().send(data)

    def response_class(self, sock: socket, *args: Any, **kwargs: Any) -> HTTPResponse:  # type: ignore[override]
        response = HTTPResponse(sock, *args, **kwargs)
        response.fp = BufferedReader(_Incoming(sock, response.fp.detach(), self._deadline))
        return response


class _SecureConnection(HTTPSConnection, _Connection):
    """The same with TLS: `HTTPSConnection.connect` calls that of `_Connection`, and then shakes hands."""


class _Incoming(RawIOBase):
    """What comes from *sock*, read by *file*, until the deadline."""

    def __init__(self, sock: socket, file: RawIOBase, deadline: float) -> None:
        self._sock, self._file, self._deadline = sock, file, deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        _set_timeout(self._sock, self._deadline)
        return self._file.readinto(buffer)

    def close(self) -> None:
        self._file.close()
        super().close()


def _set_timeout(sock: socket, deadline: float) -> None:
    """Let the next step of *sock* time out at the *deadline*.

    Raises:
        TimeoutError: it has passed.
    """
    seconds_left = deadline - time.monotonic()
    if seconds_left <= 0:
        raise TimeoutError
    sock.settimeout(seconds_left)
