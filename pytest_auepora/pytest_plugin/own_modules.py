"""Modules of this package are found by Python itself, not by the hook that rewrites the assertions of tests.

pytest rewrites every module that the distribution of a plugin brings.  There is nothing to rewrite here, and a module
that goes this way takes four times as long to import, which was half of what a run of few cases took beside pytest:
in every process its source is read and hashed anew.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

import pytest

__all__ = ["import_straight"]

_PREFIX = f"{__name__.partition('.')[0]}."


class _Straight:
    """Finds what Python's own finder would find."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return PathFinder.find_spec(name, path, target) if name.startswith(_PREFIX) else None


def import_straight(config: pytest.Config) -> None:
    """Until the run of *config* ends, let modules of this package pass pytest's hook, where there is one.

    Called before whatever may be the first import of more than the entry module.
    """
    hook = getattr(config.pluginmanager, "rewrite_hook", None)
    if hook in sys.meta_path and not any(isinstance(finder, _Straight) for finder in sys.meta_path):
        finder = _Straight()
        sys.meta_path.insert(sys.meta_path.index(hook), finder)
        config.add_cleanup(partial(_forget, finder))


def _forget(finder: _Straight) -> None:
    with suppress(ValueError):  # somebody may have put back the finders of before
        sys.meta_path.remove(finder)
