"""The command itself: where the page is, and what it says where it cannot be shown."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from socket import socket
from typing import Any

import pytest

from pytest_auepora.cli.main import main
from pytest_auepora.cli.view import app
from pytest_auepora.history.store import HistoryStore

from ...reporting.builders import Case, run_of, verdict_of


def test_it_says_where_the_page_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    served: list[Any] = []
    monkeypatch.setattr(app, "serve", lambda _, listening: served.append(listening))
    monkeypatch.chdir(tmp_path)
    assert main(["view", "--history", "h.sqlite"]) == 0
    listening: socket = served[0]
    with listening:
        port = listening.getsockname()[1]
        told = capsys.readouterr().err
        assert told.partition("/ ")[0].endswith(f"//127.0.0.1:{port}")
        assert str(tmp_path / "h.sqlite") in told
        assert main(["view", "--port", str(port)]) == 3
        assert "in use" in capsys.readouterr().err


def test_without_its_extra_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, app.__name__)
    assert main(["view"]) == 3
    assert "'pytest-auepora[ui]'" in capsys.readouterr().err


def test_a_history_that_cannot_be_read_is_told_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "h.sqlite"
    run = run_of([Case("one")])
    HistoryStore(place).add(run, verdict_of(run))
    with closing(sqlite3.connect(place)) as raw, raw:
        raw.execute("UPDATE auepora_meta SET value = '1'")
    assert main(["view", "--history", str(place)]) == 3
    assert "version 1" in capsys.readouterr().err


@pytest.mark.parametrize("port", ["99999", "-1", "x"])
def test_no_port_is_a_usage_error(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("uvicorn", reason="the extra ui is not installed")
    assert main(["view", f"--port={port}"]) == 2
    assert "--port" in capsys.readouterr().err
