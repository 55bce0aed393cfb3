"""What a metric is: it measures one case, then aggregates many measurements.

One definition serves a single pytest item, a worker process, a partition of a large file, a bootstrap
and a re-judged old run, because measurements are small and JSON-able.
"""

from __future__ import annotations

import math
from abc import ABC
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, get_args

from .types import EvaluationSample, MetricResult, SystemOutputs, TargetCategory

__all__ = ["CHUNK_KEYS", "JUDGE_KEYS", "Direction", "Measurement", "Metric", "NotApplicable"]

Direction = Literal["higher", "lower"]

AnswerPart = Literal[
    "answer", "structured", "metadata", "ranking", "documents", "document_metadata", "timings", "extra"
]
"""What there is of an answer: text, structured answer and metadata of the response; ids and scores of the documents in
order, their texts, their metadata; times; all else."""

CHUNK_KEYS = ("chunker", "chunker_version", "chunk_ids")
"""Provenance keys of the chunker: where one differs, chunks have other ids and other lengths."""

JUDGE_KEYS = ("judge", "judge_model", "judge_prompt")
"""Provenance keys of the LLM judge."""


@dataclass(slots=True)
class Measurement:
    """The score of one metric for one case.  Never changed; not frozen, as that would triple the cost of making one.

    ``value`` is the case's own score, or None where a case has none of its own and counts in the
    aggregate only.  ``data`` is the sufficient statistic when the mean of values is not enough (BLEU
    counts, a pair, …): JSON-able.  ``details`` is for people: JSON-able as well, small.
    """

    value: float | None
    data: Any = None
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """The metric does not apply to this case, with the reason (``"no relevant_docs"``)."""

    reason: str


CaseScore = Measurement | NotApplicable
"""The result of a metric for one case: a measurement, or why it does not apply."""


