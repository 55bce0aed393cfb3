"""The evaluator of the seeds: call the system on every sample, check the data, compute every metric."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice, tee
from typing import Any

from ..base.batches import BATCH_SIZE, ByItem, LostBatch, all_cores, in_batches, run_batches
from ..base.progress import Progress
from ..errors import LostWorkError
from .dataset import EvaluationDataset
from .metrics_base import Measurement, Metric, NotApplicable
from .plan import EvaluationPlan
from .rag_interface import RAGSystemProtocol
from .types import EvaluationSample, MetricResult, SystemOutputs

__all__ = ["AueporaEvaluator"]

_MAX_PEEKED = 100_000
"""Most samples that are held in memory while checking for a required field."""

_NO_DETAILS: dict[str, Any] = {}


class AueporaEvaluator:
    """Runs a plan over a data set, batch by batch; only the numbers of measured samples are kept.

    Args:
        system: anything with ``run(sample, *, top_k) -> SystemOutputs``.
        plan: the metrics.
        top_k: how many documents the system is asked for.
    """

    def __init__(self, system: RAGSystemProtocol, plan: EvaluationPlan, *, top_k: int = 5) -> None:
        self.system = system
        self.plan = plan
        self.top_k = top_k

    def collect(self, dataset: EvaluationDataset) -> tuple[list[EvaluationSample], list[SystemOutputs]]:
        """Call the system on every sample, in order; exceptions are the caller's."""
        samples = list(_counted_samples(dataset))
        return samples, [self.system.run(s, top_k=self.top_k) for s in samples]

    def evaluate(
        self,
        dataset: EvaluationDataset,
        *,
        executor: Executor | None = None,
        jobs: int | None = 1,
        batch_size: int = BATCH_SIZE,
        in_flight: int | None = None,
        progress: bool | None = False,
    ) -> list[MetricResult]:
        """Return one result per metric of the plan; the same numbers wherever it is done.

        A metric that brings its own ``compute`` sees all samples and outputs at once, and they are kept for it.

        Args:
            dataset: gone through once.
            executor: calls the system and measures; ``Client.get_executor()`` of Dask, for instance.  System and
                metrics are pickled, and a batch is one piece of work, its calls made one after another.  A
                ``ThreadPoolExecutor`` gets every call as a piece of its own, so that as many overlap as it has
                threads, whatever *batch_size*; a batch is measured when its last call is done.  It is not shut down.
            jobs: without an executor, in how many processes to do it; None is one for every core.
            batch_size: samples that are measured at once.
            in_flight: how many batches are under way at most; by default two for every process, with an executor
                two for every core but at least 32.
            progress: whether a bar is shown on standard error; None: where somebody looks at it.

        Raises:
            ValueError: the data set lacks a field that a metric requires in every sample, gives more or fewer samples
                than its length says, or a number is out of range.
            UnsendableError: the system, a metric or a sample cannot be sent to another process.
            LostWorkError: a worker died over some samples, alone with them as well; they are named.
        """
        jobs = all_cores() if jobs is None else jobs
        if min(jobs, batch_size, 1 if in_flight is None else in_flight) < 1:
            raise ValueError("jobs, batch_size and in_flight must be at least 1")
        samples = _validated_samples(_counted_samples(dataset), self.plan)
        metrics = self.plan.metrics
        parts = {"the system": self.system, **{f"metric {metric.name!r}": metric for metric in metrics}}
        totals = [_Measured(Counter({"num_skipped": 0, **metric.counts([])})) for metric in metrics]
        kept_samples: list[EvaluationSample] = []
        kept_outputs: list[SystemOutputs] = []
        results = run_batches(
            _BatchTask(self.system, metrics, self.top_k), in_batches(samples, batch_size), parts=parts,
            executor=executor, jobs=jobs, in_flight=in_flight, name_of=lambda sample: sample.sample_id,
        )  # fmt: skip
        with Progress("samples", _length(dataset) if progress is not False else None, show=progress) as bar:
            for batch, result in results:
                if isinstance(result, LostBatch):
                    raise LostWorkError(
                        f"samples {batch[0].sample_id!r} to {batch[-1].sample_id!r} ({len(batch)}) were not measured: "
                        f"their worker died ({result.reason})"
                    )
                measured, outputs = result
                for total, part in zip(totals, measured, strict=True):
                    total.add(part)
                if outputs:
                    kept_samples += batch
                    kept_outputs += outputs
                bar.done(len(batch))
        return [
            metric.compute(kept_samples, kept_outputs) if _needs_all_outputs(metric) else total.aggregate(metric)
            for metric, total in zip(metrics, totals, strict=True)
        ]


