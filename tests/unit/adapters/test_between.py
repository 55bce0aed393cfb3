"""What stands between the retriever and the generator, in the context of one call."""

from __future__ import annotations

from collections.abc import Iterator
from contextvars import ContextVar, copy_context
from typing import Any

from pytest_auepora.adapters.between import Standing, seen
from pytest_auepora.adapters.steps import finish

_BETWEEN: ContextVar[str] = ContextVar("between", default="")


class Index:
    def find(self) -> str:
        return "own"


class Part(Index):
    pass


def standing(*owners: Any) -> Standing[str]:
    def methods() -> Iterator[tuple[Any, str, Any]]:
        for owner in owners:
            yield owner, "find", lambda *_: _BETWEEN.get() or "own"

    return Standing(_BETWEEN, methods)


def test_a_method_is_another_one_in_the_context_alone() -> None:
    outside = copy_context()
    with standing(Index).put("given"):
        assert (Part().find(), outside.run(Part().find)) == ("given", "own")
    assert "given" not in (Index().find(), _BETWEEN.get())


def test_all_is_as_it_was_when_the_last_call_is_over() -> None:
    part, faked = Index(), Index()
    faked.find = fake = lambda: "fake"  # type: ignore[method-assign]
    put = standing(part, faked).put
    with put("first"):
        with put("second"):
            assert (part.find(), faked.find()) == ("second", "second")
        assert (part.find(), faked.find()) == ("first", "first")
    assert vars(part) == {}
    assert vars(faked) == {"find": fake}


def test_what_is_found_is_looked_at_before_it_goes_on() -> None:
    looked: list[str] = []
    assert finish(seen(lambda: "own", looked.append)) == "own"
    assert looked == ["own"]
