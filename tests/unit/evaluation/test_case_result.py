"""What is said of an error: the words that help, also where a library wraps them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_auepora.core.types import EvaluationSample
from pytest_auepora.evaluation.case_result import blank_result, describe_error
from pytest_auepora.io.golden.model import GoldenCase


def raised(fn: Callable[[], object]) -> list[str]:
    with pytest.raises(BaseException) as caught:  # whatever it is
        fn()
    return describe_error(caught.value).splitlines()


def refuse() -> None:
    raise ConnectionError("refused")


def test_the_frame_where_it_was_raised() -> None:
    lines = raised(refuse)
    assert lines[0] == "ConnectionError: refused"
    assert lines[-1] == '    raise ConnectionError("refused")'


def test_frames_of_a_folder_called_like_the_package_are_told(tmp_path: Path) -> None:
    scope: dict[str, Callable[[], object]] = {}
    path = tmp_path / "pytest_auepora_trial" / "rag.py"
    exec(compile("def ask():\n    raise KeyError('index')", path, "exec"), scope)
    lines = raised(scope["ask"])
    assert lines[-1] == f'  File "{path}", line 2, in ask'


def test_what_caused_it_is_said_below() -> None:
    def search() -> None:
        try:
            refuse()
        except ConnectionError as exc:
            raise LookupError("no index") from exc

    def ask() -> None:
        try:
            search()
        except LookupError:
            raise RuntimeError("no answer")  # noqa: B904  # as people write

    lines = raised(ask)
    assert lines[0] == "RuntimeError: no answer"
    assert lines[-2:] == ["while handling LookupError: no index", "caused by ConnectionError: refused"]


def test_an_error_that_cannot_print_has_its_causes_told() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise KeyError("message")

    def ask() -> None:
        try:
            refuse()
        except ConnectionError as exc:
            raise Mute from exc

    lines = raised(ask)
    assert "Mute: <" in lines[0]
    assert lines[-1] == "caused by ConnectionError: refused"


def test_causes_are_not_repeated_and_hidden_ones_stay_hidden() -> None:
    def again() -> None:
        try:
            refuse()
        except ConnectionError as exc:
            raise OSError(str(exc)) from exc

    def hidden() -> None:
        try:
            refuse()
        except ConnectionError:
            raise ValueError("other words") from None

    for lines in raised(again), raised(hidden):
        assert not [line for line in lines if line.startswith(("caused by", "while handling"))]


def test_causes_that_go_round_end() -> None:
    one, two = ValueError("one"), ValueError("two")
    one.__cause__, two.__cause__ = two, one
    assert describe_error(one).splitlines() == ["ValueError: one", "caused by ValueError: two"]


if sys.version_info >= (3, 11):  # before there are no groups of errors

    def test_a_group_says_what_is_in_it() -> None:
        import asyncio

        async def fails() -> None:
            refuse()

        async def ask() -> None:
            async with asyncio.TaskGroup() as group:
                group.create_task(fails())

        lines = raised(lambda: asyncio.run(ask()))
        assert lines[0].endswith("unhandled errors in a TaskGroup (1 sub-exception): ConnectionError: refused")
        assert lines[-1] == '    raise ConnectionError("refused")'

        def never_raised() -> None:
            raise ExceptionGroup("some", [ValueError("a")])  # noqa: F821

        assert raised(never_raised)[0] == "ExceptionGroup: some (1 sub-exception): ValueError: a"
        assert any(line.startswith('    raise ExceptionGroup("some"') for line in raised(never_raised))
        inner = ExceptionGroup("", [ValueError("a"), *map(KeyError, "bcd")])  # noqa: F821
        many = ExceptionGroup("many", [ValueError("a"), inner])  # noqa: F821
        assert describe_error(many).startswith(
            "ExceptionGroup: many (2 sub-exceptions): ValueError: a; KeyError: 'b'; "
        )
        assert describe_error(many).endswith("KeyError: 'c'; and 1 more")


def test_a_result_shows_the_turns_before_the_query() -> None:
    turns = [{"role": "user", "content": "hi"}]
    asked = GoldenCase(EvaluationSample("a", "Q", labels={"as": "intern", "conversation": "c"}, chat_history=turns))
    result = blank_result(asked)
    assert result.expected["chat_history"] == turns
    assert {"as": "intern", "conversation": "c"}.items() <= result.labels.items()
    assert "chat_history" not in blank_result(GoldenCase(EvaluationSample("a", "Q"))).expected
