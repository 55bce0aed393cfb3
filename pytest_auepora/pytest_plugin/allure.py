"""Gates in Allure's report, which takes its results from items alone: told by the hook that Allure has for results."""

from __future__ import annotations

import hashlib
from importlib import import_module
from uuid import uuid4

import pytest

__all__ = ["GATE", "AllureGates"]

GATE = "::gate: "
"""What is in the node id of every gate."""


class AllureGates:
    """Controller only, where a report of Allure was asked for."""

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Report a gate once, with the phase that judges it."""
        path, is_gate, name = report.nodeid.partition(GATE)
        if not is_gate or report.when != "call":
            return
        model, allure = import_module("allure_commons.model2"), import_module("allure_commons")
        message = report.longreprtext
        result = model.TestResult(
            uuid=str(uuid4()), name=f"gate: {name}", fullName=report.nodeid,
            historyId=hashlib.md5(report.nodeid.encode(), usedforsecurity=False).hexdigest(),
            status=report.outcome, statusDetails=model.StatusDetails(message=message, trace=message),
            labels=[model.Label(name="suite", value=path), model.Label(name="framework", value="pytest")],
            start=int(report.start * 1000), stop=int(report.stop * 1000),
        )  # fmt: skip
        allure.plugin_manager.hook.report_result(result=result)
