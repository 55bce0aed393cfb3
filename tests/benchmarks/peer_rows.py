"""Rows of the table that show what others cost, where they are installed: for information, without a goal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import PackageNotFoundError, entry_points, version
from pathlib import Path

from .measuring import PEER, LeftOut, ProcessError, Row, process, pytest_process
from .peer_projects import BY_HAND, PYDANTIC_EVALS, PYTEST_EVALS, peer_project
from .projects import parametrized

__all__ = ["rows"]

PLUGINS = ("pytest-benchmark", "pytest-asyncio", "langsmith", "deepeval")


def rows(folder: Path) -> Iterator[Callable[[], Row]]:
    """Yield what makes each row; where a peer is not installed or does not run, that raises why."""
    for name in PLUGINS:
        yield _titled(partial(_idle, folder, name), f"idle: {name} installed")
    yield from _thousand(folder)
    yield from _waiting(folder)


def _titled(make: Callable[[str], Row], title: str) -> Callable[[], Row]:
    def row() -> Row:
        made = make(title)
        try:
            made.ours()
        except ProcessError as exc:
            raise LeftOut(f"it ended with {exc.code}: {(exc.said.splitlines() or ['nothing'])[-1]}") from None
        return made

    row.__doc__ = title
    return row


def _installed(name: str) -> str:
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        raise ModuleNotFoundError(name=name) from None


def _plugins(*names: str) -> tuple[str, ...]:
    """Return the options that load what pytest would load by itself where *names* are installed."""
    found = [e for e in entry_points(group="pytest11") if e.dist and e.dist.name.lower().replace("_", "-") in names]
    return tuple(option for entry in found for option in ("-p", entry.value))


def _idle(folder: Path, name: str, title: str) -> Row:
    installed, one = _installed(name), parametrized(folder / "idle", 1)
    plugins = _plugins(name)
    if not plugins:
        raise LeftOut(f"{installed} registers no plugin")
    return Row(
        title, PEER, lambda: pytest_process(one, *plugins).cpu, lambda: pytest_process(one).cpu,
        f"pytest without {installed}",
    )  # fmt: skip


def _thousand(folder: Path, n: int = 1000) -> Iterator[Callable[[], Row]]:
    """The six metrics on the same cases, each against the floor that our own row has."""

    def row(title: str, name: str, source: str, file: str, command: Callable[[Path], float]) -> Row:
        installed = _installed(name)
        project = peer_project(folder / f"{name}-{n}", n, {file: source})
        floor = parametrized(folder / f"floor-{n}", n)
        against = f"empty parametrize; {installed}"
        return Row(title, PEER, lambda: command(project), lambda: pytest_process(floor).cpu, against)

    def hand(title: str) -> Row:
        return row(title, "rouge-score", BY_HAND, "test_bench.py", lambda path: pytest_process(path).cpu)

    def evals(title: str) -> Row:
        # pytest-harvest, which it is built on, asks xdist for its options wherever that is installed
        args = (*_plugins("pytest-evals", "pytest-harvest", "pytest-xdist"), "--run-eval", "--run-eval-analysis")
        return row(
            title, "pytest-evals", PYTEST_EVALS, "test_bench.py", lambda path: pytest_process(path, *args).cpu
        )  # fmt: skip

    def pydantic(title: str) -> Row:
        return row(
            title, "pydantic-evals", PYDANTIC_EVALS, "bench.py", lambda path: process(path, "bench.py", "0", "0").cpu
        )  # fmt: skip

    yield _titled(hand, f"{n:,} cases, six metrics written by hand")
    yield _titled(evals, f"{n:,} cases, six metrics in pytest-evals")
    yield _titled(pydantic, f"{n:,} cases, six metrics in pydantic-evals")


def _waiting(folder: Path, n: int = 200, seconds: float = 0.1, width: int = 8) -> Iterator[Callable[[], Row]]:
    """The same calls side by side: the clock against the shortest time it can take."""

    def row(title: str, name: str, source: str, file: str, command: Callable[[Path], float]) -> Row:
        installed = _installed(name)
        project = peer_project(folder / f"{name}-waiting", n, {file: source}, seconds=seconds)
        against = f"the ideal, without start-up; {installed}"
        return Row(title, PEER, lambda: command(project), lambda: n * seconds / width, against, "s")

    def xdist(title: str) -> Row:
        args = ("-p", "xdist", "-n", str(width))
        return row(title, "pytest-xdist", BY_HAND, "test_bench.py", lambda path: pytest_process(path, *args).wall)

    def pydantic(title: str) -> Row:
        args = ("bench.py", str(seconds), str(width))
        return row(title, "pydantic-evals", PYDANTIC_EVALS, "bench.py", lambda path: process(path, *args).wall)

    yield _titled(xdist, f"{n} calls of {seconds * 1e3:.0f} ms at {width}, pytest -n {width}")
    yield _titled(pydantic, f"{n} calls of {seconds * 1e3:.0f} ms at {width}, pydantic-evals")
