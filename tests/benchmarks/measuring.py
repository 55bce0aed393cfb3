"""How things are measured: processor time of a block, and time and memory of a whole pytest process."""

from __future__ import annotations

import gc
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

__all__ = ["ENTRY", "Cost", "Row", "pytest_process", "timed"]

ENTRY = ("-p", "pytest_auepora.pytest_plugin.entry")


@dataclass(frozen=True)
class Row:
    """One line of the table: ``<= x`` bounds ours / other, ``>= x`` how many times faster ours is."""

    title: str
    goal: str
    ours: Callable[[], float]
    other: Callable[[], float]
    against: str
    unit: str = "s of processor time"


@dataclass(frozen=True)
class Cost:
    """Seconds of processor time and of the clock, and the largest resident memory in MiB."""

    cpu: float
    wall: float
    memory: float


def pytest_process(folder: Path, *args: str, expect: tuple[int, ...] = (0,)) -> Cost:
    """Run pytest in *folder* with no plugins but those named; the exit code must be as expected."""
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONDONTWRITEBYTECODE", "GITHUB_STEP_SUMMARY")}
    env |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPYCACHEPREFIX": str(folder.parent / "bytecode")}
    start = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *args],
        cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        said = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in expect:
        raise RuntimeError(f"pytest ended with {process.returncode}:\n{said[-2000:]}")
    return Cost(used.ru_utime + used.ru_stime, time.perf_counter() - start, _mib(used))


def _mib(used: resource.struct_rusage) -> float:
    return used.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def timed(work: Callable[[], object]) -> float:
    """Return the seconds of processor time that *work* takes, not those of the garbage that others left."""
    gc.collect()
    start = time.process_time()
    work()
    return time.process_time() - start
