"""Keeps pytest's summary of many failures from looking through every report once for each of them.

For each failure pytest searches all reports of passed set-ups and tear-downs for output of that test's tear-down:
with 10,000 failing cases that is 200 million comparisons.  Nearly all of those reports hold no output, so they
are put aside while failures are printed, and are back before any plugin looks.  It also asks the system twice for
each failure how wide the terminal is, which takes longer than writing it: here it is asked once.  And it measures
each line of its short summary character by character: here those of ASCII are as wide as they are long.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from .compat import quick_widths
from .plugin_base import OnlyHooks

__all__ = ["register"]


def register(config: pytest.Config) -> None:
    """Make the summary of failures quick."""
    aside = _Aside()
    config.pluginmanager.register(aside, "auepora-reports-aside")
    config.pluginmanager.register(_Back(aside), "auepora-reports-back")


class _Aside(OnlyHooks):
    """Outermost: acts before pytest's reporter prints failures."""

    held: list[Any] | None = None

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> Generator[None, object, object]:
        writer = terminalreporter.config.get_terminal_writer()
        writer.fullwidth = writer.fullwidth  # what is set is not asked for again; nothing but the summary is to come
        stats: dict[str, list[Any]] = terminalreporter.stats
        self.held = stats.get("")
        if self.held is not None:
            stats[""] = [report for report in self.held if getattr(report, "sections", True)]
        try:
            with quick_widths():
                return (yield)
        finally:
            self.restore(terminalreporter)

    def restore(self, terminalreporter: Any) -> None:
        if self.held is not None:
            terminalreporter.stats[""] = self.held
            self.held = None


class _Back(OnlyHooks):
    """Innermost: acts after pytest's reporter printed failures, before other plugins add their sections."""

    def __init__(self, aside: _Aside) -> None:
        self.aside = aside

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> Generator[None, object, object]:
        self.aside.restore(terminalreporter)
        return (yield)
