"""A judge behind any server that speaks chat completions: retries, limits, counts, a cache on disk, a budget."""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import Any, cast
from urllib.parse import urlencode, urlsplit

from ...base.files import refuse_pipe, remove_leftovers, write_atomically
from ...base.http import HttpError, Secret, mask, mask_url, request_json
from ...base.retry import RetryPolicy
from ...base.text import shorten
from ...core.model_calls import read_tokens
from ...errors import AueporaError, MetricError
from .critic import Form, Judgement, JudgeReplyError, LLMCritic, Question, form_of, unwrap
from .usage import REPEAT, Budget, JudgeUsage, Prices, count

SCHEMAS = ("auto", "json_schema", "json_object", "none")

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

    status: int | None = None
    detail: str = ""
    retry_after: float | None = None


class JudgeBudgetError(JudgeCallError):
    """The budget is used up: nothing more is asked."""


class TransientJudgeError(JudgeCallError):
    """It may go well the next time."""


class OpenAICompatibleCritic(LLMCritic):
    """Asks a model over HTTP and reads its reply strictly (see `read_reply`).

    The key is read from the environment for every request and kept nowhere: not in the object, the cache, the
    fingerprint or an error message.  A parameter that the server refuses is left out from then on, and ``usage.notes``
    says so.

    Args:
        model: the model's name.
        base_url: up to and without ``/chat/completions``.
        api_key_env: the environment variable that holds the key; None, or a variable that is not set, sends none.
        key_header: ``Authorization`` sends ``Bearer <key>``; any other header (Azure: ``api-key``) the bare key.
        query: what follows the ``?`` of the URL (Azure: ``{"api-version": "…"}``).
        temperature, seed, max_tokens: sent along unless None.
        extra: further keys of the request body, ``{"reasoning_effort": "low"}`` for instance; None leaves one out.
        schema: how the reply's form is asked for: ``json_schema``, ``json_object``, ``none``, or ``auto``: the first
            of them that the server does not refuse.
        timeout: seconds one attempt may take.
        attempts: how often a request is tried in all, when the server is busy, failing or out of reach.
        backoff: seconds before the second attempt, doubled before each further one; a Retry-After header goes
            before it.
        max_wait: the longest wait between two attempts, in seconds.
        concurrency: how many requests may be under way at once, over all threads.
        cache_dir: folder of replies; None keeps none.
        cache_only: a question that is not in the cache is an error instead of a request.
        prices: cost of a million prompt tokens and of a million completion tokens.
        budget: what may be spent; a number is a cost, which needs prices.

    Attributes:
        usage: a `JudgeUsage`.

    Raises:
        MetricError: the URL is none, or a number is out of range.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str = "https://api.openai.com/v1",
        api_key_env: str | None = "OPENAI_API_KEY",
        key_header: str = "Authorization",
        query: Mapping[str, str] | None = None,
        temperature: float | None = 0.0,
        seed: int | None = 0,
        max_tokens: int | None = None,
        extra: Mapping[str, Any] | None = None,
        schema: str = "auto",
        timeout: float = 60.0,
        attempts: int = 5,
        backoff: float = 0.5,
        max_wait: float = 30.0,
        concurrency: int = 8,
        cache_dir: str | os.PathLike[str] | None = None,
        cache_only: bool = False,
        prices: Prices | tuple[float, float] | None = None,
        budget: Budget | float | None = None,
    ) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
            raise MetricError("base_url must be http(s)://host/path, without user, password or query")
        if base_url.rstrip("/").endswith("/chat/completions"):
            raise MetricError(f"base_url ends before /chat/completions, which is added, got {base_url}")
        if not model or not timeout > 0 or concurrency < 1:
            raise MetricError("a critic needs a model, a timeout above 0 and a concurrency of at least 1")
        if cache_only and cache_dir is None:
            raise MetricError("cache_only needs a cache_dir")
        if schema not in SCHEMAS:
            raise MetricError(f"schema must be one of {', '.join(SCHEMAS)}, got {schema!r}")
        self.budget = budget if isinstance(budget, Budget) else Budget(cost=budget)
        if self.budget.cost is not None and prices is None:
            raise MetricError("a budget of cost needs prices")
        self.model, self.concurrency = model, concurrency
        self.url = f"{base_url.rstrip('/')}/chat/completions" + (f"?{urlencode(query)}" if query else "")
        self.usage = JudgeUsage(cost=None if prices is None else 0.0)
        parameters = {"temperature": temperature, "seed": seed, "max_tokens": max_tokens}
        self._parameters = {k: v for k, v in {**parameters, **(extra or {})}.items() if v is not None}
        self._schema = schema
        self._accepted, self._accepted_schema = self._parameters, schema  # what the server has not refused
        self._api_key_env, self._key_header = api_key_env, key_header
        self._timeout = timeout
        try:
            self.retry = RetryPolicy((TransientJudgeError,), attempts, backoff, max_wait)
        except ValueError as exc:
            raise MetricError(str(exc)) from None
        self._slots = threading.BoundedSemaphore(concurrency)
        self._cache = None if cache_dir is None else ReplyCache(cache_dir)
        self._cache_only = cache_only
        self.prices = Prices(*prices) if isinstance(prices, tuple) else prices

    def __repr__(self) -> str:
        return f"<OpenAICompatibleCritic {self.model} at {mask_url(self.url)}>"

    def params(self) -> dict[str, Any]:
        """Model and parameters as they were asked for; where the server is does not matter."""
        return {"model": self.model, **self._parameters}

    def complete(
        self, *, prompt: str, schema: Mapping[str, Any] | None = None, metadata: dict[str, Any] | None = None
    ) -> str:
        """Return the model's reply as it is; raises `JudgeCallError` where no reply was to be had."""
        (reply,) = self.ask_many([Question(prompt, metadata or {}, Form("reply", schema or {}, str))])
        return str(unwrap(reply))

    def judge(self, *, prompt: str, metadata: dict[str, Any] | None = None) -> Judgement:
        """Return score and rationale; raises `JudgeCallError` for no reply, `JudgeReplyError` for one without them."""
        (reply,) = self.ask_many([Question(prompt, metadata or {})])
        return cast("Judgement", unwrap(reply))

    def ask_many(self, questions: Sequence[Question]) -> list[Any]:
        """Ask all at once, as far as the concurrency allows; equal prompts are asked once."""
        distinct = {question.prompt: question for question in questions}
        replies: dict[str, Any] = {}
        for prompt, call in zip(distinct, self._run_calls([*distinct.values()]), strict=True):
            count(self.usage, retries=call.attempts - 1)
            replies[prompt] = call.value if call.error is None else call.error
        return [replies[question.prompt] for question in questions]

    def _ask(self, question: Question) -> Any:
        form = question.form or form_of(question.metadata)
        asked_for = self._body(question.prompt, form, self._parameters, self._schema)
        key = "" if self._cache is None else self._cache.key(self.url, asked_for, REPEAT.get())
        if self._cache is not None and (cached := self._cache.get(key)) is not None:
            with suppress(JudgeReplyError):  # the file was changed
                cached_reply = form.read(cached)
                count(self.usage, cache_hits=1)
                return cached_reply
        if self._cache_only:
            raise JudgeCallError("this question is not in the cache, and cache_only allows no request")
        text = self._request(question.prompt, form)
        reply = form.read(text)  # what cannot be read is not kept
        if self._cache is not None:
            self._cache.put(key, text)
        return reply

    def _body(self, prompt: str, form: Form[Any], parameters: Mapping[str, Any], schema: str) -> dict[str, Any]:
        messages = [{"role": "user", "content": prompt}]
        return {"model": self.model, "messages": messages, **parameters, **_response_format(schema, form)}

    def _request(self, prompt: str, form: Form[Any]) -> str:
        key = Secret(os.environ.get(self._api_key_env, "") if self._api_key_env else "")
        value = Secret(f"Bearer {key}") if self._key_header == "Authorization" else key
        headers = {"User-Agent": "pytest-auepora", **({self._key_header: value} if key else {})}
        with self._slots:
            while True:
                request = self._body(prompt, form, self._accepted, self._accepted_schema)
                if exhausted := self.budget.used_up(self.usage):
                    count(self.usage, unasked=1, notes=[] if self.usage.unasked else [exhausted])
                    raise JudgeBudgetError(exhausted)
                start = perf_counter()
                try:
                    reply = _post(self.url, request, headers, self._timeout, key)
                    break
                except JudgeCallError as exc:
                    if not self._note_refusal(request, exc):
                        raise
                finally:
                    count(self.usage, requests=1, seconds=perf_counter() - start)
        self._count_usage(reply)
        return _content_of(reply)

    def _note_refusal(self, request: Mapping[str, Any], exc: JudgeCallError) -> bool:
        """Leave out the parameter that the server refuses from now on; return whether the request can go on so."""
        name, replacement = _refused_parameter(request, exc), ""
        if not name or (name == "response_format" and self._schema != "auto"):
            return False
        if name == "response_format":
            replacement = "json_object" if request[name]["type"] == "json_schema" else ""
            self._accepted_schema = replacement or "none"
        else:
            accepted = {key: value for key, value in self._accepted.items() if key != name}
            if name == "max_tokens" and "max_completion_tokens" in exc.detail:
                replacement = "max_completion_tokens"
                accepted.setdefault(replacement, request[name])
            self._accepted = accepted
        change = f"sent as {replacement}" if replacement else "left out"
        value = "" if name == "response_format" else f"={request[name]!r}"
        count(self.usage, notes=[f"{self.model}: {name}{value} {change}, the server refuses it"])
        return True

    def _count_usage(self, reply: Any) -> None:
        usage = reply.get("usage") if isinstance(reply, dict) else None
        counted = read_tokens(usage) if isinstance(usage, dict) else None
        if counted is None:
            count(self.usage, unreported=1)
            return
        prompt, completion, cached = counted
        cost = None if self.prices is None else self.prices.cost(*counted)
        count(self.usage, prompt_tokens=prompt, completion_tokens=completion, cached_tokens=cached, cost=cost)


