"""Rows of the table that run whole pytest processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from .measuring import ENTRY, Row, pytest_process
from .projects import golden, parametrized

__all__ = ["rows"]

GOLDEN = (*ENTRY, "--auepora")
ACCEPT = (*ENTRY, "--auepora-update", "--auepora-no-history")

WAITING = """\
def rag_of_this_project(query):
    time.sleep({seconds})
    return ANSWERS[query]
"""
AWAITING = """\
async def rag_of_this_project(query):
    await asyncio.sleep({seconds})
    return ANSWERS[query]
"""
BUSY = """\
def rag_of_this_project(query):
    end = time.thread_time() + 0.02
    while time.thread_time() < end:
        pass
    return ANSWERS[query]
"""


def rows(folder: Path, *, quick: bool) -> Iterator[Callable[[], Row]]:
    """Yield what makes each row."""
    many = 3000 if quick else 10_000

    def idle() -> Row:
        """idle: pytest on a trivial file, plugin installed"""
        one = parametrized(folder / "idle", 1)
        return Row(
            idle.__doc__ or "", "<= 1.03", lambda: pytest_process(one, *ENTRY).cpu,
            lambda: pytest_process(one).cpu, "pytest without it",
        )  # fmt: skip

    def thousand() -> Row:
        """1,000 golden cases, six metrics, baseline compared"""
        return _sized(thousand.__doc__ or "", "<= 1.7", folder, 1000)

    def ten_thousand() -> Row:
        """10,000 golden cases"""
        return _sized(f"{many:,} golden cases", "<= 1.4", folder, many)

    def memory() -> Row:
        """peak memory at 10,000 cases"""
        ours, floor = _pair(folder, many)
        return Row(
            f"peak memory at {many:,} cases", "<= 1.5", lambda: pytest_process(ours, *GOLDEN).memory,
            lambda: pytest_process(floor).memory, "empty parametrize", "MiB",
        )  # fmt: skip

    def failing() -> Row:
        """1,000 failing cases"""
        ours = folder / "failing"
        if not ours.exists():
            pytest_process(golden(ours, 1000), *ACCEPT)
            golden(ours, 1000, failing=True)
        floor = parametrized(folder / "floor-1000", 1000)
        return Row(
            failing.__doc__ or "", "<= 2.5", lambda: pytest_process(ours, *GOLDEN, expect=(1,)).cpu,
            lambda: pytest_process(floor).cpu, "empty parametrize, passing",
        )  # fmt: skip

    def constant() -> Row:
        """cost of a case at 10,000 as at 1,000"""
        small, large = _pair(folder, 1000)[0], _pair(folder, many)[0]
        return Row(
            f"cost of a case at {many:,} as at 1,000", "<= 1.2",
            lambda: 1e3 * pytest_process(large, *GOLDEN).cpu / many,
            lambda: pytest_process(small, *GOLDEN).cpu, "1,000 cases, start-up included", "ms of processor time",
        )  # fmt: skip

    yield from (idle, thousand, failing, ten_thousand, memory, constant)
    yield from _waiting(folder)
    yield from _parallel(folder)


def _pair(folder: Path, n: int) -> tuple[Path, Path]:
    ours = folder / f"golden-{n}"
    if not ours.exists():
        pytest_process(golden(ours, n), *ACCEPT)
    floor = parametrized(folder / f"floor-{n}", n)
    pytest_process(floor, "--collect-only")  # byte code
    return ours, floor


def _sized(title: str, goal: str, folder: Path, n: int) -> Row:
    ours, floor = _pair(folder, n)
    return Row(
        title, goal, lambda: pytest_process(ours, *GOLDEN).cpu, lambda: pytest_process(floor).cpu, "empty parametrize"
    )


def _waiting(folder: Path) -> Iterator[Callable[[], Row]]:
    """Calls that wait: the clock against the shortest time it can take."""

    def row(title: str, goal: str, n: int, seconds: float, width: int, function: str, imports: str) -> Row:
        project = golden(
            folder / title.replace(" ", "-"), n, function=function.format(seconds=seconds), imports=imports
        )
        args = (*GOLDEN, "--auepora-concurrency", str(width))
        pytest_process(project, *args)
        return Row(
            title, goal, lambda: pytest_process(project, *args).wall, lambda: n * seconds / width,
            "the ideal, without start-up", "s",
        )  # fmt: skip

    def sync_500() -> Row:
        """500 calls of 50 ms at 32, sync"""
        return row(sync_500.__doc__ or "", "<= 1.25", 500, 0.05, 32, WAITING, "import time")

    def async_500() -> Row:
        """500 calls of 50 ms at 32, async"""
        return row(async_500.__doc__ or "", "<= 1.25", 500, 0.05, 32, AWAITING, "import asyncio")

    def sync_200() -> Row:
        """200 calls of 100 ms at 8, whole process"""
        return row(sync_200.__doc__ or "", "<= 1.15", 200, 0.1, 8, WAITING, "import time")

    yield from (sync_500, async_500, sync_200)


def _parallel(folder: Path) -> Iterator[Callable[[], Row]]:
    def xdist() -> Row:
        """-n 2 on a RAG that computes for 20 ms"""
        import xdist as _  # noqa: F401  # left out where it is not installed

        project = golden(folder / "busy", 200, function=BUSY, imports="import time")
        pytest_process(project, *GOLDEN)
        return Row(
            xdist.__doc__ or "", ">= 1.7", lambda: pytest_process(project, *GOLDEN, "-p", "xdist", "-n", "2").wall,
            lambda: pytest_process(project, *GOLDEN).wall, "serial", "s",
        )  # fmt: skip

    yield xdist
