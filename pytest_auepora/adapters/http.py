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

``{query}``, ``{top_k}``, ``{sample_id}``, ``{principal}`` (who asks), ``{chat_history}`` (the turns before the query),
``{messages}`` (these, and the query) and ``{session_id}`` (another for each call) are filled in, in the body, in header
values and, percent-encoded, in the URL; a text that is ``"{top_k}"`` alone becomes the number, ``"{chat_history}"`` and
``"{messages}"`` alone a list of ``{"role", "content"}``; a list of one part with ``{role}`` and ``{content}`` in it
becomes one part for each turn.
``timings``, ``retry``, ``privacy``, ``usage``, ``model``, ``request_id``, … at the top of the reply are read as well
(`core.telemetry`).  Every call opens its own connection and is made once: no redirect is followed, since it could
carry the headers elsewhere, and nothing is retried (``auepora_retry`` names the errors that are: `HttpCallError`,
`CallTimeoutError`).  Header values stand in no message and no repr; those of credentials in no answer
and no document either.
"""

from __future__ import annotations

import json as json_module
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import reduce
from itertools import chain
from time import perf_counter
from typing import Any, Final
from urllib.parse import quote, urlsplit

from ..base.http import HttpError, Secret, mask, request_json, request_texts, url_secrets
from ..base.text import did_you_mean, shorten
from ..core.model_calls import USAGE
from ..core.telemetry import REPORTED, seconds_by_name
from ..core.types import EvaluationSample, Response, SystemOutputs
from ..errors import AueporaError, CallTimeoutError, OutputShapeError, SystemShapeError
from .documents import NESTED_KEYS, to_retrieved
from .shapes import MISSING, describe
from .streams import StreamedAnswer
from .templates import fill_json, fill_text, taken_by, values_of

_SHOWN = 200
_EMPTY = "(an empty body)"
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # a token of RFC 9110
_STEP = re.compile(r"\.?([^.\[\]]+)|\[(-?\d+)\]|\[(['\"])(.*?)\3\]")  # of a path
_CREDENTIAL = re.compile(r"auth|cookie|key|token|secret|password", re.IGNORECASE)
"""Headers with credentials: their values are masked in answers and documents as well."""
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
        usage: where the usage is, that of one model call or a list; by default at the top.
        stream: the reply is streamed, as server-sent events, JSON Lines or plain text: *answer* is the path of the text
            in each part, ``"$"`` where a part is the text itself; *documents* are those of all parts that have some.
        doc_id: where a document's id is, inside the document; by default wherever ids usually are.
        text: where its text is; by default likewise.
        score: where its score is; by default likewise.
        headers: with the placeholders; ``${NAME}`` stands for an environment variable, which has to be there.
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
        usage: str | None = None,
        stream: bool = False,
        doc_id: str | None = None,
        text: str | None = None,
        score: str | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float = 30.0,
    ) -> None:
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError as exc:
            raise SystemShapeError(f"HttpRag: no http(s) URL: {exc}") from None
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise SystemShapeError(f"HttpRag: {parts.scheme or url!r} is not an http(s) URL")
        if parts.username or parts.password:
            raise SystemShapeError("HttpRag: a password in the URL would show in reports; put it into a header")
        if answer is None and documents is None:
            raise SystemShapeError("HttpRag: neither answer nor documents are read; nothing would be measured")
        if not timeout > 0:
            raise SystemShapeError(f"HttpRag: timeout is {timeout!r}; accepted: seconds, above 0")
        self._url = url
        self._where = f"{parts.scheme}://{parts.hostname}{f':{port}' if port else ''}{parts.path}"
        self._method = method.upper()
        self._json = json
        self._answer = None if answer is None else JsonPath(answer)
        self._documents = None if documents is None else JsonPath(documents)
        self._usage = None if usage is None else JsonPath(usage)
        self._stream = stream
        self._fields = {k: JsonPath(v) for k, v in (("id", doc_id), ("text", text), ("score", score)) if v is not None}
        self._headers, self._secrets = _expand_headers(headers or {})
        credentials = (v for k, v in self._headers.items() if _CREDENTIAL.search(k))
        self._credentials = [*(v.partition(" ")[2] or v for v in credentials), *url_secrets(url)]
        self._timeout = float(timeout)
        self.auepora_name = f"HTTP {parts.netloc}{parts.path}"
        self.auepora_takes = taken_by([self._url, self._headers, None if self._method == "GET" else self._json])

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
        if self._stream:
            return self._read_stream(sample, top_k)
        status, reply = self._ask(sample, top_k)
        reply = mask(reply, self._credentials)
        try:
            return self._read_reply(reply, status)
        except OutputShapeError as exc:
            error = exc
        try:  # secrets are masked before a text is shortened for the message
            self._read_reply(mask(reply, self._secrets), status)
        except OutputShapeError as exc:
            error = exc
        raise OutputShapeError(mask(str(error), self._secrets))

    def _read_reply(self, reply: Any, status: int) -> SystemOutputs:
        answer = self._read_at(reply, "answer", self._answer, str, "a text")
        documents = self._read_at(reply, "documents", self._documents, list, "a list")
        if self._fields:
            documents = [self._with_named_fields(raw, rank) for rank, raw in enumerate(documents, 1)]
        extra = {"status": status} | self._read_reported(reply)
        return SystemOutputs(to_retrieved(documents), Response(answer), extra.pop("timings", {}), extra)

    def _read_at(self, reply: Any, part: str, path: JsonPath | None, kind: type, description: str) -> Any:
        """Return what stands at *path*, a *kind*; an empty one without a path."""
        if path is None:
            return kind()
        value = path.find(reply)
        if isinstance(value, kind):
            return value
        problem = path.missing(reply) if value is MISSING else f"{describe(value)}, not {description}"
        raise OutputShapeError(f"{self._where}: {part} is read at {path}, and there is {problem}")

    def _read_stream(self, sample: EvaluationSample, top_k: int) -> SystemOutputs:
        """Ask the endpoint, and read its reply part by part; raises as `run` does."""
        streamed, status, documents, extra = StreamedAnswer(perf_counter()), 0, list[Any](), dict[str, Any]()
        answer: JsonPath = self._answer or JsonPath("$")
        failure: AueporaError | None = None
        n_parts, first_part = 0, None
        try:
            blocks = request_texts(**self._request(sample, top_k))
            status, media_type, _ = next(blocks)
            plain = answer.is_root
            for n_parts, text in enumerate(_stream_parts((block for *_, block in blocks), media_type, plain=plain), 1):
                part = mask(text if plain else self._parse_part(text, n_parts), self._credentials)
                first_part = part if n_parts == 1 else first_part
                if isinstance(part, Mapping) and part.get("error"):
                    shown = shorten(mask(str(part["error"]), self._secrets), _SHOWN)
                    failure = HttpCallError(f"{self._method} {self._where}: the stream ended in an error: {shown}")
                    break
                if isinstance(said := answer.find(part), str):
                    streamed.add(said)
                if self._documents is not None and isinstance(found := self._documents.find(part), list):
                    documents += found
                extra |= self._read_reported(part)
        except HttpError as exc:
            failure = self._call_error(exc)
        if failure is None and self._answer is not None and not streamed.has_answer:
            found = f"{n_parts} parts have none; the first is {describe(first_part)}" if n_parts else "there is no part"
            message = f"{self._where}: the answer is read at {answer} of each part of the stream, and {found}"
            failure = OutputShapeError(mask(message, self._secrets))
        if failure is not None:  # out here it has no context
            raise failure
        if self._fields:
            documents = [self._with_named_fields(raw, rank) for rank, raw in enumerate(documents, 1)]
        said = streamed.outputs()
        text = mask(said.get("answer", ""), self._credentials)  # one may stand in two parts
        timings = {**said.get("timings", {}), **extra.pop("timings", {})}
        return SystemOutputs(to_retrieved(documents), Response(text), timings, {"status": status} | extra)

    def _parse_part(self, text: str, number: int) -> Any:
        try:
            return json_module.loads(text)
        except (ValueError, RecursionError):
            shown = shorten(mask(text, self._secrets), _SHOWN)
        raise OutputShapeError(f"{self._where}: part {number} of the stream is not JSON: {shown}")

    def _ask(self, sample: EvaluationSample, top_k: int) -> tuple[int, Any]:
        try:
            return request_json(**self._request(sample, top_k))
        except HttpError as exc:
            error = self._call_error(exc)
        raise error

    def _request(self, sample: EvaluationSample, top_k: int) -> dict[str, Any]:
        """Return the request; raises `SystemShapeError` for a header that cannot be sent."""
        values = {**values_of(sample), "top_k": top_k}
        headers = {name: Secret(fill_text(value, values)) for name, value in self._headers.items()}
        for name, value in headers.items():
            _check_header(name, value)
        return {
            "method": self._method, "url": fill_text(self._url, values, lambda text: quote(text, safe="")),
            "body": None if self._method == "GET" else fill_json(self._json, values), "headers": headers,
            "timeout": self._timeout, "secrets": self._secrets,
        }  # fmt: skip

    def _read_reported(self, reply: Any) -> dict[str, Any]:
        """Return what an orchestration layer reports about the request; other fields are ignored."""
        if not isinstance(reply, Mapping):
            return {}
        reported = {key: reply[key] for key in REPORTED if reply.get(key) is not None and key != "status"}
        if self._usage is not None and (usage := self._usage.find(reply)) is not MISSING and usage is not None:
            reported[USAGE] = usage
        if isinstance(timings := reply.get("timings"), Mapping):
            numbers = ((k, v) for k, v in timings.items() if type(v) in (int, float))
            reported["timings"] = {name: t for k, v in numbers for name, t in seconds_by_name(k, v).items()}
        return reported

    def _call_error(self, exc: HttpError) -> AueporaError:
        detail = shorten(exc.detail, _SHOWN)
        request = f"{self._method} {self._where}"
        if exc.kind == "status":
            message = f"{request} answered {exc.status} {exc.reason}: {detail or _EMPTY}"
            return HttpCallError(message, exc.status, exc.retry_after)
        if exc.kind == "late":
            return CallTimeoutError(f"{request} did not answer within {self._timeout:g} s")
        if exc.kind == "too long":
            return OutputShapeError(f"{self._where} answered with {detail}")
        if exc.kind == "no JSON":
            message = f"{self._where} answered {exc.status} with something that is not JSON: {detail or _EMPTY}"
            return OutputShapeError(message)
        return HttpCallError(f"{request} could not be reached: {detail}")

    def _with_named_fields(self, raw: Any, rank: int) -> Any:
        """Return a document with the named fields on top; the others stay what they are."""
        place = f"document {rank} from {self._where}"
        if not isinstance(raw, Mapping):
            raise OutputShapeError(f"{place} is {describe(raw)}, not a mapping")
        found = {name: path.find(raw) for name, path in self._fields.items()}
        named_fields = {name: value for name, value in found.items() if value is not MISSING and value is not None}
        for name in ("id", "text"):
            if name in self._fields and name not in named_fields:
                raise OutputShapeError(f"{place} has nothing at {self._fields[name]}: {describe(raw)}")
        other_fields = {k: v for k, v in raw.items() if not (k in NESTED_KEYS and isinstance(v, Mapping))}
        if "id" in named_fields:
            other_fields.pop("chunk_id", None)  # which would win over the id that was asked for
        return {**other_fields, **named_fields}


def _stream_parts(blocks: Iterable[str], media_type: str, *, plain: bool) -> Iterator[str]:
    """Yield the parts of a streamed reply: the data of its events, its lines, or the text as it comes."""
    if media_type != "text/event-stream":
        yield from blocks if plain else (line for line in _lines(blocks) if line.strip())
        return
    data: list[str] = []
    for line in chain(_lines(blocks), [""]):
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif not line and data:
            event, data = "\n".join(data), []
            if event != _DONE and (plain or event.strip()):
                yield event


_DONE = "[DONE]"
"""The data of the event with which OpenAI's stream ends."""


