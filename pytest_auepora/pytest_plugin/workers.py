"""The controller's part with pytest-xdist: options for workers, schedulers, and the case that a dead worker lost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling, LoadGroupScheduling, LoadScopeScheduling

from ..base.files import shown_path
from .keys import SUFFIXES
from .options import OVERRIDE
from .session import AueporaSession


class _LosesOneCase(LoadScopeScheduling):  # type: ignore[misc]  # it has no types
    """A worker that dies with a golden case loses that case alone.

    pytest-xdist would hand the whole rest of its unit of work to the next worker, the case that killed it included,
    and so one worker after the other would die of it.
    """

    def remove_node(self, node: Any) -> str | None:
        """Return the test that *node* died with, if any; others get what it left."""
        units: dict[str, dict[str, bool]] = self.assigned_work[node]
        not_run = ((scope, test) for scope, unit in units.items() for test, has_run in unit.items() if not has_run)
        scope, running = next(not_run, ("", ""))
        lost = running if running.partition("::")[0].endswith(SUFFIXES) else None
        if lost is not None:
            units[scope][lost] = True
            for empty_scope in [scope for scope, unit in units.items() if all(unit.values())]:
                del units[empty_scope]  # a worker that got it would wait for ever
        crashed: str | None = super().remove_node(node)
        return lost or crashed


class _ByFile(_LosesOneCase, LoadFileScheduling):  # type: ignore[misc]
    pass


class _ByGroup(_LosesOneCase, LoadGroupScheduling):  # type: ignore[misc]
    pass


_SCHEDULERS = {"loadscope": _LosesOneCase, "loadfile": _ByFile, "loadgroup": _ByGroup}
"""Instead of pytest-xdist's, by the words of ``--dist`` that hand out many tests as one unit of work."""


class Workers:
    """Sends to workers which baseline is to be used instead, chooses the scheduler, and limits their calls."""

    def __init__(self, session: AueporaSession) -> None:
        self._session, self._override = session, session.options.override

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell workers which baseline is to be used instead, where it is in another host's copy."""
        if self._override is not None:
            node.workerinput[OVERRIDE] = shown_path(self._override, node.config.rootpath)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """Refuse a run whose cases take more calls than are allowed; workers have the same tests."""
        self._session.limit_calls(filter(None, map(self._session.find_asked, ids)))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> Any:
        """Return a scheduler that loses one case where a worker dies; None where pytest-xdist's own does so."""
        scheduler = _SCHEDULERS.get(config.getoption("dist"))
        return scheduler(config, log) if scheduler is not None else None
