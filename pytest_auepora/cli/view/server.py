"""Serves the page on the loopback interface, and to nobody else.

Any page that a browser shows may send requests to this machine, and a name that it owns may resolve to it.  So the
host that was asked for has to be the loopback interface, reads included; what writes needs the page's own origin and
a token that is new at every start.  Nobody may show the page in a frame.
"""

from __future__ import annotations

import secrets
import socket
from contextlib import suppress

import uvicorn
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

TOKEN_HEADER = "x-auepora-token"
_HOSTS = ("127.0.0.1", "localhost", "[::1]")

HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
}


class Guard:
    """Lets through what the page itself asks for, and answers with `HEADERS`.

    Args:
        app: what is guarded.
        token: what a write has to send.
    """

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app, self._token = app, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        refused = self._refused(scope["method"], scope["path"], Headers(scope=scope))
        app: ASGIApp = PlainTextResponse(refused, 403) if refused else self._app
        await app(scope, receive, send_with_headers)

    def _refused(self, method: str, path: str, headers: Headers) -> str:
        host = headers.get("host", "")
        if host.rpartition(":")[0] not in _HOSTS and host not in _HOSTS:
            return "this page is for the browser on this machine: ask for 127.0.0.1 or localhost"
        if path != "/" and headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return "another page may link to this one, and ask for nothing else"
        if method in ("GET", "HEAD"):
            return ""
        if headers.get("origin", "") != f"http://{host}":
            return "only the page itself may write"
        if not secrets.compare_digest(headers.get(TOKEN_HEADER, "").encode(), self._token.encode()):
            return "the page is from an earlier start: reload it"
        return ""


def bound(port: int, usual: int = 0) -> socket.socket:
    """Return a socket that listens on the loopback interface: at *port*, for 0 at the *usual* one or any.

    Raises:
        OSError: *port* is taken.
    """
    if not port and usual:
        with suppress(OSError):
            return bound(usual)
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(("127.0.0.1", port))
        made.listen(128)
    except OSError:
        made.close()
        raise
    return made


def server_of(app: ASGIApp) -> uvicorn.Server:
    """Return a server of *app* that says nothing but its errors."""
    config = uvicorn.Config(
        app, log_level="error", access_log=False, server_header=False, lifespan="off", ws="none", loop="asyncio",
        http="h11", timeout_graceful_shutdown=2,
    )  # fmt: skip
    return uvicorn.Server(config)


def serve(app: ASGIApp, listening: socket.socket) -> None:
    """Serve *app* until Ctrl-C."""
    with suppress(KeyboardInterrupt):
        server_of(app).run(sockets=[listening])
