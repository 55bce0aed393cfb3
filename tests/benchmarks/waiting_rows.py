"""Rows of the table for systems that wait: the clock against the shortest time it can take."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from .measuring import FLOOR, GOLDEN, Row, pytest_process
from .projects import AWAITING, CORPUS, LOOP, WAITING, golden, parametrized

__all__ = ["rows"]


def rows(folder: Path) -> Iterator[Callable[[], Row]]:
    """Yield what makes each row."""
    for kind, function in (("sync", WAITING), ("async", AWAITING)):
        make = partial(_overlapped, folder, kind, function)
        make.__doc__ = f"500 calls of 50 ms at 32, {kind}"
        yield make

    def whole() -> Row:
        """200 calls of 100 ms at 8, whole process"""
        system = WAITING.format(seconds=0.1)
        project = golden(folder / "waiting", 200, function=system, imports="import time", corpus=CORPUS)
        args = (*GOLDEN, "--auepora-concurrency", "8")
        return Row(
            whole.__doc__ or "", "<= 1.2", lambda: pytest_process(project, *args).wall, lambda: 200 * 0.1 / 8,
            "the ideal, without start-up", "s",
        )  # fmt: skip

    def start() -> Row:
        """of that, pytest alone: to start and to end"""
        one = parametrized(folder / "idle", 1)
        return Row(
            start.__doc__ or "", FLOOR, lambda: pytest_process(one).wall, lambda: 200 * 0.1 / 8,
            "the same ideal", "s",
        )  # fmt: skip

    yield from (whole, start)


def _overlapped(folder: Path, kind: str, function: str, n: int = 500, seconds: float = 0.05, width: int = 32) -> Row:
    """From before the first case until all is judged: what overlapping costs, not what starting does."""
    system = function.format(seconds=seconds) + LOOP
    imports = "import asyncio\nimport time"
    project = golden(folder / f"overlapped-{kind}", n, function=system, imports=imports, corpus=CORPUS)

    def loop() -> float:
        pytest_process(project, *GOLDEN, "--auepora-concurrency", str(width))
        return float((project / "loop.txt").read_text(encoding="utf-8"))

    return Row(
        f"{n} calls of {seconds * 1e3:.0f} ms at {width}, {kind}", "<= 1.25", loop, lambda: n * seconds / width,
        "the ideal, from the first case to the verdict", "s",
    )  # fmt: skip
