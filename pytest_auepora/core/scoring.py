"""Scores of one case, and their aggregate over many cases with an honest denominator."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

from ..base.records import Checked, Number, Record, given_fields
from ..errors import MetricError
from .metrics_base import CaseScore, Measurement, Metric, NotApplicable, mean_of
from .types import EvaluationSample, MetricResult, SystemOutputs

ScoreState = Literal["number", "n/a", "error", "aggregate"]


@dataclass(slots=True)
class Score(Record):
    """One metric on one case: a number, or why there is none."""

    state: ScoreState
    """Whether there is a number, or why not; an aggregate has no value of its own and counts in the aggregate only."""
    value: Number | None = None
    """Null unless the state is number."""
    reason: str = ""
    """Why there is no number."""
    data: Any = None
    """What the metric aggregates, where a number is not enough."""
    details: dict[str, Any] = field(default_factory=dict)
    """What the metric found."""

    @classmethod
    def failed(cls, reason: str) -> Score:
        """Make the score of a case that could not be measured."""
        return cls("error", reason=reason)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data; empty fields but the value are left out."""
        return given_fields(self, "value")

    @property
    def measurement(self) -> Measurement | None:
        """What `Metric.aggregate` takes, or None for n/a and errors."""
        if self.state in ("n/a", "error"):
            return None
        return Measurement(self.value, self.data, self.details)


def _is_consistent(score: Score) -> bool:
    return (score.state == "number") == (score.value is not None)


StoredScore = Annotated[Score, Checked("a score, with a finite number where that is its state", _is_consistent)]
"""A score in a file."""


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


_ROUNDING = 1e-9
"""By how much a value may miss the range of its metric."""


def score_of(metric: Metric, outcome: CaseScore) -> Score:
    """Return what *metric* said of a case as a score; what is no score is an error that names what to return."""
    try:
        return _read_outcome(metric, outcome)
    except MetricError as exc:
        return Score.failed(f"{type(exc).__name__}: {exc}")


def _read_outcome(metric: Metric, outcome: CaseScore) -> Score:
    if isinstance(outcome, NotApplicable):
        if not isinstance(outcome.reason, str):
            raise MetricError(f"measure() returned NotApplicable({outcome.reason!r:.60}): give the reason as a text")
        return Score("n/a", reason=outcome.reason)
    if not isinstance(outcome, Measurement):
        wrapped = f"Measurement({outcome!r:.40})" if _is_number(outcome) else "a Measurement"
        raise MetricError(f"measure() returned {outcome!r:.60}: return {wrapped}, or NotApplicable with the reason")
    raw: Any = outcome.value
    if raw is None:
        if outcome.data is None or type(metric).aggregate is Metric.aggregate:
            raise MetricError(
                "measure() returned Measurement(None), which no mean counts: return a number, or NotApplicable with "
                "the reason; a metric with an aggregate of its own returns data as well"
            )
        return Score("aggregate", data=outcome.data, details=outcome.details)
    if not _is_number(raw):
        raise MetricError(f"measure() returned Measurement({raw!r:.60}): return a number, as Measurement(0.5)")
    value = float(raw)
    if not math.isfinite(value):
        raise MetricError(f"the metric returned {'NaN' if math.isnan(value) else value}")
    _check_range(metric, value, "measure()")
    return Score("number", value, "", outcome.data, outcome.details)


def _is_number(value: Any) -> bool:
    """Whether *value* can be a score, as numbers of numpy can; a text that looks like a number cannot."""
    return hasattr(value, "__float__")


def _check_range(metric: Metric, value: float, returned_by: str) -> None:
    low, high = metric.range
    if not low - _ROUNDING <= value <= high + _ROUNDING:
        raise MetricError(
            f"{returned_by} returned {value:g}, outside the metric's range from {low:g} to {high:g}: "
            "return a value within, or declare `range`"
        )


REPEAT_DATA = "data_of_repeats"
"""Key of a score's details: the data of the repeats after the first, where it differs."""


def score_case(metrics: Iterable[Metric], sample: EvaluationSample, outputs: SystemOutputs) -> dict[str, Score]:
    """Run every metric on one case.  A metric that raises gives an error score; the others still count."""
    scores: dict[str, Score] = {}
    for metric in metrics:
        try:
            scores[metric.name] = score_of(metric, metric.measure(sample, outputs))
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
                return [score_of(metric, outcome) for outcome in outcomes]
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
        if outcome is None:
            with suppress(Exception):  # labels that cannot be read are told where the answer is scored
                outcome = metric.not_applicable(sample)
        scores[metric.name] = Score.failed(reason) if outcome is None else score_of(metric, outcome)
    return scores


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
    except Exception as exc:
        raise MetricError(f"its aggregate raised {type(exc).__name__}: {exc}") from exc
    if not isinstance(result, MetricResult):
        raise MetricError(f"its aggregate returned {result!r:.60}: return a MetricResult")
    if not result.details.get("num_samples", len(measurements)):
        return result
    if not _is_number(result.value) or not math.isfinite(result.value):
        raise MetricError(f"its aggregate returned {result.value!r:.60}")
    _check_range(metric, result.value, "its aggregate")
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
