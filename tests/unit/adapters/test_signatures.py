"""How a function wants to be called: by names, by annotations, by position; sync and async."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from typing import Any

import pytest

from pytest_auepora.adapters.systems import as_system
from pytest_auepora.core.rag_interface import RAGSystem
from pytest_auepora.core.types import EvaluationSample
from pytest_auepora.errors import SystemShapeError

from .asking import ask, by_query
from .test_systems import Bot


def by_any_name(x: str) -> str:
    return f"{x} 3"


def by_query_and_top_k(query: str, top_k: int) -> str:
    return f"{query} {top_k}"


def by_keyword_k(question: str, *, k: int = 1) -> str:
    return f"{question} {k}"


def by_swapped_names(limit: int, prompt: str) -> str:
    return f"{prompt} {limit}"


def by_sample_name(sample: Any) -> str:
    return f"{sample.query} 3"


def by_annotation(s: EvaluationSample, k: int = 1) -> str:
    return f"{s.query} {k}"


def by_defaults(q: str, temperature: float = 0.5, top_k: int = 1, *rest: Any, **options: Any) -> str:
    assert (temperature, rest, options) == (0.5, (), {})
    return f"{q} {top_k}"


def by_position_only(q: str, /, k: int = 1) -> str:
    return f"{q} {k}"


def by_anything(*args: Any, **kwargs: Any) -> str:
    assert not kwargs
    return f"{args[0]} 3"


def by_both(query: str, sample: EvaluationSample, top_k: int) -> str:
    assert sample.query == query
    return f"{query} {top_k}"


@functools.wraps(by_keyword_k)
def wrapped(*args: Any, **kwargs: Any) -> str:
    return by_keyword_k(*args, **kwargs)


async def acoroutine(query: str, top_k: int) -> str:
    await asyncio.sleep(0)
    return f"{query} {top_k}"


def returns_coroutine(query: str, top_k: int) -> Any:
    return acoroutine(query, top_k)


class Callable1:
    def __call__(self, query: str, top_k: int = 1) -> str:
        return f"{query} {top_k}"


class AsyncCallable:
    async def __call__(self, query: str, top_k: int = 1) -> str:
        return f"{query} {top_k}"


class Runs:
    def run(self, sample: EvaluationSample, *, top_k: int = 5) -> Any:
        return f"{sample.query} {top_k}"


class RunsWithoutNames(RAGSystem):
    def run(self, s, *, top_k=5):  # type: ignore[no-untyped-def]
        return f"{s.query} {top_k}"


class RunsAsync:
    async def run(self, sample: EvaluationSample, *, top_k: int = 5) -> Any:
        return f"{sample.query} {top_k}"


class RunsOnText:
    def run(self, query: str) -> str:
        return f"{query} 3"


class RunsOnAnnotatedText:
    def run(self, x: str) -> str:
        return f"{x} 3"


@pytest.mark.parametrize(
    ("obj", "name", "is_async"),
    [
        (by_query, "by_query", False),
        (by_any_name, "by_any_name", False),
        (by_query_and_top_k, "by_query_and_top_k", False),
        (by_keyword_k, "by_keyword_k", False),
        (by_swapped_names, "by_swapped_names", False),
        (by_sample_name, "by_sample_name", False),
        (by_annotation, "by_annotation", False),
        (by_defaults, "by_defaults", False),
        (by_position_only, "by_position_only", False),
        (by_anything, "by_anything", False),
        (by_both, "by_both", False),
        (lambda *texts, top_k=1: f"{texts[0]} {top_k}", "<lambda>", False),
        (wrapped, "by_keyword_k", False),
        (functools.partial(by_query_and_top_k, top_k=3), "by_query_and_top_k", False),
        (functools.partial(functools.partial(acoroutine), top_k=3), "acoroutine", True),
        (lambda q: f"{q} 3", "<lambda>", False),
        (lambda sample, k: f"{sample.query} {k}", "<lambda>", False),
        (acoroutine, "acoroutine", True),
        (returns_coroutine, "returns_coroutine", False),
        (Bot().ask, "Bot.ask", False),
        (Bot().aask, "Bot.aask", True),
        (Bot.static, "Bot.static", False),
        (Bot.of_class, "Bot.of_class", False),
        (Callable1(), "Callable1", False),
        (AsyncCallable(), "AsyncCallable", True),
        (Runs(), "Runs", False),
        (RunsWithoutNames(), "RunsWithoutNames", False),
        (RunsAsync(), "RunsAsync", True),
        (RunsOnText(), "RunsOnText", False),
        (RunsOnAnnotatedText(), "RunsOnAnnotatedText", False),
    ],
)
def test_each_form_of_a_callable(obj: Any, name: str, is_async: bool) -> None:
    system = as_system(obj)
    assert (system.name, system.is_async) == (name, is_async)
    out = ask(system)
    assert out.response.text == "why? 3"
    assert out.timings == {"end_to_end": 1.5}


def test_a_builtin_is_called_with_the_query() -> None:
    assert ask(as_system("{} 3".format)).response.text == "why? 3"
    assert ask(as_system(max)).response.text == "y", "max has no signature to read"


@pytest.mark.parametrize(
    ("fn", "message"),
    [
        (lambda: "x", "takes no query"),
        (lambda q, collection: "x", "needs 'collection', which no call brings"),
        (lambda q, *, model, tenant: "x", "needs 'model', 'tenant'"),
        (lambda *, top_k: "x", "takes no query"),
        (lambda *texts, model: "x", "needs 'model', which no call brings"),
        (lambda **options: "x", "takes no query"),
    ],
)
def test_a_callable_that_no_call_can_satisfy_is_refused_at_once(fn: Callable[..., Any], message: str) -> None:
    with pytest.raises(SystemShapeError) as caught:
        as_system(fn)
    assert message in str(caught.value)