class Metric(ABC):
    """A named measure of one target.

    A subclass sets ``name`` and ``target`` and implements ``measure``; the aggregate is the mean unless
    it says otherwise.  Implementing only ``compute`` works as well: a case is then scored by ``compute``
    over that case alone.

    Class attributes:
        direction: whether ``"higher"`` or ``"lower"`` is better.
        range: lowest and highest possible value; ``inf`` where there is no bound.
        deterministic: the same inputs always give the same value.
        judged: an LLM judge scores it; advisory until calibrated against human labels (`auepora calibrate`).
        concurrency: how many cases a judged metric may be asked to measure at once, in threads.
        shares: it keeps the judge's replies in ``outputs.memo`` for other metrics, so these are asked one by one.
        scored_by: the judged metric behind this one, where it is made of another; its calibration counts.
        against_accepted: it compares the answer with that of the accepted run, which is kept for it.
        baselined: its scores are stored in baselines and compared with them (False for wall-clock times).
        decimals: of its values, which baselines keep; a smaller difference is no change.
        version: raised whenever the numbers change, so that old and new scores are never compared.
        provenance_keys: keys of a run's provenance that must be equal for scores to compare.  None stands for
            `CHUNK_KEYS` where retrieval is the target, and for no keys elsewhere; a judged metric always has
            `JUDGE_KEYS` as well.
        across_chunkers: when scores compare although the chunker changed: ``passages`` where the labels of the case are
            quotes, spans or documents; ``documents`` where the document of each label is known.
        interval: how the verdict computes the aggregate's confidence interval: empty for the mean of the cases'
            values; ``bootstrap`` for ratios and quantiles; ``jackknife`` for what is counted over all cases together;
            ``pairs`` where `by_case` has numbers that cases alone have not.  None is the first where `aggregate` is
            not overridden, else ``bootstrap``.
        additive: the ``data`` of its measurements are lists of whole numbers, all equally long, and the aggregate's
            value depends on nothing but their sums.
        reads: what it reads of an answer, by default everything; what a recorded answer has not whole is not measured
            again.  Where labels are quotes or spans, ``ranking`` includes ``documents``.
        required: attributes of `EvaluationSample` that must not be None.
        formula, source, oracle: for the reference page: the definition in one line, where it comes
            from, and whose numbers the tests hold it to.
    """

    name: str
    target: TargetCategory
    direction: Direction = "higher"
    range: tuple[float, float] = (0.0, 1.0)
    deterministic: bool = True
    baselined: bool = True
    decimals: ClassVar[int] = 4
    judged: bool = False
    concurrency: int = 1
    shares: ClassVar[bool] = True
    against_accepted: ClassVar[bool] = False
    scored_by: Metric | None = None
    version: int = 1
    provenance_keys: tuple[str, ...] | None = None
    across_chunkers: Literal["", "passages", "documents"] = ""
    interval: str | None = None
    additive: ClassVar[bool] = False
    reads: ClassVar[frozenset[AnswerPart]] = frozenset(get_args(AnswerPart))
    required: tuple[str, ...] = ()
    formula: ClassVar[str] = ""
    source: ClassVar[str] = ""
    oracle: ClassVar[str] = ""

    def __new__(cls, *_: Any, **__: Any) -> Metric:
        """Raise TypeError where the class implements neither `measure` nor `compute`."""
        if cls.measure is Metric.measure and cls.compute is Metric.compute:
            raise TypeError(f"{cls.__name__} is abstract: it implements neither measure() nor compute()")
        return super().__new__(cls)

    def required_fields(self) -> list[str]:
        """Names of the sample attributes that must be non-None somewhere in a data set."""
        return list(self.required)

    def params(self) -> dict[str, Any]:
        """Options that change the number, JSON-able; part of the fingerprint under which scores compare."""
        return {}

    @property
    def worst(self) -> float:
        """The value a case gets in gates when it could not be measured at all."""
        return self.range[0] if self.direction == "higher" else self.range[1]

    def not_applicable(self, sample: EvaluationSample) -> NotApplicable | None:
        """Return why the metric does not apply to *sample*, whatever the answer; None where it may.

        A case whose call failed is an error of the metric only where it may apply.  By default it looks at
        ``required``.
        """
        name = self.missing_field(sample)
        return NotApplicable(f"no {name}") if name else None

    def missing_field(self, sample: EvaluationSample) -> str:
        """Return the first of ``required`` that *sample* does not have; empty where it has them all."""
        return next((name for name in self.required if getattr(sample, name) is None), "")

    def measure(self, sample: EvaluationSample, outputs: SystemOutputs) -> CaseScore:
        """Score one case.  Raises what the formula raises; never returns NaN."""
        result = self.compute([sample], [outputs])
        if not isinstance(result, MetricResult):
            raise TypeError(f"compute() returned {result!r:.60}: return a MetricResult")
        if result.details.get("num_samples") == 0:
            return NotApplicable("not measured for this case")
        return Measurement(result.value, details={})

    def measure_failure(self, error: BaseException) -> CaseScore | None:  # noqa: ARG002 - as above
        """Score a case whose call raised *error*; None: the case is an error of this metric as well."""
        return None

    def measure_many(self, samples: Sequence[EvaluationSample], outputs: Sequence[SystemOutputs]) -> list[CaseScore]:
        """Score many cases; models override it to work in batches."""
        return [self.measure(s, o) for s, o in zip(samples, outputs, strict=True)]

    def aggregate(self, measurements: Sequence[Measurement]) -> MetricResult:
        """Combine the measurements of many cases; over none the value is 0.0 and ``num_samples`` 0."""
        return mean_of(self, [m.value for m in measurements])

    def counts(self, samples: Sequence[EvaluationSample]) -> dict[str, int]:  # noqa: ARG002 - a subclass counts
        """Further details of `compute`: how many *samples* are of some kind.  Summed over the parts of a data set."""
        return {}

    def by_case(self, measurements: Sequence[Measurement]) -> dict[str, float]:  # noqa: ARG002 - for those that override
        """Return numbers by case id, higher being better, whose mean tells a change as the aggregate would.

        For metrics whose ``interval`` is ``pairs``, and for those without one whose cases get their scores so, as
        baselines do not keep what they are made of; nothing for all others.
        """
        return {}

    def compute(self, samples: Sequence[EvaluationSample], outputs: Sequence[SystemOutputs]) -> MetricResult:
        """Measure every sample and aggregate.

        Raises:
            AssertionError: *samples* and *outputs* differ in length.
        """
        if len(samples) != len(outputs):  # not by assert, which Python may be told to leave out
            raise AssertionError(f"{self.name}: {len(samples)} samples but {len(outputs)} outputs")
        outcomes = self.measure_many(samples, outputs)
        result = self.aggregate([m for m in outcomes if isinstance(m, Measurement)])
        result.details["num_skipped"] = sum(isinstance(m, NotApplicable) for m in outcomes)
        result.details.update(self.counts(samples))
        return result

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {getattr(self, 'name', '?')}>"


Metric.__abstractmethods__ = frozenset({"measure"})  # or compute: for a decorator, a subclass would need both


def mean_of(metric: Metric, values: Iterable[float | None]) -> MetricResult:
    """Return what `Metric.aggregate` makes of measurements that have these *values*."""
    known = [value for value in values if value is not None]
    value = sum(known) / len(known) if known else 0.0
    return MetricResult(metric.name, metric.target, value, {"num_samples": len(known)})


def f1(precision: float, recall: float) -> float:
    """Return the harmonic mean of the two; 0 where they are not positive."""
    total = precision + recall
    return 2 * precision * recall / total if total > 0 else 0.0


def nearest_rank(values: Sequence[float], quantile: float) -> float:
    """Return the nearest-rank quantile of sorted *values*: index ``ceil(q * n) - 1``, in floats as numpy has it."""
    return values[max(0, math.ceil(quantile * len(values)) - 1)]


def provenance_keys_of(metric: Metric) -> tuple[str, ...]:
    """Return the keys of provenance under which the scores of *metric* compare; see `Metric.provenance_keys`."""
    keys = metric.provenance_keys
    if keys is None:
        keys = CHUNK_KEYS if metric.target.name.startswith("RETRIEVAL") else ()
    return (*keys, *JUDGE_KEYS) if metric.judged else keys


def interval_of(metric: Metric) -> str:
    """Return how the interval of the aggregate of *metric* is computed; see `Metric.interval`."""
    if metric.interval is not None:
        return metric.interval
    return "" if type(metric).aggregate is Metric.aggregate else "bootstrap"
