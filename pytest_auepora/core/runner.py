"""The evaluator of the seeds: call the system on every sample, check the data, compute every metric."""

from __future__ import annotations

from .dataset import EvaluationDataset
from .plan import EvaluationPlan
from .rag_interface import RAGSystemProtocol
from .types import EvaluationSample, MetricResult, SystemOutputs

__all__ = ["AueporaEvaluator"]


class AueporaEvaluator:
    """Runs a plan over a data set.

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
        samples = list(dataset)
        return samples, [self.system.run(s, top_k=self.top_k) for s in samples]

    def evaluate(self, dataset: EvaluationDataset) -> list[MetricResult]:
        """Return one result per metric of the plan.

        Raises:
            ValueError: the data set lacks a field that a metric requires in every sample.
        """
        self.plan.validate_dataset(list(dataset))
        samples, outputs = self.collect(dataset)
        return [metric.compute(samples, outputs) for metric in self.plan.metrics]
