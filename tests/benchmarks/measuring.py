"""How things are measured: processor time of a block, and time and memory of a whole pytest process."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile

__all__ = [
    "ACCEPT",
    "ENTRY",
    "FLOOR",
    "GOLDEN",
    "NO_PLUGIN",
    "PEER",
    "Cost",
    "LeftOut",
    "ProcessError",
    "Row",
    "process",
    "pytest_process",
    "timed",
]

ENTRY = ("-p", "pytest_auepora.pytest_plugin.entry")
NO_PLUGIN = ("-p", "keyword")
"""A module of the standard library without hooks, for the other side of an idle run: whatever ``-p`` names, pytest
reads what is known of every installed package, as it does by itself in every run not told which plugins to load."""
GOLDEN = (*ENTRY, "--auepora")
ACCEPT = (*ENTRY, "--auepora-update", "-o", "auepora_history=off")
PEER = "peer"
"""The goal of a row that shows what others cost."""
FLOOR = "floor"
"""The goal of a row that shows what a part of other rows costs that is not ours."""

_LAUNCHER = """
import json, os, resource, subprocess, sys, time
start = time.perf_counter()
code = subprocess.call(sys.argv[2:])
wall, used = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
memory = used.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
os.write(int(sys.argv[1]), json.dumps([used.ru_utime + used.ru_stime, wall, memory]).encode())
sys.exit(code if code >= 0 else 128 - code)
"""
"""Starts what is measured.  Linux counts, as the memory of a process, that of the one which started it as well: the
process of the table, with all it has imported, would be the peak of a small one."""

QUIET = {
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    "DEEPEVAL_TELEMETRY_OPT_OUT": "YES",
    "LANGSMITH_TRACING": "false",
    "RAGAS_DO_NOT_TRACK": "true",
    "PROMPTFOO_DISABLE_TELEMETRY": "1",
    "PROMPTFOO_DISABLE_UPDATE": "1",
    "PROMPTFOO_DISABLE_DEBUG_LOG": "1",
    "PROMPTFOO_DISABLE_ERROR_LOG": "1",
}
"""No plugins but those named, and no peer that reports to somebody while it is measured."""
UNSET = ("PYTHONDONTWRITEBYTECODE", "GITHUB_STEP_SUMMARY", "CONFIDENT_API_KEY")
"""With the last of them deepeval would send somebody's account what it measured."""


class ProcessError(RuntimeError):
    """A process that was to be measured ended otherwise than it should."""

    def __init__(self, command: str, code: int, said: str) -> None:
        super().__init__(f"{command} ended with {code}:\n{said[-2000:]}")
        self.told = f"it ended with {code}: {(said.splitlines() or ['nothing'])[-1]}"


class LeftOut(Exception):
    """A row cannot be measured here; the text says why."""


@dataclass(frozen=True)
class Row:
    """One line of the table: ``<= x`` bounds ours / other, ``>= x`` how many times faster ours is.

    With the goal `PEER` or `FLOOR`, *ours* measures somebody else's tool, and nothing is asked of the ratio.  A row
    that takes minutes is measured *at_most* so many times, with no run ahead of them.
    """

    title: str
    goal: str
    ours: Callable[[], float]
    other: Callable[[], float]
    against: str
    unit: str = "s of processor time"
    at_most: int = 0


@dataclass(frozen=True)
class Cost:
    """Seconds of processor time and of the clock, and the largest resident memory in MiB."""

    cpu: float
    wall: float
    memory: float


def pytest_process(folder: Path, *args: str, expect: tuple[int, ...] = (0,)) -> Cost:
    """Run pytest in *folder* with no plugins but those named; the exit code must be as expected."""
    return process(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", *args, expect=expect)


def process(folder: Path, *args: str, expect: tuple[int, ...] = (0,), program: str = sys.executable) -> Cost:
    """Run Python, or another *program*, with *args* in *folder*; the exit code must be as expected."""
    env = {k: v for k, v in os.environ.items() if k not in UNSET}
    kept = folder.parent / "kept"
    env |= QUIET | {"PYTHONPYCACHEPREFIX": str(kept / "bytecode"), "PROMPTFOO_CONFIG_DIR": str(kept / "promptfoo")}
    with TemporaryFile() as used:
        ran = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _LAUNCHER, str(used.fileno()), program, *args], cwd=folder, env=env,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, pass_fds=[used.fileno()],
        )  # fmt: skip
        used.seek(0)
        cost = Cost(*json.loads(used.read()))
    if ran.returncode not in expect:
        raise ProcessError(" ".join(args), ran.returncode, ran.stdout)
    return cost


def timed(work: Callable[[], object]) -> float:
    """Return the seconds of processor time that *work* takes, not those of the garbage that others left."""
    gc.collect()
    start = time.process_time()
    work()
    return time.process_time() - start
