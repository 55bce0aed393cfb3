"""Histories: a file, and a database server's side on a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_auepora.core.run import Run
from pytest_auepora.history.store import HistoryStore

from ..reporting.builders import Case, run_of


def a_run(suite: str = "billing", **changes: object) -> Run:
    cases = [Case("one"), Case("two", got=["x", "y"], answer="\u3042 \x00 I don't know")]
    return run_of([*cases, Case("three", error="ConnectionError: no route")], suite=suite, **changes)  # type: ignore[arg-type]


@pytest.fixture(params=["file", "server"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> HistoryStore:
    if request.param == "server":
        pytest.importorskip("sqlalchemy", reason="the server side of a history needs SQLAlchemy")
        return HistoryStore(f"sqlite:///{tmp_path}/server.sqlite")
    return HistoryStore(tmp_path / ".auepora" / "history.sqlite")
