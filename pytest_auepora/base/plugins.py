"""Hooks of other packages and of the project: found by pluggy, and asked by whoever has a question for them.

A package registers a module, or any object, by an entry point of the group `GROUP`; its functions that are called like
a hook are asked.  Under pytest they stand beside the project's conftest.py files in pytest's own plugin manager;
everywhere else in one of this module, beside what `offer` names.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module, metadata
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from pluggy import PluginManager

from ..errors import AueporaError
from .text import shorten

GROUP = "auepora"
"""The entry point group of packages with hooks."""

PREFIX = "pytest_auepora_"
SPECIFICATIONS = "pytest_auepora.hookspecs"
"""The module that describes the hooks; it knows all rooms, and none of them has to be imported for it."""


class _Hooks(PluginManager):
    """Takes what is called like a hook, as pytest does; marks of ``pytest.hookimpl`` count."""

    def parse_hookimpl_opts(self, plugin: Any, name: str) -> Any:
        if not name.startswith(PREFIX) or not callable(getattr(plugin, name, None)):
            return None
        return super().parse_hookimpl_opts(plugin, name) or {}


class _Active:
    """The plugin manager that is asked, and pytest's configuration where that is its own.

    ``offered`` names further modules, for a manager of this module's own.
    """

    manager: PluginManager | None = None
    config: Any = None
    offered: Callable[[], Iterable[str]] = tuple


_active = _Active()


def ask(hook: str, **arguments: Any) -> Any:
    """Return what the hook *hook* returns: a list, or the first answer where its specification says so."""
    return getattr(_manager().hook, hook)(config=_active.config, **arguments)


def offers_of(hook: str) -> dict[str, Any]:
    """Return what all who have the hook *hook* offer by name, of one name what was offered first.

    Raises:
        AueporaError: it raises, or returns no mapping.
    """
    found: dict[str, Any] = {}
    with errors_of(hook, AueporaError):
        answers = ask(hook)
    for answer in answers:
        if not isinstance(answer, Mapping):
            raise AueporaError(f"{hook} returned {shorten(repr(answer), 80)}: expected a mapping of names")
        found = {**answer, **found}
    return found


def is_implemented(hook: str) -> bool:
    """Whether anybody has the hook *hook*."""
    return bool(getattr(_manager().hook, hook).get_hookimpls())


def _manager() -> PluginManager:
    if _active.manager is None:
        manager = _Hooks("pytest")
        manager.add_hookspecs(import_module(SPECIFICATIONS))
        register_installed(manager)
        for spelling in _active.offered():
            with errors_of(f"auepora_plugins: {spelling}"):
                module = import_from(spelling)
            if not manager.is_registered(module):
                manager.register(module, spelling)
        _active.manager = manager
    return _active.manager


def register_installed(manager: PluginManager) -> None:
    """Register with *manager* what installed packages offer; raises `AueporaError` where one cannot be imported."""
    for point in metadata.entry_points(group=GROUP):
        if manager.get_plugin(point.name) is None and not manager.is_blocked(point.name):
            with errors_of(f"entry point {point.name} = {point.value} of {GROUP}"):
                plugin = point.load()
            if not manager.is_registered(plugin):
                manager.register(plugin, point.name)


@contextmanager
def in_use(manager: PluginManager | None, config: Any = None) -> Iterator[None]:
    """Ask *manager* in the meantime, pytest's own with its *config*; None: one of this module, made anew."""
    before = _active.manager, _active.config
    _active.manager, _active.config = manager, config
    try:
        yield
    finally:
        _active.manager, _active.config = before


def offer(modules: Callable[[], Iterable[str]]) -> None:
    """Have what *modules* returns registered as well, once the first hook is asked: names of modules, or of files."""
    _active.manager, _active.offered = None, modules


@contextmanager
def errors_of(what: str, *passed: type[Exception], error: type[AueporaError] = AueporaError) -> Iterator[None]:
    """Say *what* failed, in an *error*; those of the *passed* types stay as they are."""
    try:
        yield
    except passed:
        raise
    except Exception as exc:
        raise error(f"{what}: {type(exc).__name__}: {exc}") from exc


def import_from(location: str) -> Any:
    """Import a module, or a file as pytest does by default: by its name, with its folder on the search path."""
    file = Path(location) if location.endswith(".py") else None
    for folder in [Path.cwd()] if file is None else [Path.cwd(), file.resolve().parent]:
        if str(folder) not in sys.path:
            sys.path.insert(0, str(folder))
    if file is None:
        return import_module(location)
    if not file.is_file():
        raise FileNotFoundError(f"there is no {file}")
    spec: Any = spec_from_file_location(file.stem, file)
    module = sys.modules[file.stem] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
