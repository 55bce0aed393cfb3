"""What a worker has to say of a case is one message to the controller, and that is nearly all one text.

pytest-xdist sends that a test begins, a report of each phase, that it has ended, and that it is done with it; and
execnet takes each message apart value by value, in Python, and puts it together again in the same way: for most cases
that takes longer than to score them.  Where one phase is all there is of a case (see `brief`), its report travels as
JSON, and that it began and ended the controller tells itself when the report is there, if nobody it would tell makes
use of knowing it before.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any

import pytest

from ..core.json import dumps
from .plugin_base import OnlyHooks
from .xdist_messages import ATTRIBUTE

__all__ = ["AT_ONCE", "Receiving", "Sending", "nobody_waits"]

AT_ONCE = "auepora_at_once"
"""What a worker is told: whether it need not say that a case begins and has ended; and what says so of a report."""

_PATIENT = frozenset({"_pytest.terminal", "_pytest.logging", "__channelexec__"})
"""Modules whose hooks for that do nothing, or nothing that cannot be done late, where names of tests are not shown."""

_PLAIN = frozenset({str, int, float, bool})
_EMPTY: dict[str, Any] = {"longrepr": None, "sections": [], "user_properties": []}
"""What a report has of what most have nothing of."""


def nobody_waits(config: pytest.Config, hooks: Any) -> bool:
    """Whether all that is called by *hooks* may be told that a case began when it has ended."""
    if config.get_verbosity("test_cases") > 0:
        return False
    called = (hooks.pytest_runtest_logstart, hooks.pytest_runtest_logfinish)
    modules = {impl.function.__module__ for hook in called for impl in hook.get_hookimpls()}
    return all(module in _PATIENT or module.startswith("pytest_auepora.") for module in modules)


class Sending(OnlyHooks):
    """In a worker: writes reports of cases as text."""

    _at_once = False

    def spares(self, config: pytest.Config, hooks: Any) -> bool:
        """Whether nobody, here or in the controller, waits to be told that a case begins."""
        told: bool = getattr(config, "workerinput", {}).get(AT_ONCE, False)
        return told and nobody_waits(config, hooks)

    @contextmanager
    def all_at_once(self) -> Iterator[None]:
        """For the time of a case of which its report alone tells."""
        self._at_once = True
        try:
            yield
        finally:
            self._at_once = False

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_report_to_serializable(self) -> Generator[None, Any, Any]:
        """Put what JSON gives back as it was in front of the parcels."""
        data = yield
        if isinstance(data, dict):
            if ATTRIBUTE in data:
                _pack(data)
            if self._at_once and data.get("when", "call") == "call":
                data[AT_ONCE] = True
        return data


class Receiving(OnlyHooks):
    """In the controller: reads them."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell workers whether anybody here waits."""
        node.workerinput[AT_ONCE] = nobody_waits(self.config, self.config.hook)

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_from_serializable(self, data: dict[str, Any]) -> None:
        """Give pytest what it would have got."""
        if ATTRIBUTE in data:
            _unpack(data)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None, object, object]:
        """Say what the worker did not."""
        if not vars(report).pop(AT_ONCE, False):
            return (yield)
        hook, place = self.config.hook, {"nodeid": report.nodeid, "location": report.location}
        hook.pytest_runtest_logstart(**place)
        done = yield
        hook.pytest_runtest_logfinish(**place)
        return done


def _pack(data: dict[str, Any]) -> None:
    """Write of *data*, a report, what JSON gives back in front of its parcels; the rest stays as it is."""
    plain = {key: data.pop(key) for key in [*data] if type(data[key]) in _PLAIN and key != ATTRIBUTE}
    for key, nothing in _EMPTY.items():
        if data.get(key, 0) == nothing:
            del data[key]
    plain["location"] = data.pop("location")
    if all(type(value) is int and value == 1 for value in data["keywords"].values()):
        plain["keywords"] = [*data.pop("keywords")]
    data[ATTRIBUTE] = f"{dumps(plain)}\n{data[ATTRIBUTE]}"


def _unpack(data: dict[str, Any]) -> None:
    """Undo `_pack`."""
    plain, _, data[ATTRIBUTE] = data[ATTRIBUTE].partition("\n")
    data.update(json.loads(plain))
    data["location"] = tuple(data["location"])
    if isinstance(keywords := data["keywords"], list):
        data["keywords"] = dict.fromkeys(keywords, 1)
    for key, nothing in _EMPTY.items():
        data.setdefault(key, copy(nothing))