def _lines(blocks: Iterable[str]) -> Iterator[str]:
    rest = ""
    for block in blocks:
        *lines, rest = (rest + block).split("\n")
        yield from (line.removesuffix("\r") for line in lines)
    if rest:
        yield rest.removesuffix("\r")


def _expand_headers(headers: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Return *headers* with ``${NAME}`` filled in from the environment, and the secrets to mask."""
    expanded: dict[str, str] = {}
    secrets: set[str] = set()
    for name, value in headers.items():
        if not _NAME.fullmatch(name):
            raise SystemShapeError(f"HttpRag: {name!r} is not the name of an HTTP header")
        variables = _VARIABLE.findall(value)
        if missing := next((variable for variable in variables if variable not in os.environ), ""):
            raise SystemShapeError(f"HttpRag: the header {name} needs ${missing}, which is not in the environment")
        secrets.update(os.environ[variable] for variable in variables)
        expanded[name] = Secret(_VARIABLE.sub(lambda m: os.environ[m[1]], value))
        secrets.update((expanded[name], *expanded[name].split(" ")[1:]))  # a scheme such as Bearer is no secret
        _check_header(name, expanded[name])
    return expanded, [Secret(secret) for secret in sorted(secrets)]


def _check_header(name: str, value: str) -> None:
    problem = f"HttpRag: the value of the header {name} holds a"
    if set("\r\n") & set(value):
        raise SystemShapeError(f"{problem} line break; does a file it came from end in one?")
    if any(ord(character) > 255 for character in value):
        raise SystemShapeError(f"{problem} character that HTTP cannot send")


class JsonPath:
    """A path into JSON: ``$.choices[0].message.content``, ``hits``, ``data.0['a.b']``, ``$`` for all of it.

    Keys stand after dots or in ``['…']``; places of a list as ``[0]`` or ``.0``, counted from the end if negative.
    Raises `SystemShapeError` where it cannot be read.
    """

    def __init__(self, written: str) -> None:
        self._written = written
        self._steps: list[str | int] = []
        if not written.strip():
            raise SystemShapeError("an empty text is not a path; write $ for all of the JSON")
        rest = written.strip().removeprefix("$")
        while rest:
            step = _STEP.match(rest)
            if step is None:
                raise SystemShapeError(f"{written!r} is not a path; write $.answer, hits[0].text or data['a.b']")
            key, place, _, quoted = step.groups()
            self._steps.append(int(place) if place is not None else quoted if key is None else key)
            rest = rest[step.end() :]

    def __str__(self) -> str:
        return self._written

    @property
    def is_root(self) -> bool:
        """Whether it is all of the JSON."""
        return not self._steps

    def find(self, value: Any) -> Any:
        """Return what stands at the path, or `MISSING`."""
        return reduce(_step_into, self._steps, value)

    def missing(self, value: Any) -> str:
        """Say where the path ends in *value*, which lacks it."""
        for step in self._steps:
            if (below := _step_into(value, step)) is MISSING:
                suggestion = did_you_mean(str(step), map(str, value)) if isinstance(value, Mapping) else ""
                return f"no {step!r}{suggestion} in {describe(value)}"
            value = below
        return describe(value)


def _step_into(value: Any, step: str | int) -> Any:
    if isinstance(value, Mapping):
        return value.get(str(step), MISSING)
    with suppress(ValueError, IndexError):
        return value[int(step)] if isinstance(value, list) else MISSING
    return MISSING