def _validated_samples(samples: Iterator[EvaluationSample], plan: EvaluationPlan) -> Iterator[EvaluationSample]:
    """Return *samples*; raises ValueError where a field that a metric requires is None in all of them."""
    samples, ahead = tee(samples)
    try:
        plan.validate_dataset(islice(ahead, _MAX_PEEKED))
    except ValueError:
        if next(ahead, None) is None:  # these were all
            raise
    return samples


def _counted_samples(dataset: EvaluationDataset) -> Iterator[EvaluationSample]:
    """Yield the samples; raises where their number is not the length of the data set."""
    n = 0
    for n, sample in enumerate(dataset, 1):  # noqa: B007 - counts
        yield sample
    length = _length(dataset)
    if length is not None and length != n:
        raise ValueError(f"the data set says that it has {length} samples, and gave {n}; can it be read only once?")


def _length(dataset: EvaluationDataset) -> int | None:
    with suppress(TypeError):
        return len(dataset)
    return None


def _needs_all_outputs(metric: Metric) -> bool:
    """Whether a metric overrides ``compute``, which needs the whole data set at once."""
    return type(metric).compute is not Metric.compute


@dataclass
class _Measured:
    """The measurements of one metric, and the counts that go with them: of skipped samples, and the metric's own."""

    counts: Counter[str]
    values: list[Measurement] = field(default_factory=list)

    @classmethod
    def of(cls, metric: Metric, batch: Sequence[EvaluationSample], outputs: Sequence[SystemOutputs]) -> _Measured:
        """Measure a batch; a metric that needs all outputs at once measures none of it."""
        if _needs_all_outputs(metric):
            return cls(Counter())
        outcomes = metric.measure_many(batch, outputs)
        # without details, which no aggregate reads, to save memory
        values = [Measurement(m.value, m.data, _NO_DETAILS) for m in outcomes if not isinstance(m, NotApplicable)]
        return cls(Counter({"num_skipped": len(outcomes) - len(values), **metric.counts(batch)}), values)

    def add(self, other: _Measured) -> None:
        self.values += other.values
        self.counts.update(other.counts)

    def aggregate(self, metric: Metric) -> MetricResult:
        result = metric.aggregate(self.values)
        result.details.update(self.counts)
        return result


@dataclass
class _BatchTask(ByItem[EvaluationSample, tuple[list[_Measured], list[SystemOutputs]]]):
    """Calls the system on a batch and measures the outputs; `ByItem`, as calls wait and models work in batches."""

    system: RAGSystemProtocol
    metrics: list[Metric]
    top_k: int

    def run_item(self, item: EvaluationSample) -> SystemOutputs:
        return self.system.run(item, top_k=self.top_k)

    def combine(
        self, batch: Sequence[EvaluationSample], results: list[SystemOutputs]
    ) -> tuple[list[_Measured], list[SystemOutputs]]:
        """Return what each metric measured; and the outputs, where a metric needs those of all samples."""
        measured = [_Measured.of(metric, batch, results) for metric in self.metrics]
        if not any(map(_needs_all_outputs, self.metrics)):
            return measured, []
        for outputs in results:
            outputs.memo.clear()  # only for this process, never stored
        return measured, results
