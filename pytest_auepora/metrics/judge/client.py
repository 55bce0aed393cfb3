"""A judge behind any server that speaks OpenAI's chat completions: retries, limits, counts, a cache on disk."""

from __future__ import annotations

import copy
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import Any
from urllib.parse import urlsplit

from ...calls.caller import Caller
from ...core.retry import RetryPolicy
from ...errors import AueporaError, MetricError
from ...http import HttpError, mask, request_json, shorten
from .cache import ReplyCache
from .critic import Judgement, LLMCritic, Question, Scale, read_reply

__all__ = ["JudgeCallError", "JudgeUsage", "OpenAICompatibleCritic", "TransientJudgeError", "critic_from_environment"]

_TRANSIENT = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_LONGEST_REPLY = 10 * 2**20
_SHOWN = 300


class JudgeCallError(AueporaError):
    """The judge's server refused, or gave something that is no reply.  ``status`` is the HTTP status, or None."""

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class TransientJudgeError(JudgeCallError):
    """It may go well the next time.  ``retry_after`` is how many seconds the server asks to wait, where it does."""

    def __init__(self, message: str, *, status: int | None = None, retry_after: float | None = None) -> None:
        super().__init__(message, status=status)
        self.retry_after = retry_after


@dataclass
class JudgeUsage:
    """What a critic has asked and spent so far.

    ``unreported`` counts replies for which the server named no tokens; ``cost`` is in the currency of the
    prices, None where none were given.  ``seconds`` is the time spent waiting for replies.
    """

    requests: int = 0
    retries: int = 0
    cache_hits: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    unreported: int = 0
    seconds: float = 0.0
    cost: float | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def add(self, **more: float) -> None:
        """Add to the counts; callable from several threads."""
        with self._lock:
            for name, n in more.items():
                setattr(self, name, (getattr(self, name) or 0) + n)


