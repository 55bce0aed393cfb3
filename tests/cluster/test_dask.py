"""A real cluster of Dask: processes of its own, and one that is killed in the middle."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.api import recorded
from pytest_auepora.api.recorded import score_recorded
from pytest_auepora.base.batches import LostBatch, run_batches
from pytest_auepora.core.runner import AueporaEvaluator
from pytest_auepora.errors import LostWorkError

from ..unit.evaluation.deadly import Deadly
from ..unit.evaluation.large_suite import answers, golden, with_metric, written
from ..unit.large import Answers, Doubles, Made, Notes, plan

distributed = pytest.importorskip("distributed", reason="distributed is not installed")
pytestmark = pytest.mark.filterwarnings("default")  # those of a cluster that comes and goes

_CONFIG = {
    "distributed.scheduler.allowed-failures": 1,  # a worker may die once over a task before Dask gives up on the task
    # a worker that is looked for while it starts again would be given up for good
    "distributed.deploy.lost-worker-timeout": "1 hour",
}


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with (
        importlib.import_module("dask").config.set(_CONFIG),
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


def test_only_what_kills_every_worker_is_lost_by_name(client: Any) -> None:
    batches = [list(range(n, n + 8)) for n in range(0, 48, 8)]
    done = list(run_batches(Doubles(frozenset([17])), iter(batches), executor=client.get_executor(), in_flight=1))
    assert [batch for batch, _ in done] == batches
    lost = [(batch, made.reason) for batch, made in done if isinstance(made, LostBatch)]
    assert [batch for batch, _ in lost] == [batches[2]]
    assert "KilledWorker" in lost[0][1]


def test_equal_work_is_done_anew_each_time(client: Any, tmp_path: Path) -> None:
    """Dask would take it for the same: a system would not be asked, and a death never got over."""
    done = list(run_batches(Notes(mark=str(tmp_path)), iter([[1], [1]]), executor=client.get_executor(), in_flight=2))
    assert len(list(tmp_path.iterdir())) == len(done) == 2


def test_the_loss_of_one_worker_changes_no_number(client: Any, tmp_path: Path) -> None:
    here = AueporaEvaluator(Answers(), plan()).evaluate(Made(60))
    system = Answers(dies_at="s9", mark=str(tmp_path / "died"))
    there = AueporaEvaluator(system, plan()).evaluate(Made(60), executor=client.get_executor(), batch_size=8)
    assert (tmp_path / "died").exists()
    assert there == here


def test_samples_over_which_every_worker_dies_are_named(client: Any) -> None:
    evaluator = AueporaEvaluator(Answers(dies_at="s9"), plan())
    said = r"^samples 's8' to 's11' \(4\) were not measured: their worker died \(KilledWorker: "
    with pytest.raises(LostWorkError, match=said):
        evaluator.evaluate(Made(40), executor=client.get_executor(), batch_size=4, in_flight=1)


@pytest.mark.parametrize("dies", [False, True])
def test_recorded_answers_get_the_numbers_of_this_process(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dies: bool
) -> None:
    monkeypatch.setattr(recorded, "BATCH_SIZE", 16)
    mark = tmp_path / "died"
    registry = with_metric(Deadly("c40" if dies else "", str(mark)))
    suite, outputs = golden(tmp_path, 80, "deadly", registry=registry), written(tmp_path, answers(80))
    there = score_recorded(suite, outputs, registry=registry, executor=client.get_executor(), in_flight=3)
    assert mark.exists() is dies
    mark.touch()  # or it would end this process
    here = score_recorded(suite, outputs, registry=registry)
    assert there.run.to_dict() == here.run.to_dict()
    assert there.verdict == here.verdict


def test_recorded_answers_that_kill_every_worker_are_errors(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorded, "BATCH_SIZE", 16)
    registry = with_metric(Deadly("c40"))
    suite = golden(tmp_path, 80, "deadly", registry=registry)
    done = score_recorded(
        suite, written(tmp_path, answers(80)), registry=registry, executor=client.get_executor(), in_flight=1
    )
    lost = [i for i, case in done.run.cases.items() if case.error.startswith("LostWorkError: not scored, the worker")]
    assert lost == [f"c{n}" for n in range(33, 49)]  # c3 is skipped
    assert "KilledWorker" in done.run.cases["c40"].error
    assert len(done.run.cases) == 80
    assert done.verdict.outcome == "failed"
