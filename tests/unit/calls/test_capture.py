"""What early calls print and log stays with them; everything else passes."""

from __future__ import annotations

import asyncio
import io
import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from pytest_auepora.calls.call import CallResult
from pytest_auepora.calls.caller import Caller
from pytest_auepora.calls.capture import OutputSplitter, keep_with_call

from .asking import timed_out

LONG = 20.0


@contextmanager
def splitting() -> Iterator[OutputSplitter]:
    splitter = OutputSplitter()
    splitter.install()
    try:
        yield splitter
    finally:
        splitter.uninstall()


class Text(io.TextIOWrapper):
    """What sys.stderr usually is: a wrapper around bytes."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), write_through=True)

    def getvalue(self) -> str:
        return self.buffer.getvalue().decode()  # type: ignore[attr-defined, no-any-return]


class Handler(logging.Handler):
    def __init__(self, level: int = logging.NOTSET) -> None:
        super().__init__(level)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


class Stage:
    """Streams, a root handler and the splitter in front of them, for as long as it is entered.

    (A fixture would not do: pytest puts its own streams back when the test begins.)
    """

    def __init__(self) -> None:
        self.out, self.err = io.StringIO(), Text()
        self.handler = Handler()
        self.splitter = OutputSplitter()

    @property
    def seen(self) -> tuple[str, str, list[str]]:
        return self.out.getvalue(), self.err.getvalue(), self.handler.messages

    def __enter__(self) -> Stage:
        self.before = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = self.out, self.err
        logging.getLogger().addHandler(self.handler)
        self.splitter.install()
        return self

    def __exit__(self, *_: object) -> None:
        self.splitter.uninstall()
        logging.getLogger().removeHandler(self.handler)
        sys.stdout, sys.stderr = self.before


def speak() -> str:
    print("said")
    print("complained", file=sys.stderr)
    logging.getLogger("rag").warning("logged %s", "it")
    return "done"


async def aspeak() -> str:
    await asyncio.sleep(0)
    return speak()


def early(fn: Any) -> CallResult:
    """Run *fn* early and ask for its result only when something else was printed."""
    over = threading.Event()

    def watched() -> Any:
        try:
            return fn()
        finally:
            over.set()

    with Caller(2) as caller:
        caller.call(0, lambda: over.wait(LONG), [(1, watched)])
        print("between")
        return caller.call(1, fn)


@pytest.mark.parametrize("fn", [speak, aspeak])
def test_an_early_calls_output_waits_for_its_owner(fn: Any) -> None:
    with Stage() as stage:
        assert early(fn).value == "done"
        assert stage.seen == ("between\nsaid\n", "complained\n", ["logged it"])


@pytest.mark.parametrize("fn", [speak, aspeak])
def test_a_lone_call_prints_straight_through(fn: Any) -> None:
    with Stage() as stage, Caller() as caller:
        caller.call(1, fn)
        assert stage.seen == ("said\n", "complained\n", ["logged it"])


def test_in_a_running_loop_each_call_keeps_its_own() -> None:
    def saying(word: str) -> Any:
        async def fn() -> None:
            for _ in range(3):
                print(word)
                await asyncio.sleep(0)

        return fn

    async def main() -> None:
        with Caller(3, coroutines=True) as caller:
            words = [saying(w) for w in "abc"]
            for i, word in enumerate(words):
                await caller.acall(i, word, enumerate(words))
                print("taken")

    with Stage() as stage:
        asyncio.run(main())
        assert stage.seen == ("".join(f"{w}\n" * 3 + "taken\n" for w in "abc"), "", [])


def test_a_call_that_was_given_up_is_silent_from_then_on() -> None:
    said, release, over = threading.Event(), threading.Event(), threading.Event()

    def late() -> None:
        print("before")
        said.set()
        release.wait(LONG)
        speak()
        over.set()

    with Stage() as stage, Caller(2) as caller:
        caller.call(0, lambda: said.wait(LONG), [(1, late)])
        assert timed_out(caller.call(1, late, timeout=0.05))
        release.set()
        assert over.wait(LONG)
        assert stage.seen == ("before\n", "", [])


def test_output_of_a_background_task_is_not_lost() -> None:
    go, over = threading.Event(), threading.Event()

    async def start() -> None:
        async def background() -> None:
            while not go.is_set():
                await asyncio.sleep(0.001)
            print("afterwards")
            over.set()

        start.task = asyncio.ensure_future(background())  # type: ignore[attr-defined]

    with Stage() as stage, Caller() as caller:
        caller.call(1, start)
        go.set()
        assert over.wait(LONG)
        assert stage.seen == ("afterwards\n", "", [])


def test_levels_of_handlers_hold_in_a_replay() -> None:
    strict = Handler(logging.ERROR)
    with Stage() as stage:
        logging.getLogger().addHandler(strict)
        try:
            stage.splitter.install()
            early(speak)
        finally:
            logging.getLogger().removeHandler(strict)
        assert (stage.handler.messages, strict.messages) == (["logged it"], [])


def test_a_record_says_what_it_said_when_it_was_made() -> None:
    seen = ["first"]

    def fn() -> None:
        logging.getLogger("rag").warning("saw %s", seen)
        seen.append("second")

    with Stage() as stage:
        early(fn)
        assert stage.handler.messages == ["saw ['first']"]


def test_a_faulty_log_call_is_left_to_its_handler() -> None:
    with Stage():
        result = early(lambda: logging.getLogger("rag").warning("%d", "no number"))
    assert isinstance(result.error, TypeError), "as if the call had not been early"


def test_later_streams_are_captured_and_all_are_given_back() -> None:
    second = io.StringIO()
    with Stage() as stage:
        sys.stdout = second
        for _ in range(3):
            stage.splitter.install()
        assert stage.handler.filters == [keep_with_call]
        early(speak)
        sys.stdout = stage.out  # swapped back, as pytest does: still taken in
        early(speak)
        assert (second.getvalue(), stage.out.getvalue()) == ("between\nsaid\n", "between\nsaid\n")
        stage.splitter.uninstall()
        assert stage.handler.filters == []
        assert all("write" not in vars(stream) for stream in (second, stage.out, stage.err))
        early(speak)
        assert stage.out.getvalue().endswith("said\nbetween\n"), "nobody keeps it any more"


class Rigid:
    """A stream that takes no attributes."""

    __slots__ = ("text",)

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> int:
        self.text += text
        return len(text)


def test_a_later_handler_is_captured_while_streams_stay() -> None:
    root, late = logging.getLogger(), Handler()
    with splitting() as splitter:
        root.addHandler(late)
        try:
            splitter.install()
            assert keep_with_call in late.filters
        finally:
            root.removeHandler(late)
    assert keep_with_call not in late.filters


def test_a_stream_without_attributes_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    rigid = Rigid()
    monkeypatch.setattr(sys, "stdout", rigid)
    with splitting() as splitter:
        splitter.install()
        early(lambda: sys.stdout.write("said\n"))
    assert (sys.stdout, rigid.text) == (rigid, "said\nbetween\n")


def test_a_process_without_streams_is_served_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    with splitting() as splitter:
        splitter.install()
        early(lambda: sys.stderr.write("kept\n"))
    assert sys.stdout is None
    assert capsys.readouterr().err.endswith("kept\n")
