"""Latency: mean and quantiles of the timings of calls."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ..core.metrics_base import Measurement, NotApplicable
from ..core.types import EvaluationSample, MetricResult, SystemOutputs, TargetCategory
from ..errors import MetricError
from .options import Configured

__all__ = ["Latency", "MeanLatency", "PercentileLatency", "QuantileLatency"]


@dataclass(eq=False, repr=False)
class Latency(Configured):
    """Base of the metrics over one of the timings of a call, in seconds."""

    target = TargetCategory.LATENCY
    direction = "lower"
    range = (0.0, math.inf)
    deterministic = False
    baselined = False

    timing_key: str = "end_to_end"

    lone: ClassVar[str] = "timing_key"

    def measure(self, sample: EvaluationSample, outputs: SystemOutputs) -> Measurement | NotApplicable:
        """Return the seconds of one call; n/a where the timing was not taken.

        Raises:
            MetricError: the timing is negative, infinite or NaN.
        """
        seconds = outputs.timings.get(self.timing_key)
        if seconds is None:
            return NotApplicable(f"no timing {self.timing_key!r}")
        if not 0 <= seconds < math.inf:
            raise MetricError(f"timing {self.timing_key!r} must be seconds from 0 up, got {seconds}")
        return Measurement(float(seconds))


class MeanLatency(Latency):
    """Mean seconds of a timing."""

    stem = "mean_latency"
    formula = "mean of timings[timing_key], seconds"
    source = "wall clock"
    oracle = "numpy mean"

    def spelling(self) -> str:
        """Always with its timing, as the framework's specification has it; ``mean_latency`` is short for it."""
        return f"mean_latency[{self.timing_key}]"


@dataclass(eq=False, repr=False)
class QuantileLatency(Latency):
    """A quantile of a timing, by nearest rank: always a value that was measured.

    Details: ``reliable`` says whether there are enough values for the quantile to lie below the largest of
    them with a confidence of 95 % (59 for p95, 299 for p99); ``needs`` is that number.

    Raises:
        MetricError: the quantile is not in (0, 1].
    """

    quantile: float = 0.95

    stem = "quantile_latency"
    formula = "sorted timings, at index ceil(q n) - 1, seconds"
    source = "nearest rank"
    oracle = 'numpy.quantile(method="inverted_cdf"), exact'

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.quantile <= 1:
            raise MetricError(f"quantile must be above 0 and at most 1, got {self.quantile}")

    def aggregate(self, measurements: Sequence[Measurement]) -> MetricResult:
        """Return the quantile of all values; over none 0.0 with ``num_samples`` 0."""
        values = sorted(m.value for m in measurements if m.value is not None)
        n, q = len(values), self.quantile
        value = values[math.ceil(q * n) - 1] if n else 0.0
        needs = math.ceil(math.log(0.05) / math.log(q)) if q < 1 else 1
        details = {"num_samples": n, "quantile": q, "reliable": n >= needs, "needs": needs}
        return MetricResult(self.name, self.target, value, details)


class PercentileLatency(QuantileLatency):
    """`QuantileLatency` by percent, under the name everyone uses: ``p95_latency``.

    Raises:
        MetricError: the percent is not in 1 … 100.
    """

    def __init__(self, percent: int, timing_key: str = "end_to_end") -> None:
        if not 1 <= percent <= 100:
            raise MetricError(f"percent must be between 1 and 100, got {percent}")
        self.percent = percent
        super().__init__(timing_key, percent / 100)

    def spelling(self) -> str:
        """``p95_latency``, or ``p95_latency[retrieval]`` for another timing."""
        shown = "" if self.timing_key == "end_to_end" else f"[{self.timing_key}]"
        return f"p{self.percent}_latency{shown}"
