"""Another metric over a part of the cases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.metrics_base import Measurement, Metric, NotApplicable, interval_of
from ..core.types import EvaluationSample, MetricResult, SystemOutputs
from ..errors import MetricError
from .pairs import as_metric, take_after

__all__ = ["SlicedMetric"]

Predicate = Callable[[EvaluationSample], bool]


class SlicedMetric(Metric):
    """A metric over the samples that satisfy a predicate; n/a for all others.

    Args:
        base: the metric, or its name.
        predicate: a function of the sample, or ``"key:value"``: the label or metadata of that name is the value
            or, being a list, holds it; spelled ``sliced[recall@5,scenario:typo]``.
        name: what to call it, for a predicate that is a function; by default ``recall@5/function_name``.

    Raises:
        MetricError: a predicate in words is not ``key:value``.
    """

    formula = "the base metric over the cases of the slice"
    source = "Auepora evaluation metrics, dataset slicing"
    oracle = "the base metric on the samples of the slice"

    def __init__(self, base: Metric | str = "", predicate: Predicate | str = "", name: str | None = None) -> None:
        self.base = as_metric(base)
        if isinstance(predicate, str):
            self.predicate = _having(predicate)
            shown = f"sliced[{self.base.name},{predicate}]"
        else:
            self.predicate = predicate
            shown = f"{self.base.name}/{getattr(predicate, '__name__', type(predicate).__name__)}"
        self.name = name or shown
        self._shown = shown
        self.target = self.base.target
        vars(self)["interval"] = interval_of(self.base)
        take_after(self, self.base, "direction", "range", "deterministic", "baselined", "version", "required")

    def required_fields(self) -> list[str]:
        """What the base metric needs."""
        return self.base.required_fields()

    def params(self) -> dict[str, Any]:
        """The options of the base metric, and what the slice is."""
        return {**self.base.params(), "slice": self._shown}

    def measure(self, sample: EvaluationSample, outputs: SystemOutputs) -> Measurement | NotApplicable:
        """Measure a case of the slice with the base metric."""
        return self.base.measure(sample, outputs) if self.predicate(sample) else NotApplicable("outside the slice")

    def measure_many(
        self, samples: Sequence[EvaluationSample], outputs: Sequence[SystemOutputs]
    ) -> list[Measurement | NotApplicable]:
        """Let the base metric score all cases of the slice at once."""
        inside = [self.predicate(s) for s in samples]
        chosen = [(s, o) for s, o, keep in zip(samples, outputs, inside, strict=True) if keep]
        seen = iter(self.base.measure_many([s for s, _ in chosen], [o for _, o in chosen]))
        return [next(seen) if keep else NotApplicable("outside the slice") for keep in inside]

    def by_case(self, measurements: Sequence[Measurement]) -> dict[str, float]:
        """As the base metric."""
        return self.base.by_case(measurements)

    def aggregate(self, measurements: Sequence[Measurement]) -> MetricResult:
        """Aggregate as the base metric does, under this metric's name."""
        result = self.base.aggregate(measurements)
        result.name = self.name
        return result


def _having(text: str) -> Predicate:
    key, colon, value = text.partition(":")
    if not colon or not key.strip():
        raise MetricError(f"a slice is key:value, as in scenario:typo, got {text!r}")
    key, value = key.strip(), value.strip()

    def in_slice(sample: EvaluationSample) -> bool:
        held = sample.labels.get(key, sample.metadata.get(key))
        if isinstance(held, (list, tuple, set, frozenset)):
            return any(_worded(one) == value for one in held)
        return _worded(held) == value

    return in_slice


def _worded(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) or value is None else str(value)