def _response_format(schema: str, form: Form[Any]) -> dict[str, Any]:
    """Return the key of the request that asks for the form of the reply, as *schema* says; nothing for ``none``."""
    if schema == "none" or not form.schema:
        return {}
    if schema == "json_object":
        return {"response_format": {"type": "json_object"}}
    json_schema = {"name": form.name, "schema": form.schema, "strict": True}
    return {"response_format": {"type": "json_schema", "json_schema": json_schema}}


def _refused_parameter(request: Mapping[str, Any], exc: JudgeCallError) -> str:
    """Return the key of *request* that the server refuses; an empty string where it complains of others."""
    if exc.status not in _REFUSED_STATUS or _TOO_MUCH.search(exc.detail):
        return ""
    mentioned = [key for key in request if key not in ("model", "messages") and _mentions(key, exc.detail)]
    if not mentioned and "response_format" in request and _mentions("json_schema", exc.detail):
        return "response_format"
    return mentioned[0] if mentioned else ""


def _mentions(name: str, detail: str) -> bool:
    """Whether *detail*, the text of a refusal, mentions the parameter *name* as a whole word."""
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", detail) is not None


def _post(url: str, body: Any, headers: Mapping[str, str], timeout: float, key: str) -> Any:
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
    messages = {
        "status": f"the judge's server said {exc.status}: {detail or 'nothing more'}",
        "header": f"the judge is not asked: {detail}",
        "too long": f"the judge's server gave {detail}",
        "no JSON": f"the judge's server gave no JSON: {detail!r}",
    }
    is_final = exc.kind in ("header", "too long") or (exc.kind == "status" and exc.status not in _TRANSIENT_STATUS)
    kind = JudgeCallError if is_final else TransientJudgeError
    error = kind(messages.get(exc.kind, f"the judge's server cannot be reached: {detail}"))
    if exc.kind == "status":
        error.status, error.detail, error.retry_after = exc.status, exc.detail, exc.retry_after
    return error


