"""A worker that dies with a case loses that case: whoever gets the rest of its file does not start it again.

With ``--dist loadfile`` (and ``loadscope``, ``loadgroup``) pytest-xdist hands the whole rest of a dead worker's file
to the next one, the case that killed it included, and so one worker after the other dies of it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Generator
from typing import Any

import pytest

from .collect import SUFFIXES

__all__ = ["Crashes"]

_Unit = dict[str, bool]
"""Node ids that one worker gets, and whether they have run."""


class Crashes:
    """Sees to it in the process that hands out the work."""

    @pytest.hookimpl(wrapper=True, optionalhook=True)
    def pytest_xdist_make_scheduler(self) -> Generator[None, Any, Any]:
        """Look after schedulers that hand out units of work."""
        scheduler = yield
        if isinstance(getattr(scheduler, "workqueue", None), OrderedDict):
            _spare(scheduler)
        return scheduler


def _spare(scheduler: Any) -> None:
    remove_node, crashed = scheduler.remove_node, set[str]()

    def remove_and_spare(node: Any) -> Any:
        units = scheduler.assigned_work.get(node, {}).values()
        running = next((i for unit in units for i, has_run in unit.items() if not has_run), None)
        if running is not None and running.partition("::")[0].endswith(SUFFIXES):
            crashed.add(running)
            scheduler.workqueue = _Spared(scheduler.workqueue, crashed)
        return remove_node(node)

    scheduler.remove_node = remove_and_spare


class _Spared(OrderedDict[str, _Unit]):
    """Units of work; those that are *crashed* count as run when their unit is handed out."""

    def __init__(self, units: OrderedDict[str, _Unit], crashed: set[str]) -> None:
        super().__init__(units)
        self._crashed = crashed

    def popitem(self, last: bool = True) -> tuple[str, _Unit]:
        """Take a unit out; one with nothing left to run only where there is no other, or its worker would idle."""
        while True:
            scope, unit = super().popitem(last)
            unit.update(dict.fromkeys(self._crashed & unit.keys(), True))
            if not self or not all(unit.values()):
                return scope, unit
