"""The few places where pytest offers no public way, each guarded and with a fallback."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from types import FunctionType
from typing import Any

import pytest

__all__ = [
    "alike",
    "call_phase",
    "fixture_definitions",
    "fixtures_only_for",
    "has_pytest_asyncio",
    "has_pytest_benchmark",
    "is_of_one_case",
    "lets_phases_be_left_out",
    "loop_scope",
    "may_have_siblings",
    "plain_failure",
    "quick_widths",
    "sibling",
    "variant_of",
]

_SCOPES = ("session", "package", "module", "class", "function")
_SAME_FOR_ALL = frozenset({"_pytest.python", "_pytest.fixtures", "_pytest.unittest", "pytest_asyncio.plugin",
                           "anyio.pytest_plugin", "pytest_auepora.pytest_plugin.entry"})  # fmt: skip
"""Modules whose hooks treat functions with the same fixtures alike, as long as they are not coroutines."""


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


def may_have_siblings(items: Sequence[pytest.Item], collector: pytest.Collector) -> bool:
    """Whether functions of the same fixtures become items like *items*: plain ones, which no other plugin shaped."""
    hooks = collector.ihook.pytest_pycollect_makeitem, collector.ihook.pytest_generate_tests
    modules = {impl.function.__module__ for hook in hooks for impl in hook.get_hookimpls()}
    return modules <= _SAME_FOR_ALL and all(type(item) is pytest.Function for item in items)


def sibling(item: pytest.Function, name: str, function: FunctionType) -> pytest.Function:
    """Return an item like *item*, of the same file, fixtures and parameters, for another function."""
    callspec = getattr(item, "callspec", None)
    parameters = {} if callspec is None else {"callspec": callspec, "keywords": {callspec.id: True}}
    made: pytest.Function = pytest.Function.from_parent(
        item.parent, name=name + item.name.removeprefix(item.originalname), originalname=name, callobj=function,
        fixtureinfo=item._fixtureinfo, **parameters,
    )  # fmt: skip
    path, _, place = item.location
    if place == item.name:  # else somebody names places in a way of their own
        # pytest would make the path of the file relative anew for each case, which takes longer than to run it
        made.location = path, function.__code__.co_firstlineno - 1, made.name
    return made


def alike(item: pytest.Item, other: pytest.Item) -> bool:
    """Whether *item* is a `sibling` of *other* (or the other way round) with the same parameters."""
    return (
        item.parent is other.parent
        and getattr(item, "_fixtureinfo", None) is getattr(other, "_fixtureinfo", None)
        and getattr(item, "callspec", None) is getattr(other, "callspec", None)
        and getattr(item, "fixturenames", None) is getattr(other, "fixturenames", None)
    )


@cache
def _phases() -> tuple[Any, tuple[Any, ...]] | None:
    """Return what runs a phase, and where a phase of set-up has room made for log records; None if that moved."""
    try:
        from _pytest.logging import caplog_handler_key, caplog_records_key
        from _pytest.runner import call_and_report
    except ImportError:
        return None
    return call_and_report, (caplog_records_key, caplog_handler_key)


def lets_phases_be_left_out(item: pytest.Item) -> bool:
    """Whether `call_phase` can be used for *item*."""
    return _phases() is not None and hasattr(item, "_request") and hasattr(item, "_fixtureinfo")


def call_phase(item: pytest.Function, funcargs: dict[str, Any]) -> None:
    """Run the call phase of *item* alone, with *funcargs* for its fixtures, and report it.

    Fixtures are torn down at once where the session is to stop with it, as pytest does.
    """
    phases = _phases()
    assert phases is not None
    run, keys = phases
    item.funcargs = funcargs
    item.stash[keys[0]] = {}
    try:
        run(item, "call", True)
        if item.session.shouldfail or item.session.shouldstop:
            run(item, "teardown", True, nextitem=None)
    finally:
        item._request, item.funcargs = False, None  # type: ignore[assignment]  # pytest does so as well
        for key in keys:
            if key in item.stash:
                del item.stash[key]


def plain_failure(message: str, headline: str, path: str, line: int) -> object | None:
    """Return how pytest shows ``pytest.fail(message, pytrace=False)`` at *line* of *path*; None if that cannot be made.

    The same parts that pytest puts together from a traceback, of which it then shows nothing: reports, xdist and
    plugins that read ``longrepr.reprcrash`` find what they are used to.  There stands the *headline* alone: in CI
    pytest writes it whole into its short summary, and a screen for each failed case would be there twice.
    """
    try:
        code = _parts_of_failures()
        # the whole text as one line: it is written as it stands, and a write for each line takes longer than the text
        shown = code.ReprTraceback([code.ReprEntry([message], None, None, None, "value")], None, "value")
        place = code.ReprFileLocation(path, line, f"Failed: {headline}".rstrip())
        return code.ExceptionChainRepr([(shown, place, None)])  # type: ignore[no-any-return]
    except (ImportError, AttributeError, TypeError):
        return None


@cache
def _parts_of_failures() -> Any:
    from _pytest._code import code

    return code


@contextmanager
def quick_widths() -> Iterator[None]:
    """Let pytest's terminal know the width of ASCII texts by their length, as long as this lasts.

    It asks for that of each character: of a line of the short summary, which takes longer than all else, and with
    each result of the line that is being written.
    """
    with ExitStack() as undo:
        for module in _with_widths():
            names = vars(module)
            if (theirs := names.get("wcswidth")) is not None:
                undo.callback(names.__setitem__, "wcswidth", theirs)
                names["wcswidth"] = partial(_width, theirs)
        yield


def _width(theirs: Callable[[str], int], text: str) -> int:
    return len(text) if text.isascii() and text.isprintable() else theirs(text)


def _with_widths() -> tuple[Any, ...]:
    from _pytest import terminal

    try:
        from _pytest._io import terminalwriter
    except ImportError:
        return (terminal,)
    return terminal, terminalwriter
