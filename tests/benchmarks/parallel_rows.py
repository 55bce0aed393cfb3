"""Rows of the table for work that computes: several processes against one, by the clock."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from pytest_auepora.base.batches import all_cores
from pytest_auepora.core.dataset import EvaluationDataset
from pytest_auepora.core.plan import EvaluationPlan
from pytest_auepora.core.runner import AueporaEvaluator
from pytest_auepora.core.types import EvaluationSample, Response, SystemOutputs
from pytest_auepora.metrics.registry import Registry

from .library_rows import text_pairs
from .measuring import FLOOR, GOLDEN, NO_PLUGIN, LeftOut, Row, process, pytest_process
from .projects import BUSY, COMPUTING, CORPUS, golden, parametrized

__all__ = ["rows"]

METRICS = ("rougeL", "token_f1", "chrf")


def rows(folder: Path, *, quick: bool) -> Iterator[Callable[[], Row]]:
    """Yield what makes each row."""
    calls, size = (200, 1000) if quick else (1000, 5000)

    def xdist() -> Row:
        import xdist as _  # noqa: F401  # left out where it is not installed

        project = golden(folder / "busy", calls, function=BUSY, imports="import time", corpus=CORPUS)
        return Row(
            xdist.__doc__ or "", ">= 1.7", lambda: pytest_process(project, *GOLDEN, "-p", "xdist", "-n", "2").wall,
            lambda: pytest_process(project, *GOLDEN).wall, "serial", "s",
        )  # fmt: skip

    def alone() -> Row:
        """of that, pytest-xdist alone: as many tests of its own"""
        import xdist as _  # noqa: F401  # left out where it is not installed

        floor = parametrized(folder / "busy-floor", calls, body=COMPUTING)
        return Row(
            alone.__doc__ or "", FLOOR, lambda: pytest_process(floor, "-p", "xdist", "-n", "2").wall,
            lambda: pytest_process(floor, *NO_PLUGIN).wall, "serial", "s",
        )  # fmt: skip

    def machine() -> Row:
        """of that, the machine: two loops at once"""
        return Row(
            machine.__doc__ or "", FLOOR, lambda: _loops(folder, 2), lambda: 2 * _loops(folder, 1),
            "one after the other", "s",
        )  # fmt: skip

    def cores() -> Row:
        return _evaluated(cores.__doc__ or "", size, lambda evaluator, data: _clock(evaluator, data, jobs=None))

    def dask() -> Row:
        import distributed as _  # noqa: F401  # left out where it is not installed

        return _evaluated(dask.__doc__ or "", size, _on_dask)

    xdist.__doc__ = f"-n 2, {calls:,} calls that compute for 20 ms"
    cores.__doc__ = f"the evaluator with every core, {size:,} pairs"
    dask.__doc__ = f"the evaluator on a cluster of Dask, {size:,} pairs"
    yield from (xdist, alone, machine, cores, dask)


def _loops(folder: Path, processes: int) -> float:
    """Two cores that a machine shares with others, or that share their parts, do not do twice as much as one."""
    start = time.perf_counter()
    with ThreadPoolExecutor(processes) as pool:
        for _ in pool.map(lambda _: process(folder, "-c", "for _ in range(40_000_000): pass"), range(processes)):
            pass
    return time.perf_counter() - start


class Pairs(EvaluationDataset):
    """References to answer; the answers are told with them, for a system that only looks them up."""

    name = "pairs"

    def __init__(self, size: int) -> None:
        self._samples = [
            EvaluationSample(str(i), answer, reference_answer=Response(reference))
            for i, (reference, answer) in enumerate(text_pairs(size))
        ]

    def __len__(self) -> int:
        return len(self._samples)

    def __iter__(self) -> Iterator[EvaluationSample]:
        return iter(self._samples)


@dataclass
class Repeats:
    """A system that says what it is asked."""

    def run(self, sample: EvaluationSample, *, top_k: int = 5) -> SystemOutputs:
        return SystemOutputs([], Response(sample.query))


def _evaluated(title: str, size: int, ours: Callable[[AueporaEvaluator, Pairs], float]) -> Row:
    """Starting the processes is part of it, so two cores are not twice as fast."""
    if (cores := all_cores()) == 1:
        raise LeftOut("there is one core")
    evaluator = AueporaEvaluator(Repeats(), EvaluationPlan([Registry().get(name) for name in METRICS]))
    data = Pairs(size)
    return Row(
        title, ">= 1.5" if cores < 4 else ">= 2", lambda: ours(evaluator, data),
        lambda: _clock(evaluator, data, jobs=1), f"one process; {cores} cores, {size:,} samples", "s",
    )  # fmt: skip


def _clock(evaluator: AueporaEvaluator, data: Pairs, **where: Any) -> float:
    start = time.perf_counter()
    evaluator.evaluate(data, **where)
    return time.perf_counter() - start


def _on_dask(evaluator: AueporaEvaluator, data: Pairs) -> float:
    """Starting the cluster is no part of it: it is there before and after."""
    distributed: Any = import_module("distributed")
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # it tells of every worker that comes and goes

    with (
        distributed.LocalCluster(
            n_workers=all_cores(), threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        return _clock(evaluator, data, executor=client.get_executor())
