"""One POST of JSON, in time or given up: no redirects, a bounded reply, errors that say what came.

The standard library is enough for this, so that judging adds no dependency that could clash with the user's
own; proxies are those of the environment.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from .core.retry import asked_by_headers
from .errors import AueporaError

__all__ = ["JudgeCallError", "TransientJudgeError", "post_json"]

_TRANSIENT = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_LONGEST_REPLY = 10 * 2**20
_SHOWN = 300


class JudgeCallError(AueporaError):
    """The judge's server refused, or gave something that is no reply."""

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class TransientJudgeError(JudgeCallError):
    """It may go well the next time.  ``retry_after`` is how many seconds the server asks to wait, where it does."""

    def __init__(self, message: str, *, status: int | None = None, retry_after: float | None = None) -> None:
        super().__init__(message, status=status)
        self.retry_after = retry_after


def post_json(url: str, body: Any, headers: Mapping[str, str], timeout: float) -> Any:
    """Send *body* and return what came back, read as JSON.

    Args:
        url: http or https.
        body: JSON-able.
        headers: further headers.
        timeout: seconds for all of it; a server that trickles is given up as well.

    Raises:
        TransientJudgeError: no connection, no reply in time, a status such as 429 or 503, or a reply that is not
            JSON.
        JudgeCallError: any other status.
    """
    import http.client
    import urllib.error
    import urllib.request

    end = time.monotonic() + timeout
    data = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
    request = urllib.request.Request(
        url, data, {"Content-Type": "application/json", "Accept": "application/json", **headers}, method="POST"
    )
    try:
        with _opener().open(request, timeout=timeout) as response:
            raw = _read(response, end)
    except urllib.error.HTTPError as exc:
        with exc:
            raise _refused(exc.code, exc.headers, _read(exc, end, most=2000, strict=False)) from None
    except (OSError, http.client.HTTPException) as exc:
        reason = getattr(exc, "reason", exc)
        late = isinstance(reason, TimeoutError)
        told = f"no reply within {timeout:g} s" if late else f"{type(reason).__name__}: {reason}"
        raise TransientJudgeError(f"the judge's server cannot be reached: {told}") from None
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        raise TransientJudgeError(f"the judge's server gave no JSON: {_text(raw)!r}") from None


def _read(response: Any, end: float, *, most: int = _LONGEST_REPLY, strict: bool = True) -> bytes:
    parts, size = [], 0
    while block := response.read1(65536):
        parts.append(block)
        size += len(block)
        if size > most:
            if strict:
                raise JudgeCallError(f"the judge's server gave more than {most} bytes")
            break
        if time.monotonic() > end:
            raise TimeoutError("the reply trickled in too slowly")
    return b"".join(parts)


def _refused(status: int, headers: Any, raw: bytes) -> JudgeCallError:
    message = f"the judge's server said {status}: {_text(raw) or 'nothing more'}"
    if status in _TRANSIENT:
        return TransientJudgeError(message, status=status, retry_after=asked_by_headers(headers))
    return JudgeCallError(message, status=status)


def _text(raw: bytes) -> str:
    text = " ".join(raw.decode("utf-8", "replace").split())
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


@lru_cache(maxsize=1)
def _opener() -> Any:
    import urllib.request

    class NoRedirect(urllib.request.HTTPRedirectHandler):
        """A redirect would carry the key to somebody else."""

        def redirect_request(self, *args: Any, **kwargs: Any) -> None:
            return None

    return urllib.request.build_opener(NoRedirect)
