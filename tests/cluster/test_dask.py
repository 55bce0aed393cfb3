"""A real cluster of Dask: processes of its own, and one that is killed in the middle."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.core.batches import Lost, run_batches
from pytest_auepora.core.runner import AueporaEvaluator

from ..unit.core.large import Answers, Doubles, Made, plan

distributed = pytest.importorskip("distributed", reason="distributed is not installed")
pytestmark = pytest.mark.filterwarnings("default")  # those of a cluster that comes and goes


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with (
        # a worker may die once over a task before Dask gives up on the task
        importlib.import_module("dask").config.set({"distributed.scheduler.allowed-failures": 1}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
        ) as cluster,
        distributed.Client(cluster, timeout=120) as client,
    ):
        yield client


def test_the_numbers_are_those_of_this_process(client: Any) -> None:
    evaluator = AueporaEvaluator(Answers(), plan())
    here = evaluator.evaluate(Made(300))
    assert evaluator.evaluate(Made(300), executor=client.get_executor(), batch_size=32, in_flight=4) == here


def test_a_worker_that_is_killed_loses_nothing(client: Any, tmp_path: Path) -> None:
    task = Doubles(frozenset([40]), str(tmp_path / "died"))
    batches = [list(range(n, n + 8)) for n in range(0, 120, 8)]
    done = list(run_batches(task, iter(batches), executor=client.get_executor(), in_flight=4))
    assert (tmp_path / "died").exists()
    assert done == [(batch, [2 * n for n in batch]) for batch in batches]


def test_what_kills_every_worker_is_lost_by_name_and_nothing_else(client: Any) -> None:
    batches = [list(range(n, n + 8)) for n in range(0, 48, 8)]
    done = list(run_batches(Doubles(frozenset([17])), iter(batches), executor=client.get_executor(), in_flight=1))
    assert [batch for batch, _ in done] == batches
    lost = [(batch, made.reason) for batch, made in done if isinstance(made, Lost)]
    assert [batch for batch, _ in lost] == [batches[2]]
    assert "KilledWorker" in lost[0][1]
