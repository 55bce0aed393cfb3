"""Metrics of other people: of installed packages, and of a project's own modules."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module, metadata
from importlib.util import module_from_spec, spec_from_file_location
from inspect import signature
from pathlib import Path
from types import ModuleType
from typing import Any

from ..core.metrics_base import Metric
from ..errors import AueporaError, MetricError, did_you_mean
from .registry import Registry

GROUP = "auepora.metrics"
"""The entry point group: the name is that of the metric, the object a metric, a class of one, or a function that adds
several to the registry it is given."""


def add_installed(registry: Registry) -> None:
    """Add what installed packages offer under the entry point group ``auepora.metrics``.

    Raises:
        MetricError: one of them cannot be loaded, or has a name that is taken.
    """
    for point in metadata.entry_points(group=GROUP):
        try:
            found = point.load()
        except Exception as exc:
            raise MetricError(f"entry point {point.name} = {point.value} of {GROUP}: {_told(exc)}") from exc
        _add(registry, found, point.value, point.name)


def add_from(registry: Registry, spelling: str) -> None:
    """Add what ``module:object`` or ``path/of/file.py:object`` names, relative to the working directory.

    A function is called with *registry* (and ``config=None`` if it takes one, so that a
    ``pytest_auepora_metrics`` hook will do); a metric or a class of one is added under its name.

    Raises:
        MetricError: there is no such thing, it cannot be imported, or it is neither.
    """
    where, _, name = spelling.rpartition(":")
    if not where or not name:
        raise MetricError(f"metrics are named as module:object or file.py:object, got {spelling!r}")
    module = _module(where, spelling)
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            raise MetricError(f"{spelling}: {where} has no {part!r}{did_you_mean(part, vars(module))}")
        found = getattr(found, part)
    _add(registry, found, spelling)


def _module(where: str, spelling: str) -> ModuleType:
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        return _from_file(Path(where)) if where.endswith(".py") else import_module(where)
    except Exception as exc:
        raise MetricError(f"{spelling}: cannot be imported: {_told(exc)}") from exc


def _from_file(path: Path) -> ModuleType:
    """Import a file as pytest does by default: by its name, its folder being searched for what it imports."""
    if not path.is_file():
        raise FileNotFoundError(f"there is no {path}")
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[path.stem] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _add(registry: Registry, found: Any, spelling: str, name: str = "") -> None:
    if isinstance(found, Metric) or (isinstance(found, type) and issubclass(found, Metric)):
        name = name or getattr(found, "name", "") or getattr(found, "stem", "")
        if not name:
            raise MetricError(f"{spelling}: the metric has no name")
        registry.add(name, found)
    elif callable(found) and not isinstance(found, type):
        _call(found, registry, spelling)
    else:
        raise MetricError(f"{spelling}: expected a metric or a function that takes the registry, got {found!r:.80}")


def _call(function: Callable[..., Any], registry: Registry, spelling: str) -> None:
    config = {"config": None} if "config" in signature(function).parameters else {}
    try:
        function(registry=registry, **config)
    except AueporaError:
        raise
    except Exception as exc:
        raise MetricError(f"{spelling}: {_told(exc)}") from exc


def _told(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
