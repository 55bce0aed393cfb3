"""A call of several steps, each awaited where it has to be: one generator for a function and its async twin.

The generator yields what a part of the system returned and is sent its value, or thrown what awaiting it raised.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator
from typing import Any, TypeVar

_T = TypeVar("_T")

Steps = Generator[Any, Any, _T]


def finish(steps: Steps[Any]) -> Any:
    """Return the result of *steps*, or an awaitable of it from the first awaitable on that they yield."""
    raw = None
    try:
        while not inspect.isawaitable(raw):
            raw = steps.send(raw)
    except StopIteration as stop:
        return stop.value
    return _finish_later(steps, raw)


async def _finish_later(steps: Steps[Any], raw: Any) -> Any:
    try:
        while True:
            try:
                value = await raw if inspect.isawaitable(raw) else raw
            except BaseException as exc:
                raw = steps.throw(exc)
            else:
                raw = steps.send(value)
    except StopIteration as stop:
        return stop.value


def call_of(steps: Callable[..., Steps[Any]], *, is_async: bool) -> Callable[..., Any]:
    """Return a function that goes through *steps*; where it *is_async*, one that only makes a coroutine."""

    def call(*given: Any, **named: Any) -> Any:
        return finish(steps(*given, **named))

    async def acall(*given: Any, **named: Any) -> Any:
        raw = call(*given, **named)
        return await raw if inspect.isawaitable(raw) else raw

    return acall if is_async else call
