"""A run of golden cases that somebody ends by `pytest.exit` is not passed: what it left out was not judged."""

from __future__ import annotations

from collections.abc import Generator

import pytest


class Exits:
    """In every process that runs golden cases: changes exit code 0 where something was left out, or failed."""

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
