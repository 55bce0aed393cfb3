"""Which gates failed in a run inside this process: read from the verdicts, not from what is printed."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import pytest

from pytest_auepora.reporting.wording.gates import gate_title

_FAILED: WeakKeyDictionary[pytest.RunResult, list[str]] = WeakKeyDictionary()


def gates(result: pytest.RunResult) -> list[str]:
    """Titles of the gates that failed, with their configuration; those that no verdict has last."""
    return _FAILED[result]


class Listener:
    """A plugin of the run: reads its verdicts from the controller, once everything has been judged."""

    def __init__(self) -> None:
        self._failed: list[str] = []

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Note the failed gates."""
        controller: Any = session.config.pluginmanager.get_plugin("auepora-controller")
        if controller is None:
            return
        for judged in controller.finished_runs:
            variant = f"[{judged.run.variant}]" if judged.run.variant else ""
            self._failed += [f"{gate_title(gate)}{variant}" for gate in judged.verdict.gates if gate.state == "failed"]
        published = [
            name for _, is_gate, name in (one.partition("::gate: ") for one in controller.published) if is_gate
        ]
        self._failed += [name for name in published if name not in self._failed]

    def heard(self, result: pytest.RunResult) -> pytest.RunResult:
        """Keep what was noted for `gates`, and return *result*."""
        _FAILED[result] = self._failed
        return result
