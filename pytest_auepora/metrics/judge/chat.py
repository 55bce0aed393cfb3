"""One chat completion over HTTP: the request, the reply's text, and which failures are worth another attempt."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ...errors import AueporaError, shorten
from ...http import HttpError, mask, request_json
from .critic import Form, JudgeReplyError

_TRANSIENT_STATUS = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_REFUSED_STATUS = frozenset({400, 422})
_TOO_MUCH = re.compile(r"too large|context length", re.IGNORECASE)  # of a value, or of one prompt: others may be fine
_MAX_REPLY_BYTES = 10 * 2**20
_MAX_SHOWN = 300
_CUT_OFF = {"length": "max_tokens", "content_filter": "its content filter"}


class JudgeCallError(AueporaError):
    """The judge's server refused, or gave something that is no reply.

    ``status`` is the HTTP status, or None; ``detail`` what the server said, uncut; ``retry_after`` how many seconds it
    asks to wait, where it does.
    """

    def __init__(
        self, message: str, *, status: int | None = None, detail: str = "", retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.status, self.detail, self.retry_after = status, detail, retry_after


class JudgeBudgetError(JudgeCallError):
    """The budget is used up: nothing more is asked."""


class TransientJudgeError(JudgeCallError):
    """It may go well the next time."""


def response_format(schema: str, form: Form[Any]) -> dict[str, Any] | None:
    """Return what asks the server for the form of the reply, as *schema* says; None for nothing."""
    if schema == "none" or not form.schema:
        return None
    if schema == "json_object":
        return {"type": "json_object"}
    return {"type": "json_schema", "json_schema": {"name": form.name, "schema": form.schema, "strict": True}}


def refused_parameter(request: Mapping[str, Any], exc: JudgeCallError) -> str:
    """Return the key of the request *sent* that the server refuses; an empty string where it complains of others."""
    detail = exc.detail
    if exc.status not in _REFUSED_STATUS or _TOO_MUCH.search(detail):
        return ""
    parameters = [name for name in request if name not in ("model", "messages") and _mentions(name, detail)]
    if not parameters and "response_format" in request and _mentions("json_schema", detail):
        return "response_format"
    return parameters[0] if parameters else ""


def _mentions(name: str, detail: str) -> bool:
    """Whether *detail*, the text of a refusal, mentions the parameter *name* as a whole word."""
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", detail) is not None


def post(url: str, body: Any, headers: Mapping[str, str], timeout: float, key: str) -> Any:
    """Return the reply without *key*, which it has no reason to repeat; or raise a `JudgeCallError`."""
    try:
        _, reply = request_json(
            "POST", url, body, headers=headers, timeout=timeout, secrets=[key], longest=_MAX_REPLY_BYTES
        )
    except HttpError as exc:
        error = _judge_error(exc)
    else:
        return mask(reply, [key])
    raise error


def _judge_error(exc: HttpError) -> JudgeCallError:
    detail = shorten(exc.detail, _MAX_SHOWN)
    if exc.kind == "status":
        message = f"the judge's server said {exc.status}: {detail or 'nothing more'}"
        if exc.status in _TRANSIENT_STATUS:
            return TransientJudgeError(message, status=exc.status, retry_after=exc.retry_after)
        return JudgeCallError(message, status=exc.status, detail=exc.detail)
    if exc.kind == "header":
        return JudgeCallError(f"the judge is not asked: {detail}")
    if exc.kind == "too long":
        return JudgeCallError(f"the judge's server gave {detail}")
    if exc.kind == "no JSON":
        return TransientJudgeError(f"the judge's server gave no JSON: {detail!r}")
    return TransientJudgeError(f"the judge's server cannot be reached: {detail}")


def content_of(reply: Any) -> str:
    """Return the text of the first choice.

    Raises:
        TransientJudgeError: the reply is JSON, but no chat completion.
        JudgeReplyError: the model was cut off before it was done, or refused.
    """
    try:
        choice = reply["choices"][0]
        message = choice["message"]
        content = message["content"]
    except (KeyError, IndexError, TypeError):
        raise TransientJudgeError(f"the judge's server gave no chat completion: {str(reply)[:200]}") from None
    if isinstance(choice, dict) and (limit := _CUT_OFF.get(str(choice.get("finish_reason")))):
        raise JudgeReplyError(f"the judge was cut off by {limit} before it was done")
    if isinstance(message, dict) and content is None and message.get("refusal"):
        raise JudgeReplyError(f"the judge refused to judge: {shorten(str(message['refusal']), _MAX_SHOWN)}")
    if not isinstance(content, str):
        raise TransientJudgeError(f"the judge's server gave a message that is not a text: {content!r:.200}")
    return content