def _content_of(reply: Any) -> str:
    """Return the text of the first choice; raises `JudgeReplyError` where the model was cut off, or refused."""
    try:
        choice = reply["choices"][0]
        message = choice["message"]
        content = message["content"]
    except (KeyError, IndexError, TypeError):
        raise TransientJudgeError(f"the judge's server gave no chat completion: {str(reply)[:200]}") from None
    if limit := _CUT_OFF.get(str(choice.get("finish_reason"))):
        raise JudgeReplyError(f"the judge was cut off by {limit} before it was done")
    if content is None and message.get("refusal"):
        raise JudgeReplyError(f"the judge refused to judge: {shorten(str(message['refusal']), _MAX_SHOWN)}")
    if not isinstance(content, str):
        raise TransientJudgeError(f"the judge's server gave a message that is not a text: {content!r:.200}")
    return content


class ReplyCache:
    """Replies by server, model, parameters, prompt, schema and repeat.  One small JSON file each; for many writers.

    Files hold the reply, nothing of the request: neither prompt nor key.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        for part in self.folder.glob("??"):
            remove_leftovers(part)

    @staticmethod
    def key(url: str, body: Mapping[str, Any], repeat: int = 0) -> str:
        """Return the name under which the reply to *body* is kept; *body* has all that is sent, the schema as well."""
        request = {"url": url, "body": body, "repeat": repeat}
        return sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()

    def get(self, key: str) -> str | None:
        """Return the stored reply; None where there is none, or the file has another form."""
        try:
            refuse_pipe(self._path(key))
            entry = json.loads(self._path(key).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return entry["reply"] if isinstance(entry, dict) and isinstance(entry.get("reply"), str) else None

    def put(self, key: str, reply: str) -> None:
        """Keep a reply; a reader sees the whole file or none."""
        write_atomically(self._path(key), json.dumps({"reply": reply}))

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key[2:]}.json"
