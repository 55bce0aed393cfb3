"""The evaluation plan: which metrics run, and whether the data set can feed them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ..base.grouping import grouped
from .metrics_base import Metric
from .types import EvaluationSample, TargetCategory

__all__ = ["EvaluationPlan"]


@dataclass
class EvaluationPlan:
    """The metrics of one evaluation."""

    metrics: list[Metric] = field(default_factory=list)

    def grouped_by_target(self) -> dict[TargetCategory, list[Metric]]:
        """Return the metrics under the target each one addresses, in the order given."""
        return grouped((metric.target, metric) for metric in self.metrics)

    def validate_dataset(self, samples: Iterable[EvaluationSample]) -> None:
        """Check that each field a metric requires is there in at least one sample, reading no further than it takes.

        Raises:
            ValueError: a required field is None in every sample.  An empty data set passes.
        """
        missing: dict[str, str] = {}
        for metric in self.metrics:
            for name in metric.required_fields():
                missing.setdefault(name, metric.name)
        sample = None
        for sample in samples:
            missing = {name: metric_name for name, metric_name in missing.items() if getattr(sample, name) is None}
            if not missing:
                return
        if missing and sample is not None:
            name, needed_by = next(iter(missing.items()))
            raise ValueError(f"Dataset missing required field '{name}' for metric '{needed_by}'.")
