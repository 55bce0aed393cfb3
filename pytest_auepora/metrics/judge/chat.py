"""One chat completion over HTTP: the request, the reply's text, and which failures are worth another attempt."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ...errors import AueporaError
from ...http import HttpError, mask, request_json, shorten
from .critic import Form, JudgeReplyError

_TRANSIENT = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_REFUSED = frozenset({400, 422})
_TOO_MUCH = re.compile(r"too large|context length", re.IGNORECASE)  # of a value, or of one prompt: others may be fine
_LONGEST_REPLY = 10 * 2**20
_SHOWN = 300
_CUT_OFF = {"length": "max_tokens", "content_filter": "its content filter"}


class JudgeCallError(AueporaError):
    """The judge's server refused, or gave something that is no reply.

    ``status`` is the HTTP status, or None; ``detail`` what the server said, uncut.
    """

    def __init__(self, message: str, *, status: int | None = None, detail: str = "") -> None:
        super().__init__(message)
        self.status, self.detail = status, detail


class JudgeBudgetError(JudgeCallError):
    """The budget is used up: nothing more is asked."""


class TransientJudgeError(JudgeCallError):
    """It may go well the next time.  ``retry_after`` is how many seconds the server asks to wait, where it does."""

    def __init__(self, message: str, *, status: int | None = None, retry_after: float | None = None) -> None:
        super().__init__(message, status=status)
        self.retry_after = retry_after


def response_format(schema: str, form: Form[Any]) -> dict[str, Any] | None:
    """Return what asks the server for the form of the reply, as *schema* says; None for nothing."""
    if schema == "none" or not form.schema:
        return None
    if schema == "json_object":
        return {"type": "json_object"}
    return {"type": "json_schema", "json_schema": {"name": form.name, "schema": form.schema, "strict": True}}


def refused_parameter(sent: Mapping[str, Any], exc: JudgeCallError) -> str:
    """Return the key of the request *sent* that the server refuses; an empty string where it complains of others."""
    told = exc.detail
    if exc.status not in _REFUSED or _TOO_MUCH.search(told):
        return ""
    named = [name for name in sent if name not in ("model", "messages") and _names(name, told)]
    if not named and "response_format" in sent and _names("json_schema", told):
        return "response_format"
    return named[0] if named else ""


def _names(name: str, told: str) -> bool:
    """Whether a refusal speaks of the parameter *name*: as a word, in quotes or alone."""
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", told) is not None


def post(url: str, body: Any, headers: Mapping[str, str], timeout: float, key: str) -> Any:
    """Return the reply without *key*, which it has no reason to repeat; or raise a `JudgeCallError`."""
    try:
        _, said = request_json(
            "POST", url, body, headers=headers, timeout=timeout, secrets=[key], longest=_LONGEST_REPLY
        )
    except HttpError as exc:
        failed = _judge_error(exc)
    else:
        return mask(said, [key])
    raise failed


def _judge_error(exc: HttpError) -> JudgeCallError:
    told = shorten(exc.detail, _SHOWN)
    if exc.kind == "status":
        message = f"the judge's server said {exc.status}: {told or 'nothing more'}"
        if exc.status in _TRANSIENT:
            return TransientJudgeError(message, status=exc.status, retry_after=exc.retry_after)
        return JudgeCallError(message, status=exc.status, detail=exc.detail)
    if exc.kind == "header":
        return JudgeCallError(f"the judge is not asked: {told}")
    if exc.kind == "too long":
        return JudgeCallError(f"the judge's server gave {told}")
    if exc.kind == "no JSON":
        return TransientJudgeError(f"the judge's server gave no JSON: {told!r}")
    return TransientJudgeError(f"the judge's server cannot be reached: {told}")


def content_of(said: Any) -> str:
    """Return the text of the first choice.

    Raises:
        TransientJudgeError: the reply is JSON, but no chat completion.
        JudgeReplyError: the model was cut off before it was done, or refused.
    """
    try:
        choice = said["choices"][0]
        message = choice["message"]
        content = message["content"]
    except (KeyError, IndexError, TypeError):
        raise TransientJudgeError(f"the judge's server gave no chat completion: {str(said)[:200]}") from None
    if isinstance(choice, dict) and (by := _CUT_OFF.get(str(choice.get("finish_reason")))):
        raise JudgeReplyError(f"the judge was cut off by {by} before it was done")
    if isinstance(message, dict) and content is None and message.get("refusal"):
        raise JudgeReplyError(f"the judge refused to judge: {shorten(str(message['refusal']), _SHOWN)}")
    if not isinstance(content, str):
        raise TransientJudgeError(f"the judge's server gave a message that is no text: {content!r:.200}")
    return content
