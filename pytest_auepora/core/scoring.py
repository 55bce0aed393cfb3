"""Scores of one case, and their aggregate over many cases with an honest denominator."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ..base.records import Record
from ..errors import MetricError
from .metrics_base import CaseScore, Measurement, Metric, NotApplicable, mean_of
from .types import Document, EvaluationSample, MetricResult, Response, RetrievedDocument, SystemOutputs

ScoreState = Literal["number", "n/a", "error", "aggregate"]


@dataclass(slots=True)
class Score(Record):
    """One metric on one case: a number, or why there is none."""

    state: ScoreState
    """Whether there is a number, or why not; an aggregate has no value of its own and counts in the aggregate only."""
    value: float | None = None
    """Null unless the state is number."""
    reason: str = ""
    """Why there is no number."""
    data: Any = None
    """What the metric aggregates, where a number is not enough."""
    details: dict[str, Any] = field(default_factory=dict)
    """What the metric found."""

    @classmethod
    def of(cls, outcome: CaseScore) -> Score:
        """Wrap what a metric returned."""
        if isinstance(outcome, NotApplicable):
            return cls("n/a", reason=outcome.reason)
        if outcome.value is None:
            return cls("aggregate", data=outcome.data, details=outcome.details)
        value = float(outcome.value)
        if not math.isfinite(value):
            return cls("error", reason=f"the metric returned {'NaN' if math.isnan(value) else value}")
        return cls("number", value, "", outcome.data, outcome.details)

    @classmethod
    def failed(cls, reason: str) -> Score:
        """Make the score of a case that could not be measured."""
        return cls("error", reason=reason)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data; empty fields are left out."""
        out: dict[str, Any] = {"state": self.state, "value": self.value}
        if self.reason:
            out["reason"] = self.reason
        if self.data is not None:
            out["data"] = self.data
        if self.details:
            out["details"] = self.details
        return out

    @property
    def measurement(self) -> Measurement | None:
        """What `Metric.aggregate` takes, or None for n/a and errors."""
        if self.state in ("n/a", "error"):
            return None
        return Measurement(self.value, self.data, self.details)


class ScoreList(list[Score]):
    """The scores of one metric in some cases, in order, with the *ids* of these cases."""

    def __init__(self, scores: Iterable[Score], ids: Sequence[str] = ()) -> None:
        super().__init__(scores)
        self.ids = ids

    @property
    def measured(self) -> list[Score]:
        """The scores that have a measurement."""
        return [s for s in self if s.state not in ("n/a", "error")]

    @property
    def values(self) -> list[float | None]:
        """The values of the measured scores; all that a mean needs."""
        return [s.value for s in self.measured]

    @property
    def rounds(self) -> int:
        """How many repeats have to be aggregated: 1 where all gave the same data."""
        return 1 + max((len(s.details.get(REPEAT_DATA, ())) for s in self.measured), default=0)

    @property
    def measurements(self) -> list[Measurement]:
        """The measurements as their metric returned them."""
        return [measurement for score in self if (measurement := score.measurement) is not None]


REPEAT_DATA = "data_of_repeats"
"""Key of a score's details: the data of the repeats after the first, where it differs."""


def score_case(metrics: Iterable[Metric], sample: EvaluationSample, outputs: SystemOutputs) -> dict[str, Score]:
    """Run every metric on one case.  A metric that raises gives an error score; the others still count."""
    scores: dict[str, Score] = {}
    for metric in metrics:
        try:
            scores[metric.name] = Score.of(metric.measure(sample, outputs))
        except Exception as exc:
            scores[metric.name] = Score.failed(f"{type(exc).__name__}: {exc}")
    return scores


def score_cases(
    metrics: Iterable[Metric], samples: Sequence[EvaluationSample], outputs: Sequence[SystemOutputs]
) -> list[dict[str, Score]]:
    """Run every metric on many cases at once, so that models work in batches; see `score_case`."""
    if len(samples) < 2:
        return [score_case(metrics, s, o) for s, o in zip(samples, outputs, strict=True)]
    columns = [(metric.name, _metric_scores(metric, samples, outputs)) for metric in metrics]
    return [{name: column[i] for name, column in columns} for i in range(len(samples))]


def _metric_scores(
    metric: Metric, samples: Sequence[EvaluationSample], outputs: Sequence[SystemOutputs]
) -> list[Score]:
    if metric.deterministic and not metric.judged:
        # where one case raises, measuring each case alone below shows which
        with suppress(Exception):
            outcomes = metric.measure_many(samples, outputs)
            if len(outcomes) == len(samples):
                return [Score.of(outcome) for outcome in outcomes]
    return [score_case([metric], s, o)[metric.name] for s, o in zip(samples, outputs, strict=True)]


