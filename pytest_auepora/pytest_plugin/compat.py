"""The few places where pytest offers no public way, each guarded and with a fallback."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

__all__ = ["fixture_definitions", "has_pytest_asyncio", "has_pytest_benchmark", "variant_of"]


def fixture_definitions(item: pytest.Item) -> Mapping[str, Sequence[pytest.FixtureDef[Any]]]:
    """Return the fixture definitions an item sees, by name, or nothing where pytest no longer tells.

    Needed to know, before any fixture is set up, whether ``rag`` is async and whether upcoming items
    share its value.  Without it, cases of async fixtures are not recognised and calls run one by one.
    """
    found: Mapping[str, Sequence[pytest.FixtureDef[Any]]] = getattr(
        getattr(item, "_fixtureinfo", None), "name2fixturedefs", {}
    )
    return found


def variant_of(item: pytest.Item) -> str:
    """Return the parameter id of an item (``"bm25"``), or an empty string."""
    callspec = getattr(item, "callspec", None)
    return str(callspec.id) if callspec is not None else ""


def has_pytest_asyncio(config: pytest.Config) -> bool:
    """Whether pytest-asyncio is active, under whichever name it was loaded."""
    return any(map(config.pluginmanager.hasplugin, ("asyncio", "pytest_asyncio", "pytest_asyncio.plugin")))


def has_pytest_benchmark(config: pytest.Config) -> bool:
    """Whether pytest-benchmark is active, under whichever name it was loaded."""
    return any(map(config.pluginmanager.hasplugin, ("benchmark", "pytest_benchmark", "pytest_benchmark.plugin")))
