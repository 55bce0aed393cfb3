"""The evaluator of the seeds: call the system on every sample, check the data, compute every metric."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

from ..errors import LostWorkError
from .batches import BATCH_SIZE, Lost, all_cores, in_batches, run_batches
from .dataset import EvaluationDataset
from .metrics_base import Measurement, Metric, NotApplicable
from .plan import EvaluationPlan
from .progress import Progress
from .rag_interface import RAGSystemProtocol
from .types import EvaluationSample, MetricResult, SystemOutputs

__all__ = ["AueporaEvaluator"]

_LOOKED_AT = 100_000
"""Samples that are held at most, while a required field is looked for in them."""

_NO_DETAILS: dict[str, Any] = {}


class AueporaEvaluator:
    """Runs a plan over a data set, batch by batch: of a sample that was measured only numbers are kept.

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
        samples = list(_all_of(dataset))
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
        samples = _validated(_all_of(dataset), self.plan)
        task = _Measure(self.system, self.plan.metrics, self.top_k)
        seen = _Seen(self.plan.metrics)
        done = run_batches(
            task, in_batches(samples, batch_size), executor=executor, jobs=jobs, in_flight=in_flight,
            name_of=lambda sample: sample.sample_id,
        )  # fmt: skip
        with Progress("samples", _length(dataset) if progress is not False else None, show=progress) as bar:
            for batch, made in done:
                if isinstance(made, Lost):
                    raise LostWorkError(
                        f"samples {batch[0].sample_id!r} to {batch[-1].sample_id!r} ({len(batch)}) were not measured: "
                        f"their worker died ({made.reason})"
                    )
                seen.add(batch, made)
                bar.done(len(batch))
        return seen.results()


def _validated(samples: Iterator[EvaluationSample], plan: EvaluationPlan) -> Iterator[EvaluationSample]:
    """Return all *samples*, the first of which were looked at: an iterator may be there only once.

    Raises:
        ValueError: a field that a metric requires is None in all samples.
    """
    looked_at: list[EvaluationSample] = []

    def noted() -> Iterator[EvaluationSample]:
        for sample in islice(samples, _LOOKED_AT):
            looked_at.append(sample)
            yield sample

    try:
        plan.validate_dataset(noted())
    except ValueError:
        if len(looked_at) < _LOOKED_AT:  # these are all
            raise
    return chain(looked_at, samples)


def _all_of(dataset: EvaluationDataset) -> Iterator[EvaluationSample]:
    """Yield the samples, and hold their number to the length that the data set says it has."""
    n = 0
    for n, sample in enumerate(dataset, 1):  # noqa: B007 - counts
        yield sample
    said = _length(dataset)
    if said is not None and said != n:
        raise ValueError(f"the data set says that it has {said} samples, and gave {n}; can it be read only once?")


def _length(dataset: EvaluationDataset) -> int | None:
    with suppress(TypeError):
        return len(dataset)
    return None


def _sees_everything(metric: Metric) -> bool:
    """Whether a metric brings its own ``compute``, which no part of a data set can stand for."""
    return type(metric).compute is not Metric.compute


@dataclass
class _Measured:
    """The measurements of one metric, how many samples it had nothing to say about, and what else it counts."""

    counts: dict[str, int]
    values: list[Measurement] = field(default_factory=list)
    skipped: int = 0

    def add(self, more: _Measured) -> None:
        self.values += more.values
        self.skipped += more.skipped
        self.counts.update({name: self.counts.get(name, 0) + n for name, n in more.counts.items()})


def _measured(metric: Metric, batch: Sequence[EvaluationSample], outputs: Sequence[SystemOutputs]) -> _Measured:
    out = _Measured(metric.counts(batch))
    for one in metric.measure_many(batch, outputs):
        if isinstance(one, NotApplicable):
            out.skipped += 1
        else:  # without details, which no aggregate reads: a data set may have millions of samples
            out.values.append(Measurement(one.value, one.data, _NO_DETAILS))
    return out


@dataclass
class _Part:
    """What a batch gave: what was measured for every metric that works in parts, outputs if one does not."""

    measured: list[_Measured]
    outputs: list[SystemOutputs] | None = None


@dataclass
class _Measure:
    """Calls the system on a batch and measures what it gives; `ByItem`, as calls wait and models like company."""

    system: RAGSystemProtocol
    metrics: list[Metric]
    top_k: int

    def __call__(self, batch: Sequence[EvaluationSample]) -> _Part:
        return self.together(batch, [self.one(sample) for sample in batch])

    def one(self, sample: EvaluationSample) -> SystemOutputs:
        return self.system.run(sample, top_k=self.top_k)

    def together(self, batch: Sequence[EvaluationSample], outputs: list[SystemOutputs]) -> _Part:
        in_parts = [metric for metric in self.metrics if not _sees_everything(metric)]
        part = _Part([_measured(metric, batch, outputs) for metric in in_parts])
        if len(in_parts) < len(self.metrics):
            part.outputs = outputs
            for one in outputs:
                one.memo.clear()  # it is for this process, and never stored
        return part

    def parts(self) -> dict[str, Any]:
        """Return what is sent along, by what errors call it."""
        return {"the system": self.system, **{f"metric {metric.name!r}": metric for metric in self.metrics}}


@dataclass
class _Seen:
    """The parts put together."""

    metrics: list[Metric]
    samples: list[EvaluationSample] = field(default_factory=list)
    outputs: list[SystemOutputs] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.measured = [_Measured(metric.counts([])) for metric in self.metrics if not _sees_everything(metric)]

    def add(self, batch: list[EvaluationSample], part: _Part) -> None:
        for measured, more in zip(self.measured, part.measured, strict=True):
            measured.add(more)
        if part.outputs is not None:
            self.samples += batch
            self.outputs += part.outputs

    def results(self) -> list[MetricResult]:
        parts, out = iter(self.measured), []
        for metric in self.metrics:
            if _sees_everything(metric):
                out.append(metric.compute(self.samples, self.outputs))
                continue
            measured = next(parts)
            result = metric.aggregate(measured.values)
            result.details.update({"num_skipped": measured.skipped, **measured.counts})
            out.append(result)
        return out