def failed_scores(
    metrics: Iterable[Metric], sample: EvaluationSample, reason: str, error: BaseException | None = None
) -> dict[str, Score]:
    """Return the scores of a case whose call failed: an error under every metric that would have applied.

    A metric that is n/a for *sample* whatever the answer stays n/a, so that the failed call does not enter its mean.
    A metric that counts failures measures *error*, the exception of the call.
    """
    scores = {}
    for metric in metrics:
        outcome = metric.measure_failure(error) if error is not None else None
        score = Score.of(outcome) if outcome is not None else _not_applicable_score(metric, sample)
        scores[metric.name] = score or Score.failed(reason)
    return scores


def _not_applicable_score(metric: Metric, sample: EvaluationSample) -> Score | None:
    """Return the n/a score of *metric* for *sample*, whatever the answer is; costly metrics are not run."""
    if metric.judged or not metric.deterministic:
        return None
    # everything that a metric may read: words, a number, several documents, embeddings
    metadata: dict[str, Any] = {"embedding": [1.0]}
    docs = [RetrievedDocument(Document(i, "1", dict(metadata)), 0.0, rank) for rank, i in enumerate(("-", "--"), 1)]
    placeholder = SystemOutputs(docs, Response("1 " * 64, metadata=metadata), {"end_to_end": 0.0})
    with suppress(Exception):
        outcome = metric.measure(sample, placeholder)
        return Score.of(outcome) if isinstance(outcome, NotApplicable) else None
    return None


@dataclass(slots=True)
class Aggregate(Record):
    """One metric over many cases."""

    name: str
    """The metric."""
    value: float | None
    """Over the measured cases alone; null when there are none."""
    gated: float | None
    """The same with errored cases at the metric's worst value, so that an error never raises it; null where the worst
    value has no bound."""
    n: int
    """Cases that were measured."""
    n_error: int
    """Cases that errored."""
    n_na: int
    """Cases it does not apply to."""
    total: int
    """All cases that ran."""
    details: dict[str, Any] = field(default_factory=dict)
    """What the metric says of it."""
    problem: str = ""
    """Why there is no aggregate of what was measured; else empty."""


def aggregate(metric: Metric, scores: list[Score]) -> Aggregate:
    """Aggregate the *scores* of *metric*, one per case; over repeats, the mean of their aggregates."""
    scores = scores if isinstance(scores, ScoreList) else ScoreList(scores)
    # a mean needs only the values; any other metric needs the measurements
    is_mean = type(metric).aggregate is Metric.aggregate
    inputs: Sequence[Any] = scores.values if is_mean else scores.measurements
    n = len(inputs)
    n_error = sum([s.state == "error" for s in scores]) if n < len(scores) else 0
    value: float | None = None
    details: dict[str, Any] = {}
    problem = ""
    if inputs:
        rounds = scores.rounds
        try:
            if is_mean:  # the values are means over all repeats
                results = [mean_of(metric, inputs)] * rounds
            else:
                results = [checked_aggregate(metric, repeat) for repeat in repeats_of(inputs, rounds)]
        except MetricError as exc:
            problem = str(exc)
        else:
            details = results[0].details
            if details.get("num_samples", n):
                value = math.fsum(result.value for result in results) / rounds
    gated = None if problem else _gated_value(metric, value, n, n_error)
    return Aggregate(metric.name, value, gated, n, n_error, len(scores) - n - n_error, len(scores), details, problem)


def checked_aggregate(metric: Metric, measurements: Sequence[Measurement]) -> MetricResult:
    """Return the aggregate of *measurements* by *metric*, which may be a project's own.

    Raises:
        MetricError: it raised, or gave what is no finite number, of samples that it used.
    """
    try:
        result = metric.aggregate(measurements)
        is_number = math.isfinite(result.value) or not result.details.get("num_samples", len(measurements))
    except Exception as exc:
        raise MetricError(f"its aggregate raised {type(exc).__name__}: {exc}") from exc
    if not is_number:
        raise MetricError(f"its aggregate returned {result.value}")
    return result


def repeats_of(measurements: Sequence[Measurement], rounds: int) -> Iterator[Sequence[Measurement]]:
    """Yield the measurements of each repeat; pooled, equal answers would lower the share of distinct words, say."""
    yield measurements
    for i in range(rounds - 1):
        yield [replace(m, data=data[i]) if i < len(data := m.details.get(REPEAT_DATA, ())) else m for m in measurements]


def _gated_value(metric: Metric, value: float | None, n: int, n_error: int) -> float | None:
    if not n_error:
        return value
    worst = metric.worst
    if math.isinf(worst):
        return None
    # exact for means; for corpus-level metrics the errored share weighs in at the worst value
    return ((value or 0.0) * n + worst * n_error) / (n + n_error)
