"""The evaluation plan: which metrics run, and whether the data set can feed them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .metrics_base import Metric
from .types import EvaluationSample, TargetCategory

__all__ = ["EvaluationPlan"]


@dataclass
class EvaluationPlan:
    """The metrics of one evaluation."""

    metrics: list[Metric] = field(default_factory=list)

    def grouped_by_target(self) -> dict[TargetCategory, list[Metric]]:
        """Return the metrics under the target each one addresses, in the order given."""
        out: dict[TargetCategory, list[Metric]] = {}
        for metric in self.metrics:
            out.setdefault(metric.target, []).append(metric)
        return out

    def validate_dataset(self, samples: Sequence[EvaluationSample]) -> None:
        """Check that each field a metric requires is there in at least one sample.

        Raises:
            ValueError: a required field is None in every sample.  An empty data set passes.
        """
        if not samples:
            return
        for metric in self.metrics:
            for name in metric.required_fields():
                if all(getattr(s, name) is None for s in samples):
                    raise ValueError(f"Dataset missing required field '{name}' for metric '{metric.name}'.")
