"""The few places where pytest offers no public way, each guarded and with a fallback; and what other plugins tell."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pytest

_TIME_LIMIT: pytest.StashKey[Any] = pytest.StashKey()
"""On an item: what pytest-timeout made of its marks, options and settings, where it has a limit."""
_SCOPES = ("session", "package", "module", "class", "function")


def fixture_definitions(item: pytest.Item) -> Mapping[str, Sequence[pytest.FixtureDef[Any]]]:
    """Return the fixture definitions an item sees, by name, or nothing where pytest no longer tells.

    Needed to know, before any fixture is set up, whether ``rag`` is async and whether upcoming items
    share its value.  Without it, cases of async fixtures are not recognised and calls run one by one.
    """
    definitions: Mapping[str, Sequence[pytest.FixtureDef[Any]]] = getattr(
        getattr(item, "_fixtureinfo", None), "name2fixturedefs", {}
    )
    return definitions


def set_up_without(item: pytest.Item, name: str) -> None:
    """Have None stand for the fixture *name* of *item*, and for those that nothing else needs.

    Where pytest no longer tells these, what the fixture needs is set up without it.
    """
    first = getattr(getattr(item, "_fixtureinfo", None), "initialnames", None)
    needed = None if first is None else _needed_fixtures(item, first, but=name)
    funcargs: dict[str, Any] = getattr(item, "funcargs", {})
    for fixture in [name] if needed is None else getattr(item, "fixturenames", ()):
        if needed is None or fixture not in needed:
            funcargs.setdefault(fixture, None)


def _needed_fixtures(item: pytest.Item, names: Iterable[str], but: str = "") -> set[str]:
    """Return *names* and all fixtures that they need, except *but* and what only that needs."""
    definitions = fixture_definitions(item)
    reached: set[str] = set()
    todo = list(names)
    while todo:
        name = todo.pop()
        if name not in reached and name != but:
            reached.add(name)
            for definition in definitions.get(name, ()):  # an override may ask for what it overrides
                todo += definition.argnames
    return reached


def available_fixtures(error: pytest.FixtureLookupError) -> list[str]:
    """Return the names of fixtures that pytest lists in *error*, without those of plugins; none where it does not."""
    try:
        text = str(error.formatrepr().errorstring)
    except Exception:
        return []
    listed = re.search(r"available fixtures: (.*)", text)
    return [name for name in listed[1].split(", ") if not name.startswith("_")] if listed else []


def parameters_of(item: pytest.Item) -> str:
    """Return the id of all parameters of an item, or an empty string."""
    callspec = getattr(item, "callspec", None)
    return str(callspec.id) if callspec is not None else ""


def variant_of(item: pytest.Item, fixture: str) -> str:
    """Return the id of the parameters that the system of *fixture* depends on (``"bm25"``), or an empty string.

    Parameters of other fixtures, as pytest-repeat and autouse fixtures have, make no other configuration.  Where pytest
    no longer tells which id is whose, all of them count.
    """
    callspec = getattr(item, "callspec", None)
    if callspec is None:
        return ""
    ids: Sequence[str] = getattr(callspec, "_idlist", ())
    if len(ids) != len(callspec.params) or not fixture_definitions(item):
        return parameters_of(item)
    needed = _needed_fixtures(item, [fixture])
    return "-".join(str(param_id) for name, param_id in zip(callspec.params, ids, strict=True) if name in needed)


def positional_fixtures(item: pytest.Item, fixture: str) -> list[str]:
    """Return the parametrized fixtures that *fixture* needs, itself included, whose id of *item* is only a position.

    Without a *fixture*, of all parameters.  pytest calls an object without a name by its place, ``rag0``, and numbers
    ids that are there twice.  Where it no longer tells whose id is which, nothing is returned.
    """
    callspec = getattr(item, "callspec", None)
    ids: Sequence[str] = getattr(callspec, "_idlist", ())
    indices: Mapping[str, int] = getattr(callspec, "indices", {})
    if callspec is None or not len(ids) == len(callspec.params) == len(indices):
        return []
    definitions = fixture_definitions(item)
    needed = _needed_fixtures(item, [fixture]) if fixture else set(callspec.params)
    found = []
    for (name, value), param_id in zip(callspec.params.items(), map(str, ids), strict=True):
        if name in needed:
            given = _given_id(definitions.get(name, ())[-1:], value, indices[name])
            stems = rf"{re.escape(name)}|{re.escape(given)}_?"
            found += [name] if param_id != given and re.fullmatch(rf"({stems})\d+", param_id) else []
    return found


def _given_id(definition: Sequence[pytest.FixtureDef[Any]], value: Any, index: int) -> str:
    """Return the id that a parameter of a fixture has by itself or was given, before pytest numbers equal ones."""
    ids, param = None, None
    for one in definition:
        ids, param = getattr(one, "ids", None), (getattr(one, "params", None) or (None,) * (index + 1))[index]
    given = ids(value) if callable(ids) else ids[index] if ids else getattr(param, "id", None)
    if given is not None:
        return str(given)
    return value.decode("ascii", "replace") if isinstance(value, bytes) else str(getattr(value, "__name__", value))


def has_plugin(config: pytest.Config, name: str) -> bool:
    """Whether the plugin ``pytest-<name>`` is active, under whichever name it was loaded."""
    return any(map(config.pluginmanager.hasplugin, (name, f"pytest_{name}", f"pytest_{name}.plugin")))


class TimeLimits:
    """Notes the limits that pytest-timeout sets, in every process that runs cases: they are for one call."""

    @pytest.hookimpl(optionalhook=True, tryfirst=True)
    def pytest_timeout_set_timer(self, item: pytest.Item, settings: Any) -> None:
        """Note the limit of *item*."""
        item.stash[_TIME_LIMIT] = settings


def restart_time_limit(item: pytest.Item) -> None:
    """Have pytest-timeout count anew, before another call of *item*; nothing where it has no limit."""
    if (settings := item.stash.get(_TIME_LIMIT, None)) is not None:
        hook: Any = item.config.hook
        hook.pytest_timeout_cancel_timer(item=item)
        hook.pytest_timeout_set_timer(item=item, settings=settings)


def is_anyio_automatic(config: pytest.Config) -> bool:
    """Whether anyio runs every async fixture and test, with no mark on them."""
    return "auto" in (config.getoption("anyio_mode", None), _setting(config, "anyio_mode"))


def loop_scope(config: pytest.Config, definition: pytest.FixtureDef[Any]) -> str:
    """Return the scope of the event loop in which pytest-asyncio sets up an async fixture.

    What the fixture says itself, which is not public, else the setting, else the scope of the fixture.
    """
    declared = getattr(definition.func, "_loop_scope", None)
    default = _setting(config, "asyncio_default_fixture_loop_scope")
    return str(declared or (default if default in _SCOPES else definition.scope))


def _setting(config: pytest.Config, name: str) -> Any:
    """Return a setting of another plugin; None where that is not active, or its version has no such setting."""
    try:
        return config.getini(name)
    except (ValueError, KeyError):
        return None


def is_worker(config: pytest.Config) -> bool:
    """Whether this process is a worker of pytest-xdist."""
    return hasattr(config, "workerinput")


def worker_input(config: pytest.Config, key: str, default: Any = None) -> Any:
    """Return what the controller told this worker under *key*; *default* in all other cases."""
    return getattr(config, "workerinput", {}).get(key, default)


def process_count(config: pytest.Config) -> int:
    """Return how many processes run the tests."""
    return int(worker_input(config, "workercount", 1))
