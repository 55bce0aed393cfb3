"""What ends a run before its last case: the system has spent what it may, or somebody calls `pytest.exit`."""

from __future__ import annotations

import math
import warnings
from collections.abc import Generator, Mapping, Sequence
from typing import Any

import pytest

from ..core.run import CaseResult
from ..errors import AueporaWarning
from ..metrics.service.system_usage import total_spending
from .case_reports import unpack
from .session import AueporaSession

_SETTING = "auepora_budget"
_LIMITS = ("cost", "tokens")


def read_budget(words: Sequence[str]) -> dict[str, float]:
    """Return the limits that the words of the setting name.

    Raises:
        pytest.UsageError: one cannot be read.
    """
    limits: dict[str, float] = {}
    for word in words:
        name, _, text = word.partition("=")
        try:
            limit = float(text.replace("_", ""))
        except ValueError:
            limit = math.nan
        if name not in _LIMITS or not 0 <= limit < math.inf:
            raise pytest.UsageError(f"{_SETTING} = {word}: expected cost=NUMBER or tokens=NUMBER")
        limits[name] = limit
    return limits


class SystemBudget:
    """In the process that gets the results of all cases."""

    def __init__(self, session: AueporaSession, limits: Mapping[str, float]) -> None:
        self._config, self._limits = session.config, limits
        self._session: pytest.Session | None = None
        self._spent: dict[tuple[str, str, str, int], dict[str, float]] = {}
        self._total = dict.fromkeys((*_LIMITS, "answers"), 0.0)
        session.budget.afford = self.affords

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Keep what can be stopped."""
        self._session = session

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add what the answers to the cases of *report* cost; a report of further answers has that of all."""
        for case_report in unpack(report):
            result = case_report.result
            look = result.looks if case_report.kind == "look" else 0
            key = case_report.path, case_report.variant, result.case_id, look
            before, self._spent[key] = self._spent.get(key, {}), self._costs(result)
            for name, value in self._spent[key].items():
                self._total[name] += value - before.get(name, 0.0)
        if why := self._exceeded(self._total):
            self._stop(why)

    def affords(self, calls: int) -> bool:
        """Whether so many further calls fit, if each costs what one did so far."""
        share = 1 + calls / max(1, self._total["answers"])
        return not self._exceeded({name: value * share for name, value in self._total.items()})

    def _costs(self, result: CaseResult) -> dict[str, float]:
        spending = total_spending([result.system_usage])
        if result.state in ("passed", "failed"):
            if not spending.calls or spending.unreported:
                self._warn("the system does not report the tokens of all its model calls, which do not count")
            elif spending.unpriced and "cost" in self._limits:
                self._warn("not every model call has a cost or a price, and those without do not count")
        return {"cost": spending.cost, "tokens": spending.tokens, "answers": result.n_answers}

    def _warn(self, what: str) -> None:
        warnings.warn(f"{_SETTING}: {what}", AueporaWarning, stacklevel=2)

    def _exceeded(self, spent: Mapping[str, float]) -> str:
        """Return which limit is exceeded, or an empty string."""
        over = (
            f"{_SETTING}: {name} {spent[name]:.10g} of {limit:.10g}"
            for name, limit in self._limits.items() if spent[name] > limit
        )  # fmt: skip
        return next(over, "")

    def _stop(self, why: str) -> None:
        distributed: Any = self._config.pluginmanager.getplugin("dsession")  # pytest-xdist's: its loop asks no other
        if distributed is not None and not distributed.shouldstop:
            distributed.shouldstop = why
        elif distributed is None and self._session is not None:
            self._session.shouldfail = self._session.shouldfail or why


class Exits:
    """In every process that runs golden cases: a run that somebody ends by `pytest.exit` is not passed.

    What it left out was not judged, so exit code 0 is changed.
    """

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionstart(self) -> Generator[None, object, object]:
        """Of one that ends before collection, while tests are collected, or while cases run, by whatever code."""
        return (yield from _never_passed())

    pytest_collection = pytest_runtestloop = pytest_sessionstart

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, object, object]:
        """Of one that ends once all is judged: as it would have ended."""
        return (yield from _never_passed(session))


def _never_passed(session: pytest.Session | None = None) -> Generator[None, object, object]:
    try:
        return (yield)
    except pytest.exit.Exception as exc:
        if exc.returncode == pytest.ExitCode.OK:
            exc.returncode = pytest.ExitCode.INTERRUPTED if session is None else session.exitstatus
        raise
