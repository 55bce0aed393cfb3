"""The few places where pytest offers no public way, each guarded and with a fallback."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pytest

__all__ = [
    "fixture_definitions",
    "fixtures_only_for",
    "has_pytest_asyncio",
    "has_pytest_benchmark",
    "is_of_one_case",
    "loop_scope",
    "variant_of",
]

_SCOPES = ("session", "package", "module", "class", "function")


def fixture_definitions(item: pytest.Item) -> Mapping[str, Sequence[pytest.FixtureDef[Any]]]:
    """Return the fixture definitions an item sees, by name, or nothing where pytest no longer tells.

    Needed to know, before any fixture is set up, whether ``rag`` is async and whether upcoming items
    share its value.  Without it, cases of async fixtures are not recognised and calls run one by one.
    """
    found: Mapping[str, Sequence[pytest.FixtureDef[Any]]] = getattr(
        getattr(item, "_fixtureinfo", None), "name2fixturedefs", {}
    )
    return found


def is_of_one_case(definition: pytest.FixtureDef[Any]) -> bool:
    """Whether each case gets a value of the fixture of its own: a case is in no class, so it is its own class."""
    return definition.scope in ("function", "class")


def fixtures_only_for(item: pytest.Item, name: str) -> list[str]:
    """Return the fixtures of *item* that nothing needs but the fixture *name*, itself included.

    Where pytest no longer tells, that is the fixture alone, and what it needs is set up without it.
    """
    definitions = fixture_definitions(item)

    def reached(names: Iterable[str]) -> set[str]:
        seen: set[str] = set()
        todo = list(names)
        while todo:
            one = todo.pop()
            if one not in seen and one != name:
                seen.add(one)
                for definition in definitions.get(one, ()):  # an override may ask for what it overrides
                    todo += definition.argnames
        return seen

    first = getattr(getattr(item, "_fixtureinfo", None), "initialnames", None)
    if first is None:
        return [name]
    needed = reached(first)
    return [one for one in getattr(item, "fixturenames", ()) if one not in needed]


def variant_of(item: pytest.Item) -> str:
    """Return the parameter id of an item (``"bm25"``), or an empty string."""
    callspec = getattr(item, "callspec", None)
    return str(callspec.id) if callspec is not None else ""


def has_pytest_asyncio(config: pytest.Config) -> bool:
    """Whether pytest-asyncio is active, under whichever name it was loaded."""
    return any(map(config.pluginmanager.hasplugin, ("asyncio", "pytest_asyncio", "pytest_asyncio.plugin")))


def loop_scope(config: pytest.Config, definition: pytest.FixtureDef[Any]) -> str:
    """Return the scope of the event loop in which pytest-asyncio sets up an async fixture.

    What the fixture says itself, which is not public, else the setting, else the scope of the fixture.
    """
    own = getattr(definition.func, "_loop_scope", None)
    default = config.getini("asyncio_default_fixture_loop_scope")
    return str(own or (default if default in _SCOPES else definition.scope))


def has_pytest_benchmark(config: pytest.Config) -> bool:
    """Whether pytest-benchmark is active, under whichever name it was loaded."""
    return any(map(config.pluginmanager.hasplugin, ("benchmark", "pytest_benchmark", "pytest_benchmark.plugin")))
