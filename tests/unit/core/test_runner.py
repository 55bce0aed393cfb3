"""The evaluator over sets that do not fit the memory: parts, processes, numbers that stay the same."""

from __future__ import annotations

import threading
import tracemalloc
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pytest

from pytest_auepora.core.dataset import InMemoryDataset
from pytest_auepora.core.metrics_base import Measurement, Metric, NotApplicable
from pytest_auepora.core.plan import EvaluationPlan
from pytest_auepora.core.runner import AueporaEvaluator
from pytest_auepora.core.types import EvaluationSample, SystemOutputs, TargetCategory
from pytest_auepora.errors import LostWorkError, UnsendableError
from pytest_auepora.metrics.registry import Registry

from ..large import Answers, Lengths, Made, plan, sample


@pytest.mark.slow
def test_the_numbers_are_those_of_one_batch_wherever_it_is_done() -> None:
    metrics = plan(Lengths())
    evaluator = AueporaEvaluator(Answers(), metrics)
    samples, outputs = evaluator.collect(Made(300))
    at_once = [metric.compute(samples, outputs) for metric in metrics.metrics]
    assert evaluator.evaluate(InMemoryDataset("x", samples)) == at_once
    assert evaluator.evaluate(Made(300), batch_size=7) == at_once
    with ThreadPoolExecutor(3) as threads:
        assert evaluator.evaluate(Made(300), batch_size=16, executor=threads) == at_once
    assert evaluator.evaluate(Made(300), batch_size=32, jobs=2) == at_once


def test_threads_overlap_calls_whatever_the_size_of_a_batch() -> None:
    """Calls that wait for one another: they end only where as many are under way as there are threads."""
    together = threading.Barrier(8)

    class Waits(Answers):
        def run(self, sample: EvaluationSample, *, top_k: int = 5) -> SystemOutputs:
            together.wait(30)
            return super().run(sample, top_k=top_k)

    metrics = plan(Lengths(), sizes := _Sizes())
    evaluator = AueporaEvaluator(Waits(), metrics)
    with ThreadPoolExecutor(8) as threads:
        done = evaluator.evaluate(Made(24), executor=threads)
        cut = evaluator.evaluate(Made(24), executor=threads, batch_size=5)
    assert done == cut == AueporaEvaluator(Answers(), metrics).evaluate(Made(24))
    assert sizes.seen[0] == 24
    assert sorted(sizes.seen[1:6]) == [4, 5, 5, 5, 5]


class _Sizes(Metric):
    """Notes how many samples it is given at once."""

    name = "sizes"
    target = TargetCategory.GENERATION_RELEVANCE

    def __init__(self) -> None:
        self.seen: list[int] = []

    def measure(self, sample: EvaluationSample, outputs: SystemOutputs) -> Measurement:
        return Measurement(1.0)

    def measure_many(
        self, samples: Sequence[EvaluationSample], outputs: Sequence[SystemOutputs]
    ) -> list[Measurement | NotApplicable]:
        self.seen.append(len(samples))
        return [Measurement(1.0) for _ in samples]


def test_the_first_failing_call_in_order_is_told() -> None:
    failed, told, asked = threading.Event(), threading.Event(), []

    class Fails(Answers):
        def run(self, sample: EvaluationSample, *, top_k: int = 5) -> SystemOutputs:
            asked.append(n := int(sample.sample_id[1:]))
            if n == 1:
                assert failed.wait(30)  # it is the last to fail
            if n in (1, 2):
                failed.set()
                raise ConnectionError(f"refused s{n}")
            if n > 2:
                assert told.wait(30)
            return super().run(sample, top_k=top_k)

    with ThreadPoolExecutor(2) as threads:
        with pytest.raises(ConnectionError, match="refused s1"):
            AueporaEvaluator(Fails(), plan()).evaluate(Made(300), executor=threads)
        told.set()
    assert len(asked) <= 3 + 2  # the threads may have begun one more each


def test_an_empty_set_gives_what_it_gave() -> None:
    metrics = plan()
    assert AueporaEvaluator(Answers(), metrics).evaluate(Made(0)) == [m.compute([], []) for m in metrics.metrics]


@pytest.mark.slow
def test_memory_does_not_grow_with_the_set() -> None:
    """Texts of some thousand characters; of a sample that was measured only numbers may be left."""
    evaluator = AueporaEvaluator(_Wordy(), EvaluationPlan([Registry().get(n) for n in ("recall@2", "mean_latency")]))
    evaluator.evaluate(Made(300))  # what is imported and remembered once
    peaks = []
    for size in (300, 2100):
        tracemalloc.start()
        evaluator.evaluate(Made(size))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]


