"""The server of the page, on the loopback interface: the page, its data as JSON, labels, the export as one file.

Any page in a browser may send requests to this machine, and its domain may resolve to this machine.  So every request
has to name the loopback interface as its host; a write needs the page's own origin and a token that is new at every
start.  The page cannot be shown in a frame.
"""

from __future__ import annotations

import json
import secrets
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from ...errors import AueporaError, NotComparableError, UnknownRunError
from ...reporting.formats.json_report import from_outside
from ...reporting.page.page import html_report, page_text
from ...reporting.page.run_data import slice_rows
from ...reporting.report import Report, Trend, trend_of
from ...reporting.text import harmless
from .content import case_page, evidence_of, run_page, runs_page
from .library import Library, Pair, label_path, put_label

_MOST_BODY = 64 * 1024

_HOSTS = ("127.0.0.1", "localhost", "[::1]")

_HEADERS = {
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
}

Query = Mapping[str, str]


def app_of(library: Library, token: str = "") -> ASGIApp:
    """Return the application; *token* is what writes have to send, by default a new one."""
    token = token or secrets.token_urlsafe(32)

    def pair(query: Query) -> Pair:
        return library.pair(query.get("run", ""), query.get("against", ""))

    reads: dict[str, Callable[[Query], Any]] = {
        "/api/runs": lambda query: runs_page(library, query),
        "/api/run": lambda query: run_page(library, pair(query)),
        "/api/rows": lambda query: pair(query).rows.all,
        "/api/slices": lambda query: slice_rows(pair(query).rows, query.get("label", "")),
        "/api/case": lambda query: case_page(library, pair(query), query.get("case", "")),
        "/export": lambda query: _export(library, pair(query)),
    }

    page = page_text(connect="'self'")
    headers = {**_HEADERS, "content-security-policy": f"{page.policy}; frame-ancestors 'none'"}

    def json_handler(read: Callable[[Query], Any]) -> Callable[[Request], Response]:
        def handle(request: Request) -> Response:
            with from_outside(library.store.name):
                content = read(request.query_params)
                return content if isinstance(content, Response) else JSONResponse(content)

        return handle

    async def guard(request: Request, answer: RequestResponseEndpoint) -> Response:
        refusal = _refusal(request, token)
        response = PlainTextResponse(refusal, 403) if refusal else await answer(request)
        response.headers.update(headers)
        return response

    routes = [
        Route("/", lambda _: Response(page.text, media_type="text/html")),
        Route("/api/start", lambda _: JSONResponse({"token": token})),
        *(Route(path, json_handler(read)) for path, read in reads.items()),
        Route("/api/label", partial(_post_label, library), methods=["POST"]),
    ]
    errors = {AueporaError: _error_response, OSError: _error_response}
    return BaseHTTPMiddleware(Starlette(routes=routes, exception_handlers=errors), guard)


def _error_response(_: Request, error: Exception) -> Response:
    code = 404 if isinstance(error, UnknownRunError) else 409 if isinstance(error, NotComparableError) else 500
    return JSONResponse({"error": harmless(str(error))}, code)


async def _post_label(library: Library, request: Request) -> Response:
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > _MOST_BODY:
            return JSONResponse({"error": "too long for a label"}, 413)
    try:
        return JSONResponse(await run_in_threadpool(_put_label, library, json.loads(body)))
    except AueporaError:
        raise
    except (ValueError, KeyError, TypeError, RecursionError):
        return JSONResponse({"error": "expected run, case, metric, person and label"}, 400)


def _put_label(library: Library, body: Mapping[str, Any]) -> Any:
    pair = library.pair(str(body["run"]))
    case, metric, label = library.case(pair, str(body["case"])), str(body["metric"]), body["label"]
    if label is not None and not isinstance(label, bool):
        raise TypeError("a label is true, false or null")
    path = label_path(library.labels, pair.run.suite, metric)
    evidence = evidence_of(library, pair, case)
    person = str(body["person"])
    return {"labels": put_label(path, pair.run, case, metric, person=person, label=label, evidence=evidence)}


def _export(library: Library, pair: Pair) -> Response:
    trend = trend_of(library.store, pair.run, pair.info.run_id)
    other = pair.other or (library.store.load(pair.other_info.run_id) if pair.other_info is not None else None)
    trends = {(pair.run.path, pair.run.variant): Trend(trend.runs, other, pair.other_name)}
    page = html_report(Report([pair.run], [pair.verdict], trends=trends))
    disposition = f'attachment; filename="auepora-{pair.info.run_id}.html"'
    return Response(page, media_type="text/html", headers={"content-disposition": disposition})


def _refusal(request: Request, token: str) -> str:
    """Return why *request* is not one of the page itself; an empty string for one that is."""
    headers = request.headers
    host = headers.get("host", "")
    if host.rpartition(":")[0] not in _HOSTS and host not in _HOSTS:
        return "this page is for the browser on this machine: ask for 127.0.0.1 or localhost"
    if request.scope["path"] != "/" and headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
        return "another page may link to this one, and ask for nothing else"
    if request.method in ("GET", "HEAD"):
        return ""
    if headers.get("origin", "") != f"http://{host}":
        return "only the page itself may write"
    if not secrets.compare_digest(headers.get("x-auepora-token", "").encode(), token.encode()):
        return "the page is from an earlier start: reload it"
    return ""


def open_socket(port: int, usual: int = 0) -> socket.socket:
    """Return a socket that listens on the loopback interface: at *port*, for 0 at the *usual* one or any.

    Raises:
        OSError: *port* is taken.
    """
    if not port and usual:
        with suppress(OSError):
            return open_socket(usual)
    return socket.create_server(("127.0.0.1", port))


def server_of(app: ASGIApp) -> uvicorn.Server:
    """Return a server of *app* that says nothing but its errors."""
    return uvicorn.Server(uvicorn.Config(
        app, log_level="error", access_log=False, server_header=False, lifespan="off", ws="none", loop="asyncio",
        http="h11", timeout_graceful_shutdown=2,
    ))  # fmt: skip


def serve(app: ASGIApp, listening: socket.socket) -> None:
    """Serve *app* until Ctrl-C."""
    with suppress(KeyboardInterrupt):
        server_of(app).run(sockets=[listening])
