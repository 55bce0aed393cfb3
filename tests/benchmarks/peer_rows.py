"""Rows of the table that show what others cost, where they are installed: for information, without a goal."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.metadata import PackageNotFoundError, entry_points, version
from pathlib import Path

from .measuring import NO_PLUGIN, PEER, Cost, LeftOut, Row, process, pytest_process
from .peer_projects import BY_HAND, PYTEST_EVALS, peer_project
from .peer_scripts import DEEPEVAL, INSPECT, PYDANTIC_EVALS, RAGAS, RAGAS_EXPERIMENT, promptfoo_files
from .projects import parametrized

__all__ = ["rows"]

PLUGINS = ("pytest-benchmark", "pytest-asyncio", "langsmith", "deepeval")
PROMPTFOO_EVAL = ("eval", "-c", "promptfooconfig.js", "--no-cache", "--no-progress-bar", "--no-table", "--no-write")


def rows(folder: Path, also: Sequence[str] = ()) -> Iterator[Callable[[], Row]]:
    """Yield what makes each row; where a peer is not installed or does not run, that raises why.

    Args:
        folder: for projects.
        also: other interpreters of Python in which to look for peers that run in a script of their own.
    """
    for name in PLUGINS:
        yield _titled(partial(_idle, folder, name), f"idle: {name} installed")
    yield from _thousand(folder, also)
    yield from _waiting(folder, also)


def _titled(make: Callable[[str], Row], title: str) -> Callable[[], Row]:
    def row() -> Row:
        return make(title)

    row.__doc__ = title
    return row


def _installed(name: str) -> str:
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        raise ModuleNotFoundError(name=name) from None


def _at_home(name: str, also: Sequence[str]) -> tuple[str, str]:
    """Return the first Python that has *name*, and what it has."""
    try:
        return sys.executable, _installed(name)
    except ModuleNotFoundError:
        for program in also:
            asked = "import sys, importlib.metadata as m; print(m.version(sys.argv[1]))"
            told = subprocess.run([program, "-c", asked, name], capture_output=True, text=True, check=False)
            if told.returncode == 0:
                return program, f"{name} {told.stdout.strip()}"
        raise


def _promptfoo() -> str:
    if (program := shutil.which("promptfoo")) is None:
        raise LeftOut("there is no command promptfoo (npm install promptfoo)")
    return program


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
        title, PEER, lambda: pytest_process(one, *plugins).cpu, lambda: pytest_process(one, *NO_PLUGIN).cpu,
        f"pytest without {installed}",
    )  # fmt: skip


def _thousand(folder: Path, also: Sequence[str], n: int = 1000) -> Iterator[Callable[[], Row]]:
    """The six metrics on the same cases, each against the floor that our own row has."""

    def row(title: str, name: str, installed: str, files: dict[str, str], command: Callable[[Path], Cost]) -> Row:
        project = peer_project(folder / f"{name}-{n}", n, files)
        floor = parametrized(folder / f"floor-{n}", n)
        against = f"empty parametrize; {installed}"
        return Row(title, PEER, lambda: command(project).cpu, lambda: pytest_process(floor, *NO_PLUGIN).cpu, against)

    def in_pytest(name: str, source: str, args: Callable[[], tuple[str, ...]], title: str) -> Row:
        installed, files = _installed(name), {"test_bench.py": source}
        return row(title, name, installed, files, lambda path: pytest_process(path, *args()))

    def script(name: str, source: str, args: tuple[str, ...], title: str) -> Row:
        program, installed = _at_home(name, also)
        return row(
            title, name, installed, {"bench.py": source},
            lambda path: process(path, "bench.py", *args, program=program),
        )  # fmt: skip

    def promptfoo(title: str) -> Row:
        program, files = _promptfoo(), promptfoo_files()
        return row(title, "promptfoo", "promptfoo", files, lambda path: process(path, *PROMPTFOO_EVAL, program=program))

    # pytest-harvest, which pytest-evals is built on, asks xdist for its options wherever that is installed
    evals = ("pytest-evals", "pytest-harvest", "pytest-xdist")
    cases = f"{n:,} cases, six metrics"
    yield _titled(partial(in_pytest, "rouge-score", BY_HAND, tuple), f"{cases} written by hand")
    yield _titled(
        partial(
            in_pytest, "pytest-evals", PYTEST_EVALS, lambda: (*_plugins(*evals), "--run-eval", "--run-eval-analysis")
        ),
        f"{cases} in pytest-evals",
    )
    yield _titled(partial(script, "pydantic-evals", PYDANTIC_EVALS, ("0", "0")), f"{cases} in pydantic-evals")
    yield _titled(partial(script, "deepeval", DEEPEVAL, ("0", "0")), f"{cases} in deepeval")
    yield _titled(partial(script, "ragas", RAGAS, ()), f"{cases} in ragas")
    yield _titled(partial(script, "inspect-ai", INSPECT, ()), f"{cases} in inspect_ai")
    yield _titled(promptfoo, f"{cases} in promptfoo")


def _waiting(
    folder: Path, also: Sequence[str], n: int = 200, seconds: float = 0.1, width: int = 8
) -> Iterator[Callable[[], Row]]:
    """The same calls side by side: the clock against the shortest time it can take."""

    def row(title: str, name: str, installed: str, files: dict[str, str], command: Callable[[Path], Cost]) -> Row:
        project = peer_project(folder / f"{name}-waiting", n, files, seconds=seconds)
        against = f"the ideal, without start-up; {installed}"
        return Row(title, PEER, lambda: command(project).wall, lambda: n * seconds / width, against, "s")

    def xdist(title: str) -> Row:
        installed, files, args = (
            _installed("pytest-xdist"),
            {"test_bench.py": BY_HAND},
            ("-p", "xdist", "-n", str(width)),
        )
        return row(title, "pytest-xdist", installed, files, lambda path: pytest_process(path, *args))

    def script(name: str, source: str, title: str) -> Row:
        program, installed = _at_home(name, also)
        args = ("bench.py", str(seconds), str(width))
        return row(
            title, name, installed, {"bench.py": source}, lambda path: process(path, *args, program=program)
        )  # fmt: skip

    def promptfoo(title: str) -> Row:
        program, args = _promptfoo(), (*PROMPTFOO_EVAL, "--max-concurrency", str(width))
        files = promptfoo_files(seconds)
        return row(title, "promptfoo", "promptfoo", files, lambda path: process(path, *args, program=program))

    calls = f"{n} calls of {seconds * 1e3:.0f} ms at {width}"
    yield _titled(xdist, f"{calls}, pytest -n {width}")
    yield _titled(partial(script, "pydantic-evals", PYDANTIC_EVALS), f"{calls}, pydantic-evals")
    yield _titled(partial(script, "deepeval", DEEPEVAL), f"{calls}, deepeval")
    yield _titled(partial(script, "ragas", RAGAS_EXPERIMENT), f"{calls}, ragas")
    yield _titled(promptfoo, f"{calls}, promptfoo")