class OpenAICompatibleCritic(LLMCritic):
    """Asks a model and reads its reply strictly: a JSON object with ``score``, or a bare number.

    The key is read from the environment for every request and kept nowhere: not in the object, the cache, the
    fingerprint or an error message.

    Args:
        model: the model's name.
        base_url: up to and without ``/chat/completions``.
        api_key_env: the environment variable that holds the key; None, or a variable that is not set, sends none.
        temperature, seed, max_tokens: sent along unless None.
        extra: further keys of the request body, ``{"response_format": {"type": "json_object"}}`` for instance.
        timeout: seconds one attempt may take.
        attempts: how often a request is tried in all, when the server is busy, failing or out of reach.
        backoff: seconds before the second attempt, doubled before each further one; a Retry-After header goes
            before it.
        max_wait: the longest wait between two attempts, in seconds.
        concurrency: how many requests may be under way at once, over all threads.
        cache_dir: folder of replies by prompt, model and parameters; None keeps none.
        cache_only: a question that is not in the cache is an error instead of a request.
        prices: cost of a million prompt tokens and of a million completion tokens.

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
        temperature: float | None = 0.0,
        seed: int | None = 0,
        max_tokens: int | None = None,
        extra: Mapping[str, Any] | None = None,
        timeout: float = 60.0,
        attempts: int = 5,
        backoff: float = 0.5,
        max_wait: float = 30.0,
        concurrency: int = 4,
        cache_dir: str | os.PathLike[str] | None = None,
        cache_only: bool = False,
        prices: tuple[float, float] | None = None,
    ) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
            raise MetricError("base_url must be http(s)://host/path, without user, password or query")
        if not model or not timeout > 0 or concurrency < 1:
            raise MetricError("a critic needs a model, a timeout above 0 and a concurrency of at least 1")
        if cache_only and cache_dir is None:
            raise MetricError("cache_only needs a cache_dir")
        self.model = model
        self.url = f"{base_url.rstrip('/')}/chat/completions"
        self.usage = JudgeUsage(cost=None if prices is None else 0.0)
        sent = {"temperature": temperature, "seed": seed, "max_tokens": max_tokens}
        self._parameters = {**{k: v for k, v in sent.items() if v is not None}, **(extra or {})}
        self._api_key_env = api_key_env
        self._timeout = timeout
        try:
            self._retry = RetryPolicy((TransientJudgeError,), attempts, backoff, max_wait)
        except ValueError as exc:
            raise MetricError(str(exc)) from None
        self._concurrency = concurrency
        self._slots = threading.BoundedSemaphore(concurrency)
        self._cache = None if cache_dir is None else ReplyCache(cache_dir)
        self._cache_only = cache_only
        self._prices = prices

    def __repr__(self) -> str:
        return f"<OpenAICompatibleCritic {self.model} at {self.url}>"

    def params(self) -> dict[str, Any]:
        """Model and sampling parameters; where the server is does not matter."""
        return {"model": self.model, **self._parameters}

    def without_cache(self) -> OpenAICompatibleCritic:
        """Return the same critic, its usage shared, that asks every time."""
        fresh = copy.copy(self)
        fresh._cache, fresh._cache_only = None, False
        return fresh

    def score(self, *, prompt: str, metadata: dict[str, Any] | None = None) -> float:
        """Return the score as the model gave it.

        Raises:
            JudgeReplyError: the model's reply is no score.
            JudgeCallError: no reply was to be had.
        """
        return self.judge(prompt=prompt, metadata=metadata).score

    def judge(self, *, prompt: str, metadata: dict[str, Any] | None = None) -> Judgement:
        """Return score and rationale; raises as `score` does."""
        (reply,) = self.judge_many([Question(prompt, metadata or {})])
        if isinstance(reply, Exception):
            raise reply
        return reply

    def judge_many(self, questions: Sequence[Question]) -> list[Judgement | Exception]:
        """Ask all at once, as far as the concurrency allows; equal prompts are asked once."""
        distinct = {q.prompt: q for q in questions}
        replies: dict[str, Judgement | Exception] = {}
        with Caller(min(self._concurrency, max(len(distinct), 1)), retry=self._retry) as caller:
            calls = caller.map(partial(self._ask, question) for question in distinct.values())
            for prompt, result in zip(distinct, calls, strict=True):
                self.usage.add(retries=result.attempts - 1)
                if result.error is None:
                    replies[prompt] = result.value
                elif isinstance(result.error, Exception):
                    replies[prompt] = result.error
                else:
                    raise result.error
        return [replies[q.prompt] for q in questions]

    def _ask(self, question: Question) -> Judgement:
        prompt = question.prompt
        key = "" if self._cache is None else self._cache.key(prompt, self.model, self._parameters)
        if self._cache is not None and (kept := self._cache.get(key)) is not None:
            self.usage.add(cache_hits=1)
            return Judgement(*read_reply(kept["reply"]), usage={"cached": True})
        if self._cache_only:
            raise JudgeCallError("this question is not in the cache, and cache_only allows no request")
        text, usage = self._request(prompt)
        judgement = Judgement(*read_reply(text), usage=usage)
        if self._cache is not None:
            if "scale" in question.metadata:  # what is no score, or not on the scale, is never kept
                Scale(*question.metadata["scale"]).to_unit(judgement.score)
            self._cache.put(key, text, usage)
        return judgement

    def _request(self, prompt: str) -> tuple[str, dict[str, Any]]:
        body = {"model": self.model, "messages": [{"role": "user", "content": prompt}], **self._parameters}
        key = os.environ.get(self._api_key_env, "") if self._api_key_env else ""
        headers = {"User-Agent": "pytest-auepora", **({"Authorization": f"Bearer {key}"} if key else {})}
        with self._slots:
            start = perf_counter()
            try:
                said = _post(self.url, body, headers, self._timeout, key)
            finally:
                self.usage.add(requests=1, seconds=perf_counter() - start)
        usage = self._count(said)
        return _content(said), usage

    def _count(self, said: Any) -> dict[str, Any]:
        reported = said.get("usage") if isinstance(said, dict) else None
        tokens = {}
        for name in ("prompt_tokens", "completion_tokens"):
            n = reported.get(name) if isinstance(reported, dict) else None
            if type(n) is int and n >= 0:
                tokens[name] = n
        if len(tokens) < 2:
            self.usage.add(unreported=1)
            return {}
        self.usage.add(**tokens)
        if self._prices is not None:
            cost = sum(n * price for n, price in zip(tokens.values(), self._prices, strict=True)) / 1e6
            self.usage.add(cost=cost)
        return tokens


def _post(url: str, body: Any, headers: Mapping[str, str], timeout: float, key: str) -> Any:
    """Return the reply without *key*, which it has no reason to repeat; raises as `OpenAICompatibleCritic.score`."""
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
        return JudgeCallError(message, status=exc.status)
    if exc.kind == "too long":
        return JudgeCallError(f"the judge's server gave {told}")
    if exc.kind == "no JSON":
        return TransientJudgeError(f"the judge's server gave no JSON: {told!r}")
    return TransientJudgeError(f"the judge's server cannot be reached: {told}")


def _content(said: Any) -> str:
    """Return the text of the first choice.

    Raises:
        TransientJudgeError: the reply is JSON, but no chat completion.
        JudgeCallError: the model was cut off before it was done.
    """
    try:
        choice = said["choices"][0]
        content = choice["message"]["content"]
    except (KeyError, IndexError, TypeError):
        raise TransientJudgeError(f"the judge's server gave no chat completion: {str(said)[:200]}") from None
    if not isinstance(content, str):
        raise TransientJudgeError(f"the judge's server gave a message that is no text: {content!r:.200}")
    if isinstance(choice, dict) and choice.get("finish_reason") == "length":
        raise JudgeCallError("the judge was cut off by max_tokens before it was done")
    return content


def critic_from_environment() -> OpenAICompatibleCritic:
    """Return the critic that AUEPORA_JUDGE_URL and AUEPORA_JUDGE_MODEL name.

    AUEPORA_JUDGE_API_KEY holds the key, AUEPORA_JUDGE_CACHE a cache folder; both may be missing.

    Raises:
        MetricError: one of the two is not set.
    """
    url, model = os.environ.get("AUEPORA_JUDGE_URL"), os.environ.get("AUEPORA_JUDGE_MODEL")
    if not url or not model:
        raise MetricError("there is no judge: give a critic, or set AUEPORA_JUDGE_URL and AUEPORA_JUDGE_MODEL")
    return OpenAICompatibleCritic(
        model,
        base_url=url,
        api_key_env="AUEPORA_JUDGE_API_KEY",
        cache_dir=os.environ.get("AUEPORA_JUDGE_CACHE") or None,
    )