class _Wordy(Answers):
    def run(self, sample: EvaluationSample, *, top_k: int = 5) -> SystemOutputs:
        out = super().run(sample, top_k=top_k)
        out.response.text = f"{sample.sample_id} " * 300
        return out


def test_a_data_set_is_gone_through_once() -> None:
    made = Made(50)
    AueporaEvaluator(Answers(), EvaluationPlan([Registry().get("recall@2")])).evaluate(made)
    assert made.taken == 50


def test_a_field_that_no_sample_has_stops_it_before_a_call() -> None:
    @dataclass
    class Uncallable:
        def run(self, sample: EvaluationSample, *, top_k: int = 5) -> SystemOutputs:
            raise AssertionError("was called")

    bare = InMemoryDataset("bare", [EvaluationSample("s1", "q")])
    with pytest.raises(ValueError, match=r"missing required field 'relevant_docs' for metric 'recall@2'"):
        AueporaEvaluator(Uncallable(), plan()).evaluate(bare)


def test_an_exception_of_the_system_is_the_callers() -> None:
    class Fails(Answers):
        def run(self, sample: EvaluationSample, *, top_k: int = 5) -> SystemOutputs:
            raise ConnectionError("refused")

    with pytest.raises(ConnectionError, match="refused"):
        AueporaEvaluator(Fails(), plan()).evaluate(Made(3))


@pytest.mark.slow
def test_samples_of_a_worker_that_died_are_named() -> None:
    evaluator = AueporaEvaluator(Answers(dies_at="s9"), plan())
    with pytest.raises(LostWorkError, match=r"samples 's8' to 's11' \(4\) were not measured: their worker died"):
        evaluator.evaluate(Made(20), jobs=2, batch_size=4)


def test_what_cannot_be_sent_is_named() -> None:
    locked: Any = Answers()
    locked.lock = __import__("threading").Lock()
    with pytest.raises(UnsendableError, match="the system cannot be sent to another process"):
        AueporaEvaluator(locked, plan()).evaluate(Made(3), jobs=2)
    odd = Lengths()
    vars(odd)["lock"] = locked.lock
    with pytest.raises(UnsendableError, match="metric 'longest' cannot be sent"):
        AueporaEvaluator(Answers(), plan(odd)).evaluate(Made(3), jobs=2)
    bad = sample(1)
    bad.metadata["lock"] = locked.lock
    with pytest.raises(UnsendableError, match="sample 's1' cannot be sent"):
        AueporaEvaluator(Answers(), plan()).evaluate(InMemoryDataset("x", [sample(2), bad]), jobs=2)


@pytest.mark.parametrize("given", [{"jobs": 0}, {"batch_size": 0}, {"in_flight": 0}])
def test_numbers_out_of_range(given: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="must be at least 1"):
        AueporaEvaluator(Answers(), plan()).evaluate(Made(3), **given)  # type: ignore[arg-type]


def test_a_bar_counts_samples_where_it_is_wanted(capsys: pytest.CaptureFixture[str]) -> None:
    evaluator = AueporaEvaluator(Answers(), plan())
    evaluator.evaluate(Made(40), batch_size=10, progress=None)
    assert capsys.readouterr().err == ""
    evaluator.evaluate(Made(40), batch_size=10, progress=True)
    assert "/40" in capsys.readouterr().err


def test_pairs_are_in_order() -> None:
    """The made samples differ, or the tests above would show nothing."""
    assert all(a != b for a, b in pairwise(Made(20)))


class Once(InMemoryDataset):
    """Its iterator can be read once."""

    def __init__(self, samples: list[EvaluationSample], length: int) -> None:
        super().__init__("once", samples)
        self.rest, self.length = iter(samples), length

    def __iter__(self) -> Iterator[EvaluationSample]:
        return self.rest

    def __len__(self) -> int:
        return self.length


def test_a_data_set_that_can_be_read_once_loses_no_sample() -> None:
    metrics = plan(Lengths())
    samples = [sample(n) for n in range(4)]
    whole = AueporaEvaluator(Answers(), metrics).evaluate(InMemoryDataset("x", samples))
    assert AueporaEvaluator(Answers(), metrics).evaluate(Once(samples, 4)) == whole


@pytest.mark.parametrize("length", [3, 5])
def test_a_data_set_is_held_to_its_length(length: int) -> None:
    evaluator = AueporaEvaluator(Answers(), plan(Lengths()))
    for ask in (evaluator.evaluate, evaluator.collect):
        with pytest.raises(ValueError, match=f"says that it has {length} samples, and gave 4"):
            ask(Once([sample(n) for n in range(4)], length))
