"""A RAG system behind an HTTP endpoint, by a few lines of configuration.

    HttpRag(
        "https://rag.example/ask",
        json={"question": "{query}", "limit": "{top_k}"},
        headers={"Authorization": "Bearer ${RAG_TOKEN}"},
        answer="$.choices[0].message.content",
        documents="hits",
        doc_id="_id",
        text="_source.body",
    )

``{query}``, ``{top_k}`` and ``{sample_id}`` are filled in, percent-encoded in the URL; a text that is ``"{top_k}"``
alone becomes the number.  Every call opens its own connection and is made once: no redirect is followed, since it could
carry the headers elsewhere, and nothing is retried (``auepora_retry`` names the errors that are: `HttpCallError`,
`CallTimeoutError`).  Header values stand in no message and no repr.
"""

from __future__ import annotations

import json as jsonlib
import time
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote, urlsplit

from ..core.retry import asked_by_headers
from ..core.types import EvaluationSample, Response, RetrievedDocument, SystemOutputs
from ..errors import AueporaError, CallTimeoutError, OutputShapeError, SystemShapeError
from .documents import NESTED_KEYS, to_retrieved
from .http_headers import expand, hide
from .json_path import NOT_THERE, Path
from .shapes import describe

__all__ = ["HttpCallError", "HttpRag"]

_SHOWN = 200
_MAX_BYTES = 50_000_000
_QUESTION: Final = {"question": "{query}"}


class HttpCallError(AueporaError, ConnectionError):
    """The endpoint could not be reached, or said no.

    Attributes:
        status: the HTTP status, or None.
        retry_after: seconds that the endpoint asked to wait (``Retry-After``, as a number or a date), or None.
    """

    def __init__(self, message: str, status: int | None = None, retry_after: float | None = None) -> None:
        self.status = status
        self.retry_after = retry_after
        super().__init__(message)


