"""The bar is for people who look."""

from __future__ import annotations

import io
import sys

import pytest

from pytest_auepora.base.progress import Progress, is_watched


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("terminal", "ci", "watched"), [(True, "", True), (True, "true", False), (False, "", False)])
def test_who_looks(monkeypatch: pytest.MonkeyPatch, terminal: bool, ci: str, watched: bool) -> None:
    monkeypatch.setenv("CI", ci)
    monkeypatch.setattr(sys, "stderr", err := Terminal() if terminal else io.StringIO())
    assert is_watched() is watched
    with Progress("cases", 10) as bar:
        bar.done(4)
        bar.done(6)
    assert ("/10" in err.getvalue()) is watched


def test_it_can_be_switched_off_and_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    with Progress("cases", 2, show=False) as bar:
        bar.done()
    assert terminal.getvalue() == ""
    monkeypatch.setenv("CI", "1")
    with Progress("cases", None, show=True) as bar:
        bar.done(3)
    assert " cases" in terminal.getvalue()


def test_it_can_start_later_and_elsewhere() -> None:
    bar, below = Progress("cases", show=False), io.StringIO()
    bar.done()
    bar.start("calls", 3, "asking again", file=below, columns=60)
    with bar:
        bar.done(3)
    assert "asking again: 100%" in below.getvalue()
    assert "3/3 " in below.getvalue()


def test_what_comes_at_once_is_shown_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    with Progress("tries", 64, show=True) as bar:
        for _ in range(8):
            bar.done()
        assert "8/64" in terminal.getvalue(), "the next ones may take a minute"


def test_bars_in_a_file_of_their_own_do_not_move_its_cursor() -> None:
    """Whoever gives the file knows its place; two bars at once would climb up the screen."""
    below = io.StringIO()
    bars = [Progress("calls", show=False) for _ in range(2)]
    for bar in bars:
        bar.start("calls", 3, "asking", file=below, columns=60)
    for bar in bars:
        bar.done()
    for bar in bars:
        bar.__exit__()
    assert "1/3" in below.getvalue()
    assert "\x1b[A" not in below.getvalue()
    assert "\n" not in below.getvalue()
