"""Which upcoming items may have their call started early: those that get the very same system.

pytest runs items one after the other, but calls of a RAG system mostly wait.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from functools import cached_property
from typing import Any

import pytest

from .compat import alike, fixture_definitions
from .keys import CASE, SUITE

__all__ = ["Queue"]

_SKIPPED = ("skip", "skipif")
_HARMLESS = frozenset({"request", "record_property", "record_testsuite_property"})


class Queue:
    """The selected golden items in run order, grouped by the system they share as soon as anybody asks."""

    def __init__(self, items: Sequence[pytest.Item]) -> None:
        self._items = items
        self._groups: dict[Hashable, list[pytest.Item]] = {}

    @cached_property
    def _place(self) -> dict[pytest.Item, tuple[Hashable, int]]:
        places: dict[pytest.Item, tuple[Hashable, int]] = {}
        first: pytest.Item | None = None
        key: Hashable = None
        for item in self._items:
            if not _is_plain(item):
                continue
            if first is None or not alike(item, first):  # as it nearly always is: the first call waits for this
                first, key = item, _share_key(item)
            if key is not None:
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


def _share_key(item: pytest.Item) -> Hashable | None:
    """Return a key equal for golden items that get the same value of the system's fixture.

    None where the call must not start early: a function-scoped fixture in the closure, whose set-up for that item has
    not happened yet.
    """
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


def _is_plain(item: pytest.Item) -> bool:
    """Whether *item* is a golden case that is not timed, skipped, or not run."""
    case = item.stash.get(CASE, None)
    if case is None or case.benchmark is not None:
        return False
    for mark in item.iter_markers():
        if mark.name in _SKIPPED or (mark.name == "xfail" and not mark.kwargs.get("run", True)):
            return False
    return True
