"""Shared by the tests of the HTML report."""

from __future__ import annotations

import pytest


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """No plots, which take most of the time of a page."""
    monkeypatch.setattr("pytest_auepora.reporting.html.report.metric_plots", lambda *args, **more: [])
