"""Cases for which nothing is set up or torn down run in one phase instead of three.

The fixtures of a golden file mostly live as long as the file or the session.  For every case between its first and its
last, set-up and tear-down then do nothing, and with what pytest and its plugins do around them they take half the time
of a case.  They are left out where nobody could tell: every hook that would see them is known to have nothing to do,
no option asks for them, and the case before and the one after are like this one.  All else runs as ever.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from .compat import alike, call_phase, fixture_definitions, is_of_one_case, lets_phases_be_left_out
from .keys import CASE, SESSION
from .plugin_base import OnlyHooks

if TYPE_CHECKING:
    from .one_message import Sending

__all__ = ["BRIEF", "Brief", "nobody_looks"]

BRIEF = "auepora_brief"
"""What a worker is told: whether the controller has nobody who reads reports of set-up and tear-down."""

_HOOKS = (
    "pytest_runtest_protocol", "pytest_runtest_setup", "pytest_runtest_teardown", "pytest_runtest_makereport",
    "pytest_runtest_logreport",
)  # fmt: skip
_BLIND = frozenset({
    *(f"_pytest.{name}" for name in (
        "assertion", "cacheprovider", "capture", "faulthandler", "logging", "main", "runner", "skipping", "stepwise",
        "terminal", "threadexception", "tmpdir", "unittest", "unraisableexception", "warnings",
    )),
    "__channelexec__", "pytest_timeout", "pytest_benchmark.plugin", "_hypothesis_pytestplugin",
})  # fmt: skip
"""Modules whose hooks do nothing, of a case that sets up nothing and skips nothing, in phases other than the call.

What runs in a worker of pytest-xdist, and sends the reports, execnet names as it likes."""

_OPTIONS = ("usepdb", "trace", "setuponly", "setupshow", "setupplan", "xmlpath")
_MARKS = frozenset({"skip", "skipif", "xfail"})
"""Marks that are read in the phase of set-up."""


def nobody_looks(config: pytest.Config, hooks: Any) -> bool:
    """Whether all that is called by *hooks* would not miss the phases of set-up and tear-down."""
    option = config.option
    if any(getattr(option, name, None) for name in _OPTIONS) or getattr(option, "durations", None) is not None:
        return False
    modules = {impl.function.__module__ for name in _HOOKS for impl in getattr(hooks, name).get_hookimpls()}
    return all(module in _BLIND or module.startswith("pytest_auepora.") for module in modules)


class Brief(OnlyHooks):
    """Runs such cases, in every process that runs cases; *sending* is what a worker reports them by."""

    def __init__(self, config: pytest.Config, sending: Sending | None) -> None:
        self.config = config
        self._sending = sending
        self._full: pytest.Function | None = None
        self._funcargs: dict[str, Any] = {}
        self._asked: pytest.Function | None = None
        self._allowed = False
        self._spared: Sending | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> None:
        """Remember the fixtures of a case that was set up in full."""
        if self._full is None and CASE in pyfuncitem.stash and self._allows(pyfuncitem):
            self._full, self._funcargs = pyfuncitem, pyfuncitem.funcargs

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        """Run *item* in one phase if the last one that was set up was like it, and the next is."""
        if (full := self._full) is None:
            return None
        if not (isinstance(item, pytest.Function) and alike(item, full) and nextitem and alike(nextitem, full)):
            self._full, self._funcargs = None, {}
            return None
        if any(mark.name in _MARKS for mark in item.own_markers):
            return None  # it is set up, or skipped, beside the fixtures that are there
        hook, place = item.ihook, {"nodeid": item.nodeid, "location": item.location}
        if (sending := self._spared) is None:
            hook.pytest_runtest_logstart(**place)
            call_phase(item, self._funcargs)
        else:
            with sending.all_at_once():
                call_phase(item, self._funcargs)
        os.environ.pop("PYTEST_CURRENT_TEST", None)
        if sending is None:
            hook.pytest_runtest_logfinish(**place)
        return True

    def _allows(self, item: pytest.Function) -> bool:
        if self._asked is None or not alike(item, self._asked):
            self._asked, self._allowed = item, self._find_out(item)
            if self._sending is not None:
                self._spared = self._sending if self._sending.spares(self.config, item.ihook) else None
        return self._allowed

    def _find_out(self, item: pytest.Function) -> bool:
        config = self.config
        if not getattr(config, "workerinput", {BRIEF: True}).get(BRIEF, False) or not lets_phases_be_left_out(item):
            return False
        if config.stash[SESSION].answers.replay is not None or not nobody_looks(config, item.ihook):
            return False
        found = fixture_definitions(item)
        # `request` is of the case where the case asks for it, and of a fixture where that does
        names = [n for n in item.fixturenames if n != "request" or n in item.function.__code__.co_varnames]
        lasting = all(found.get(name) and not is_of_one_case(found[name][-1]) for name in names)
        return lasting and not any(mark.name in _MARKS for mark in item.iter_markers())
