"""One request over HTTP, for JSON or for a stream of text: one deadline, no redirects, a bounded reply, secrets masked
in every message.

The standard library is enough for this, so that no dependency can clash with the user's own; proxies are those of the
environment.
"""

from __future__ import annotations

import json
import re
import time
from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from io import BufferedReader, RawIOBase
from socket import socket
from typing import Any, Literal
from urllib.error import HTTPError
from urllib.parse import unquote
from urllib.request import HTTPHandler, HTTPRedirectHandler, HTTPSHandler, OpenerDirector, Request, build_opener

from ..errors import AueporaError
from .retry import wait_from_headers

LONGEST_REPLY = 50_000_000
"""How many bytes a reply may have."""

_BLOCK_BYTES = _REFUSAL_BYTES = 65_536  # bytes read at once, and of a refusal
_SHORTEST_SECRET = 4  # hiding every "1" of a message would tell more than it hides
_DEEPEST = 200
_NOT_IN_HEADER = re.compile(r"[^\t\x20-\x7e\x80-\xff]")

ErrorKind = Literal["status", "late", "unreachable", "too long", "no JSON", "header"]


@dataclass(eq=False, repr=False)
class HttpError(AueporaError):
    """There is no usable reply.

    Attributes:
        kind: the status is not 2xx, the server took too long, was not reached, replied too much, or no JSON; or a
            header cannot be sent.
        detail: the start of the reply, or why there is none; secrets are masked.
        status: the status, where there was one.
        reason: what the server calls that status.
        retry_after: seconds that the server asks to wait, or None.
    """

    kind: ErrorKind
    detail: str
    status: int | None = None
    reason: str = ""
    retry_after: float | None = None

    def __str__(self) -> str:
        return f"{self.kind}: {self.detail}" if self.status is None else f"{self.status} {self.reason}: {self.detail}"


