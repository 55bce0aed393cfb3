"""The routes of the page: its files, what it asks for as JSON, labels, and the export as one file."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping
from functools import wraps
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ...core.files import shown_path
from ...errors import AueporaError, NotComparableError, UnknownRunError
from ...reporting.trend import Trend, trend_of
from .cases import case_page, cases_page, evidence_of
from .labels import label_path, labels_of, put_label
from .library import Library, Pair
from .overview import listed_run, overview, slice_metrics
from .server import Guard

MOST_BODY = 64 * 1024
RUNS = 200
"""Runs of a list that are sent at a time."""

_REPORT = files("pytest_auepora.reporting.html").joinpath("templates")
_PAGE = files("pytest_auepora.cli.view").joinpath("page")
_STYLES = (*(_REPORT / name for name in ("base.css", "parts.css", "cases.css")), _PAGE / "view.css")
_SCRIPTS = (
    *(_REPORT / name for name in ("elements.js", "theme.js", "details.js")),
    *(_PAGE / name for name in ("state.js", "runs.js", "run.js", "list.js", "case.js", "main.js")),
)

Asked = Mapping[str, str]


def app_of(library: Library, token: str = "") -> Guard:
    """Return the application; *token* is what writes have to send, by default a new one."""

    def answered(make: Callable[[Library, Asked], Any]) -> Callable[[Request], Response]:
        @wraps(make)
        def answer(request: Request) -> Response:
            try:
                made = make(library, request.query_params)
            except (AueporaError, OSError) as exc:
                return _failed(exc)
            return made if isinstance(made, Response) else JSONResponse(made)

        return answer

    async def label(request: Request) -> Response:
        body = b""
        async for piece in request.stream():
            body += piece
            if len(body) > MOST_BODY:
                return JSONResponse({"error": "too long for a label"}, 413)
        try:
            return JSONResponse(await run_in_threadpool(_put_label, library, json.loads(body)))
        except (AueporaError, OSError) as exc:
            return _failed(exc)
        except (ValueError, KeyError, TypeError):
            return JSONResponse({"error": "expected run, case, metric, person and label"}, 400)

    token = token or secrets.token_urlsafe(32)
    start = {"token": token}
    reads = {"runs": _runs, "run": _run, "slices": _slices, "cases": _cases, "case": _case}
    routes = [
        Route("/", lambda _: Response((_PAGE / "view.html").read_bytes(), media_type="text/html")),
        Route("/view.css", lambda _: Response("".join(map(_text, _STYLES)), media_type="text/css")),
        Route("/view.js", lambda _: Response(_script(), media_type="text/javascript")),
        Route("/api/start", lambda _: JSONResponse(start)),
        *(Route(f"/api/{name}", answered(make)) for name, make in reads.items()),
        Route("/api/label", label, methods=["POST"]),
        Route("/export", answered(_export)),
    ]
    return Guard(Starlette(routes=routes), token)


def _failed(error: Exception) -> Response:
    code = 404 if isinstance(error, UnknownRunError) else 409 if isinstance(error, NotComparableError) else 500
    return JSONResponse({"error": str(error)}, code)


def _text(file: Any) -> str:
    return str(file.read_text(encoding="utf-8"))


def _script() -> str:
    return f'(() => {{\n"use strict";\n{"".join(map(_text, _SCRIPTS))}}})();\n'


def _pair(library: Library, asked: Asked) -> Pair:
    return library.pair(asked.get("run", ""), asked.get("against", ""))


def _runs(library: Library, asked: Asked) -> Any:
    found = library.store.runs(None)
    suites = list(dict.fromkeys(one.title for one in found))
    wanted = [one for one in found if asked.get("suite", "") in ("", one.title)]
    said = asked.get("from", "")
    first = int(said) if said.isdecimal() else 0
    shown = [listed_run(one) for one in wanted[first : first + RUNS]]
    return {"name": library.store.name, "suites": suites, "runs": shown, "found": len(wanted)}


def _run(library: Library, asked: Asked) -> Any:
    return overview(library, _pair(library, asked))


def _slices(library: Library, asked: Asked) -> Any:
    return slice_metrics(_pair(library, asked), asked.get("label", ""))


def _cases(library: Library, asked: Asked) -> Any:
    return cases_page(_pair(library, asked), asked)


def _case(library: Library, asked: Asked) -> Any:
    pair = _pair(library, asked)
    told = case_page(library, pair, asked.get("case", ""), asked)
    case = library.case(pair, asked["case"])
    for judge in told["judges"]:
        path = label_path(library.labels, pair.run.suite, judge["metric"])
        judge |= {"labels": labels_of(path, case), "file": shown_path(path, library.root)}
    return told


def _put_label(library: Library, said: Mapping[str, Any]) -> Any:
    pair = library.pair(str(said["run"]))
    case, metric, label = library.case(pair, str(said["case"])), str(said["metric"]), said["label"]
    if label is not None and not isinstance(label, bool):
        raise TypeError("a label is true, false or null")
    path = label_path(library.labels, pair.run.suite, metric)
    evidence = evidence_of(library, pair, case)
    return {"labels": put_label(path, pair.run, case, metric, {str(said["person"]): label}, evidence=evidence)}


def _export(library: Library, asked: Asked) -> Response:
    from ...reporting.html.report import html_report

    pair = _pair(library, asked)
    past = trend_of(library.store, pair.run, pair.info.run_id)
    trends = {pair.run.title: Trend(past.runs, pair.other)}
    made = html_report([pair.run], [pair.verdict], trends)
    name = f"auepora-{pair.info.run_id}.html"
    return Response(made, media_type="text/html", headers={"content-disposition": f'attachment; filename="{name}"'})