class HttpRag:
    """A RAG system that is asked over HTTP and answers in JSON.

    Args:
        url: ``http`` or ``https``.
        method: the HTTP method; ``GET`` sends no body.
        json: the body, with the placeholders above.
        answer: where the answer is, a dotted path such as ``$.choices[0].text``; None for a retriever alone.
        documents: where the list of documents is; None if there is none.
        doc_id: where a document's id is, inside the document; by default wherever ids usually are.
        text: where its text is; by default likewise.
        score: where its score is; by default likewise.
        headers: ``${NAME}`` stands for an environment variable, which has to be there.
        timeout: seconds for the whole call.

    Raises:
        SystemShapeError: a URL that is none, a path that cannot be read, a variable that is not set, …
    """

    def __init__(
        self,
        url: str,
        *,
        method: str = "POST",
        json: Any = _QUESTION,
        answer: str | None = "$.answer",
        documents: str | None = None,
        doc_id: str | None = None,
        text: str | None = None,
        score: str | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float = 30.0,
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise SystemShapeError(f"HttpRag: {parts.scheme or url!r} is no http(s) URL")
        if parts.username or parts.password:
            raise SystemShapeError("HttpRag: a password in the URL would show in reports; put it into a header")
        if answer is None and documents is None:
            raise SystemShapeError("HttpRag: neither answer nor documents are read; nothing would be measured")
        if not timeout > 0:
            raise SystemShapeError(f"HttpRag: timeout is {timeout!r}; accepted: seconds, above 0")
        self._url = url
        self._where = f"{parts.scheme}://{parts.hostname}{f':{parts.port}' if parts.port else ''}{parts.path}"
        self._method = method.upper()
        self._json = json
        self._answer = None if answer is None else Path(answer)
        self._documents = None if documents is None else Path(documents)
        self._fields = {k: Path(v) for k, v in (("id", doc_id), ("text", text), ("score", score)) if v is not None}
        self._headers, self._secrets = expand(headers or {})
        self._timeout = float(timeout)
        self.auepora_name = f"HTTP {parts.netloc}{parts.path}"

    def __repr__(self) -> str:
        names = ", ".join(self._headers)
        return f"HttpRag({self._method} {self._where}{f', headers: {names}' if names else ''})"

    def run(self, sample: EvaluationSample, *, top_k: int = 5) -> SystemOutputs:
        """Ask the endpoint.

        Raises:
            HttpCallError: it cannot be reached, or answers with a status other than 2xx.
            CallTimeoutError: it takes longer than the timeout.
            OutputShapeError: what it says is no JSON, or holds no answer where one should be.
        """
        status, body = self._send(sample, top_k)
        try:
            said = jsonlib.loads(body)
        except (ValueError, RecursionError):
            raise OutputShapeError(f"{self._where} answered {status} with something that is no JSON: "
                                   f"{self._shown(body)}") from None  # fmt: skip
        answer = "" if self._answer is None else self._read_answer(said, self._answer)
        retrieved = [] if self._documents is None else self._read_documents(said, self._documents)
        return SystemOutputs(retrieved, Response(answer), extra={"status": status})

    def _send(self, sample: EvaluationSample, top_k: int) -> tuple[int, bytes]:
        from http.client import HTTPException
        from urllib.error import HTTPError
        from urllib.request import Request

        values = {"query": sample.query, "top_k": top_k, "sample_id": sample.sample_id}
        data = None if self._method == "GET" else jsonlib.dumps(_filled(self._json, values)).encode()
        kind = {} if data is None else {"Content-Type": "application/json"}
        headers = {"Accept": "application/json", **kind, **self._headers}
        request = Request(_quoted(self._url, values), data, headers, method=self._method)
        deadline = time.monotonic() + self._timeout
        failed: AueporaError
        try:
            with _open(request, self._timeout) as reply:
                return reply.status, self._read(reply, deadline)
        except HTTPError as exc:
            body = self._shown(_start_of(exc))
            message = hide(f"{self._method} {self._where} answered {exc.code} {exc.reason}: {body}", self._secrets)
            failed = HttpCallError(message, exc.code, asked_by_headers(exc.headers))
        except TimeoutError:
            failed = self._late()
        except (OSError, HTTPException, UnicodeError) as exc:
            if isinstance(getattr(exc, "reason", None), TimeoutError):
                failed = self._late()
            else:
                why = hide(str(getattr(exc, "reason", exc)) or type(exc).__name__, self._secrets)
                failed = HttpCallError(f"{self._method} {self._where} could not be reached: {why}")
        raise failed  # out here it has no context: the reply of a server cannot go to another process

    def _read(self, reply: Any, deadline: float) -> bytes:
        parts: list[bytes] = []
        size = 0
        while part := reply.read1(65536):
            parts.append(part)
            size += len(part)
            if time.monotonic() > deadline:  # a socket's timeout begins anew with every byte
                raise self._late()
            if size > _MAX_BYTES:
                raise OutputShapeError(f"{self._where} answered with more than {_MAX_BYTES:,} bytes")
        return b"".join(parts)

    def _late(self) -> CallTimeoutError:
        return CallTimeoutError(f"{self._method} {self._where} did not answer within {self._timeout:g} s")

    def _read_answer(self, said: Any, path: Path) -> str:
        found = path.find(said)
        if isinstance(found, str):
            return found
        raise self._not_there("answer", path, said, found, "a text")

    def _read_documents(self, said: Any, path: Path) -> list[RetrievedDocument]:
        found = path.find(said)
        if not isinstance(found, list):
            raise self._not_there("documents", path, said, found, "a list")
        if not self._fields:
            return to_retrieved(found)
        return to_retrieved([self._document(raw, rank) for rank, raw in enumerate(found, 1)])

    def _document(self, raw: Any, rank: int) -> Any:
        """Return a document with the named fields on top; the others stay what they are."""
        if not isinstance(raw, Mapping):
            raise OutputShapeError(f"document {rank} from {self._where} is {describe(raw)}, not a mapping")
        named = {k: v for k, path in self._fields.items() if (v := path.find(raw)) is not NOT_THERE and v is not None}
        for name in ("id", "text"):
            if name in self._fields and name not in named:
                raise OutputShapeError(
                    f"document {rank} from {self._where} has nothing at {self._fields[name]}: {describe(raw)}"
                )
        others = {k: v for k, v in raw.items() if not (k in NESTED_KEYS and isinstance(v, Mapping))}
        if "id" in named:
            others.pop("chunk_id", None)  # which would win over the id that was asked for
        return {**others, **named}

    def _not_there(self, what: str, path: Path, said: Any, found: Any, wanted: str) -> OutputShapeError:
        came = path.missing(said) if found is NOT_THERE else f"{describe(found)}, not {wanted}"
        return OutputShapeError(hide(f"{self._where}: {what} is read at {path}, and there is {came}", self._secrets))

    def _shown(self, body: bytes) -> str:
        text = " ".join(hide(body.decode("utf-8", "replace"), self._secrets).split())
        return (text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…") or "(an empty body)"


def _start_of(error: Any) -> bytes:
    """Return the first bytes of an error's body, as far as it comes."""
    try:
        with error:
            start: bytes = error.read(_SHOWN * 4)
    except Exception:  # the error itself is what has to be told
        return b""
    return start


def _open(request: Any, timeout: float) -> Any:
    from urllib.request import HTTPRedirectHandler, build_opener

    class NoRedirect(HTTPRedirectHandler):
        def redirect_request(self, *_: Any) -> None:
            return None

    return build_opener(NoRedirect).open(request, timeout=timeout)


def _filled(value: Any, values: Mapping[str, Any]) -> Any:
    """Fill the placeholders of a JSON value; other braces are left alone."""
    if isinstance(value, str):
        for name, filled in values.items():
            if value == f"{{{name}}}":
                return filled
        return _replaced(value, values)
    if isinstance(value, Mapping):
        return {key: _filled(part, values) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_filled(part, values) for part in value]
    return value


def _replaced(text: str, values: Mapping[str, Any]) -> str:
    """Fill all placeholders in one go, so that a query that looks like one stays what it is."""
    import re

    return re.sub(r"\{(\w+)\}", lambda m: str(values[m[1]]) if m[1] in values else m[0], text)


def _quoted(url: str, values: Mapping[str, Any]) -> str:
    return _replaced(url, {name: quote(str(value), safe="") for name, value in values.items()})