class Secret(str):
    """A text that tracebacks with variables do not show."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "'***'"


def request_json(
    method: str, url: str, body: Any = None, *, headers: Mapping[str, str], timeout: float,
    secrets: Sequence[str] = (), longest: int = LONGEST_REPLY,
) -> tuple[int, Any]:  # fmt: skip
    """Send one request and return the status and what came back, read as JSON.

    A *body* of None sends nothing, nor is the line break at the end of a key in *headers* sent.  *timeout* is in
    seconds for the whole request, also where the server trickles; `opener` says what does not count.  No message
    shows *secrets*; the reply may have *longest* bytes.

    Raises:
        HttpError: there is no reply, or none that can be used.
    """
    secrets = [*secrets, *url_secrets(url)]
    status, raw = 0, bytearray()
    request = _request(method, url, body, headers, "application/json")
    for status, _, block in _read_blocks(request, timeout, secrets, longest):  # noqa: B007 - of the last one
        raw += block
    try:
        return status, json.loads(raw)
    except (ValueError, RecursionError):
        pass
    raise HttpError("no JSON", _masked_text(raw, secrets), status)


def request_texts(
    method: str, url: str, body: Any = None, *, headers: Mapping[str, str], timeout: float,
    secrets: Sequence[str] = (), longest: int = LONGEST_REPLY,
) -> Iterator[tuple[int, str, str]]:  # fmt: skip
    """Send one request and yield status, media type and text of each part of the reply as it comes, the first empty.

    All else is as in `request_json`; the parts may hold *secrets*.
    """
    secrets = [*secrets, *url_secrets(url)]
    decode = getincrementaldecoder("utf-8")("replace").decode
    request = _request(method, url, body, headers, "text/event-stream, application/x-ndjson, application/json, text/*")
    for status, media_type, block in _read_blocks(request, timeout, secrets, longest):
        yield status, media_type, decode(block)


def _request(method: str, url: str, body: Any, headers: Mapping[str, str], accepted: str) -> Request:
    data = None if body is None else json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
    content_type = {} if data is None else {"Content-Type": "application/json"}
    secret_headers = {name: Secret(value.strip()) for name, value in headers.items()}
    for name, value in secret_headers.items():  # the standard library would repeat the value in its error
        if _NOT_IN_HEADER.search(value):
            raise HttpError("header", f"the value for header {name} has a character that HTTP does not allow")
    return Request(url, data, {"Accept": accepted, **content_type, **secret_headers}, method=method)


def _read_blocks(
    request: Request, timeout: float, secrets: Sequence[str], longest: int
) -> Iterator[tuple[int, str, bytes]]:
    """Yield status, media type and bytes of each part of a reply as it comes, the first without bytes."""
    size = 0
    try:
        with opener().open(request, timeout=timeout) as response:
            status, media_type, block = response.status, response.headers.get_content_type(), b""
            while size <= longest:
                yield status, media_type, block
                if not (block := response.read1(_BLOCK_BYTES)):
                    return
                size += len(block)
            error = HttpError("too long", f"more than {longest:,} bytes")
    except HTTPError as exc:
        raw = bytearray()
        with suppress(Exception), exc:  # the refusal itself is reported, with what comes in time of its body
            while len(raw) < _REFUSAL_BYTES and (block := exc.read1(_BLOCK_BYTES)):
                raw += block
        detail, retry_after = _masked_text(raw, secrets), wait_from_headers(exc.headers)
        error = HttpError("status", detail, exc.code, mask(str(exc.reason), secrets), retry_after)
    except (OSError, HTTPException, UnicodeError) as exc:
        reason = getattr(exc, "reason", exc)
        if isinstance(reason, TimeoutError):
            error = HttpError("late", f"no reply within {timeout:g} s")
        else:
            name = type(reason).__name__
            error = HttpError("unreachable", mask(f"{name}: {reason}" if str(reason) else name, secrets))
    raise error  # out here it has no context: the reply of a server cannot go to another process


def _masked_text(raw: bytes | bytearray, secrets: Iterable[str]) -> str:
    return " ".join(mask(raw.decode("utf-8", "replace"), secrets).split())


def mask(value: Any, secrets: Iterable[str]) -> Any:
    """Return a JSON value with ``***`` for every one of *secrets*, however a server writes it.

    In another case, escaped as JSON, URLs and HTML have it, each character for itself.  Shorter ones than four
    characters are no secrets.
    """
    sent = {secret.strip() for secret in secrets}
    if long := sorted((secret for secret in sent if len(secret) >= _SHORTEST_SECRET), key=len, reverse=True):
        return _masked(value, _pattern_of(tuple(long)))
    return value


@lru_cache(maxsize=16)
def _pattern_of(secrets: Sequence[str]) -> re.Pattern[str]:
    """Return what finds *secrets*, the first of those that begin alike."""
    return re.compile("|".join("".join(map(_forms_of, secret)) for secret in secrets), re.IGNORECASE)


def _forms_of(char: str) -> str:
    code = ord(char)
    percent = "".join(f"%{byte:02x}" for byte in char.encode("utf-8", "replace"))
    forms = [re.escape(named)] if (named := escape(char)) != char else []
    forms += [rf"\\+u{code:04x}", percent, f"&#(?:0*{code}|x0*{code:x});"]
    forms += [rf"\\+{re.escape(char)}"] if char in "\"\\/'" else []
    return f"(?:{'|'.join([*forms, re.escape(char)])})"


def _masked(value: Any, pattern: re.Pattern[str], depth: int = 0) -> Any:
    if isinstance(value, str):
        return pattern.sub("***", value)
    if depth > _DEEPEST:
        return "…"
    if isinstance(value, Mapping):
        return {_masked(k, pattern): _masked(v, pattern, depth + 1) for k, v in value.items()}
    return [_masked(v, pattern, depth + 1) for v in value] if isinstance(value, list) else value


_USER = re.compile(r"(\w+://)([^:/?#\s\"'<>]*)(?:(:)([^\s\"'<>]*))?@")
_PORT_AND_PATH = re.compile(r"\d*/")
_PARAMETER = re.compile(
    r"([?&;](?:[^=&;\s]*(?:pass|pwd|secret|token|key|sig|auth|cred)[^=&;\s]*="
    r"|[^=&;\s]*=(?=[^&;#\s\"'<>]*(?:pass|pwd)[a-z]*(?:=|%3d))))"  # settings in a value: odbc_connect=…PWD%3D…
    r"([^&;#\s\"'<>]+)", re.IGNORECASE,
)  # fmt: skip
_NOT_IN_WORD = re.compile(r"[\s\"'<>]")


def mask_urls(text: str) -> str:
    """Return *text* with ``***`` for what URLs in it hold of passwords, keys and tokens.

    That is all between the user's name and the last ``@``, a user without a password where the URL is one of HTTP, and
    the values of parameters whose names say so: ``?password=***``.
    """
    return _PARAMETER.sub(r"\1***", _USER.sub(_masked_user, text))


def mask_url(url: str) -> str:
    """Return one URL with ``***`` as `mask_urls` has it, also where a password holds blanks or quotes."""
    return mask_urls(_as_word(url))


def _as_word(url: str) -> str:
    return _NOT_IN_WORD.sub(lambda match: f"%{ord(match[0]):02x}", url)


def _masked_user(match: re.Match[str]) -> str:
    scheme, user, colon, password = match.groups()
    of_http = scheme in ("http://", "https://")
    if of_http and colon and _PORT_AND_PATH.match(password):  # the @ is one of the path
        return match[0]
    if colon:
        return f"{scheme}{user}:***@"
    return f"{scheme}***@" if of_http else match[0]


def url_secrets(url: str) -> list[str]:
    """Return the secrets that `mask_url` hides of *url*, as they are written and as they are sent."""
    url = _as_word(url)
    secrets = [match[4] or match[2] for match in _USER.finditer(url) if _masked_user(match) != match[0]]
    secrets += [match[2] for match in _PARAMETER.finditer(url)]
    return [form for secret in secrets for form in (secret, unquote(secret))]


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
    """Let the next step of *sock* time out at the *deadline*; raises `TimeoutError` where that has passed."""
    seconds_left = deadline - time.monotonic()
    if seconds_left <= 0:
        raise TimeoutError
    sock.settimeout(seconds_left)
