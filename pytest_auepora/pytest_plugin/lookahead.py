"""Which upcoming items may have their call started early: those whose fixtures all stand already, the system first.

pytest runs items one after the other, but calls of a RAG system mostly wait.  What may overlap are stretches of
golden items that get the very same values, with nothing between them that sets up, tears down or measures anything.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from functools import cached_property

import pytest

from .compat import fixture_definitions, is_of_one_case
from .keys import CASE, SUITE

__all__ = ["Queue"]

_SKIPPED = ("skip", "skipif")
_HARMLESS = frozenset({"request", "record_property", "record_testsuite_property"})


class Queue:
    """The selected items in run order; which golden ones stand together is found out as soon as anybody asks."""

    def __init__(self, items: Sequence[pytest.Item]) -> None:
        self._items = items

    @cached_property
    def _place(self) -> dict[pytest.Item, tuple[list[pytest.Item], int]]:
        """The stretch of each item in one, without those that may not run, and how far it is once the item has run."""
        places: dict[pytest.Item, tuple[list[pytest.Item], int]] = {}
        stretch: list[pytest.Item] = []
        key: Hashable = None
        for item in self._items:
            before, key = key, None if _is_timed(item) else _share_key(item)
            if key != before:
                stretch = []
            if key is not None:
                if _surely_runs(item):
                    stretch.append(item)
                places[item] = stretch, len(stretch)
        return places

    def upcoming(self, item: pytest.Item) -> Iterator[pytest.Item]:
        """Yield the items after *item* whose fixtures stand while it runs."""
        if (place := self._place.get(item)) is not None:
            stretch, after = place
            for i in range(after, len(stretch)):
                yield stretch[i]

    def shares(self, item: pytest.Item) -> bool:
        """Whether *item* surely runs, and what it gets may be that of others too."""
        stretch, after = self._place.get(item, ((), 0))
        return after > 0 and stretch[after - 1] is item

    def leaves(self, item: pytest.Item, following: pytest.Item | None) -> bool:
        """Whether fixtures of *item* may be torn down before *following* runs."""
        if (place := self._place.get(item)) is None:
            return False
        return following is None or self._place.get(following, (None, 0))[0] is not place[0]


def _share_key(item: pytest.Item) -> Hashable | None:
    """Return a key equal for golden items, one behind the other, that get the same values of all their fixtures.

    None where the call must not start early: it is no golden item's, or one of the fixtures is set up for that item
    alone, which has not happened yet.  Of a package or the session there is one value for all that see the definition.
    """
    if CASE not in item.stash:
        return None
    system, found = item.stash[SUITE].fixture, fixture_definitions(item)
    names = [name for name in getattr(item, "fixturenames", ()) if name not in _HARMLESS]
    if system not in names or not all(map(found.get, names)):  # a hook may have added names that nobody looked up
        return None
    definitions = tuple(found[name][-1] for name in names)
    if any(map(is_of_one_case, definitions)):
        return None
    home = item.parent if any(definition.scope == "module" for definition in definitions) else None
    callspec = getattr(item, "callspec", None)
    # by identity: hooks may give each file values of its own, and not all can be compared
    params = tuple((name, id(value)) for name, value in sorted(callspec.params.items())) if callspec is not None else ()
    return system, definitions, home, params


def _is_timed(item: pytest.Item) -> bool:
    """Whether *item* is a golden case that nothing may run beside."""
    case = item.stash.get(CASE, None)
    return case is not None and case.benchmark is not None


def _surely_runs(item: pytest.Item) -> bool:
    """Whether no mark of *item* may keep it from being run."""
    return not any(
        mark.name in _SKIPPED or (mark.name == "xfail" and not mark.kwargs.get("run", True))
        for mark in item.iter_markers()
    )
