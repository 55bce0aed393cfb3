"""Calls of several steps, awaited where they have to be."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

import pytest

from pytest_auepora.adapters.steps import Steps, call_of, finish


async def later(value: Any) -> Any:
    await asyncio.sleep(0)
    if isinstance(value, Exception):
        raise value
    return value


def added(*parts: Any) -> Steps[Any]:
    total = 0
    for part in parts:
        total += yield part
    return total


def settled(raw: Any) -> Any:
    async def settle() -> Any:
        return await raw

    return asyncio.run(settle()) if inspect.isawaitable(raw) else raw


@pytest.mark.parametrize("awaited", [(), (0,), (2,), (0, 1, 2)])
def test_steps_are_awaited_where_they_have_to_be(awaited: tuple[int, ...]) -> None:
    raw = finish(added(*(later(n) if n in awaited else n for n in range(3))))
    assert inspect.isawaitable(raw) == bool(awaited)
    assert settled(raw) == 3


@pytest.mark.parametrize("before", [0, later(0)])
def test_steps_mind_what_an_awaited_part_raises(before: Any) -> None:
    def steps() -> Steps[Any]:
        total = yield before
        try:
            yield later(ValueError("down"))
        except ValueError as exc:
            return [total, *exc.args, (yield 2)]

    assert settled(finish(steps())) == [0, "down", 2]


def test_what_steps_do_not_mind_comes_through() -> None:
    ended = []

    def steps() -> Steps[Any]:
        try:
            yield later(ValueError("down"))
        finally:
            ended.append(True)

    with pytest.raises(ValueError, match="down"):
        settled(finish(steps()))
    assert ended == [True]


def test_a_call_begins_when_it_is_awaited() -> None:
    begun = []

    def steps(value: int) -> Steps[Any]:
        begun.append(value)
        return (yield value)

    assert call_of(steps, is_async=False)(3) == 3
    raw = call_of(steps, is_async=True)(4)
    assert begun == [3]
    assert settled(raw) == 4
