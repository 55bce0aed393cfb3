"""Which upcoming items may have their call started early: those that get the very same system.

pytest runs items one after the other, but calls of a RAG system mostly wait.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from functools import cached_property
from typing import Any

import pytest

from .compat import fixture_definitions
from .keys import CASE, SUITE

__all__ = ["Queue", "share_key"]

_HARMLESS = frozenset({"request", "record_property", "record_testsuite_property"})


class Queue:
    """The selected golden items in run order, grouped by the system they share as soon as anybody asks."""

    def __init__(self, items: Sequence[pytest.Item]) -> None:
        self._items = items
        self._groups: dict[Hashable, list[pytest.Item]] = {}

    @cached_property
    def _place(self) -> dict[pytest.Item, tuple[Hashable, int]]:
        places: dict[pytest.Item, tuple[Hashable, int]] = {}
        for item in self._items:
            if (key := share_key(item)) is not None:
                group = self._groups.setdefault(key, [])
                places[item] = key, len(group)
                group.append(item)
        return places

    def upcoming(self, item: pytest.Item) -> Iterator[pytest.Item]:
        """Yield the items after *item* that share its system."""
        key, at = self._place.get(item, (None, 0))
        group = self._groups.get(key, [])
        for i in range(at + 1, len(group)):
            yield group[i]

    def shares(self, item: pytest.Item) -> bool:
        """Whether the system of *item* may be that of others too."""
        return item in self._place

    def leaves(self, item: pytest.Item, following: pytest.Item | None) -> bool:
        """Whether the system of *item* may be torn down before *following* runs."""
        if item not in self._place:
            return False
        return following is None or self._place.get(following, (None, 0))[0] != self._place[item][0]


def share_key(item: pytest.Item) -> Hashable | None:
    """Return a key equal for items that get the same value of the system's fixture.

    None where the call must not start early: no golden case, timed, skipped, not run, or a function-scoped
    fixture in the closure, whose set-up for that item has not happened yet.
    """
    case = item.stash.get(CASE, None)
    if case is None or case.benchmark is not None or _will_not_run(item):
        return None
    name = item.stash[SUITE].fixture
    definitions = fixture_definitions(item)
    if name not in definitions:
        return None
    for fixture in getattr(item, "fixturenames", ()):
        if fixture not in _HARMLESS and fixture in definitions and definitions[fixture][-1].scope == "function":
            return None
    scope = definitions[name][-1].scope
    home: Any = None if scope == "session" else item.parent
    if scope == "package":
        home = item.getparent(pytest.Package)
    callspec = getattr(item, "callspec", None)
    params = tuple(sorted(callspec.indices.items())) if callspec is not None else ()
    return tuple(map(id, definitions[name])), home, params


def _will_not_run(item: pytest.Item) -> bool:
    if any(item.iter_markers("skip")) or any(item.iter_markers("skipif")):
        return True
    return any(not mark.kwargs.get("run", True) for mark in item.iter_markers("xfail"))
