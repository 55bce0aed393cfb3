"""Documents that must not be returned: what a person may not see, and what a case forbids.

They are the label ``forbidden_docs`` of a case: ids, or mappings with ``doc``, ``quote``, … as for relevant documents.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...core.metrics_base import CaseScore, Measurement
from ...core.types import EvaluationSample, SystemOutputs, TargetCategory
from ..options import Configured, needed
from ..ranking.gold import GoldLabel, LabelMatcher, forbidden_labels
from ..values import nonempty


class Forbidden(Configured):
    """Base of the metrics over the forbidden documents of a case; n/a where it has none."""

    target = TargetCategory.PRIVACY
    source = "permission-aware retrieval: what the one who asks may not see is not returned"
    oracle = "by hand"

    def read_case(self, sample: EvaluationSample) -> list[GoldLabel]:
        return needed(forbidden_labels(sample), "no forbidden_docs")

    def leaked(self, labels: list[GoldLabel], outputs: SystemOutputs, k: int | None = None) -> list[str]:
        """Return the chunks of the top *k* (all for None) that are forbidden, with their labels.

        Raises:
            MetricError: it cannot be told of a chunk whether it is.
        """
        matcher = LabelMatcher(labels)
        found = []
        for hit in outputs.retrieved[:k]:
            if covered := matcher.covered_labels(hit.doc):
                chunk, label = hit.doc.doc_id, labels[covered[0]].name
                found.append(chunk if chunk == label else f"{chunk} ({label})")
        matcher.check(every=True)
        return found


class NoLeak(Forbidden):
    """1 where no forbidden document was returned, else 0."""

    stem = "no_leak"
    formula = "[no returned chunk is one of forbidden_docs, or of one]"

    def score_answer(self, sample: EvaluationSample, outputs: SystemOutputs, labels: list[GoldLabel]) -> CaseScore:
        """Details: ``leaked``, the chunks in rank order."""
        leaked = self.leaked(labels, outputs)
        return Measurement(float(not leaked), details=nonempty(leaked=leaked))


@dataclass(eq=False, repr=False)
class LeakRateAtK(Forbidden):
    """Share of the cases with forbidden documents that have one among the top k."""

    k: int

    stem = "leak_rate@{k}"
    direction = "lower"
    formula = "cases with one of forbidden_docs in the top k / cases with forbidden_docs"

    def score_answer(self, sample: EvaluationSample, outputs: SystemOutputs, labels: list[GoldLabel]) -> CaseScore:
        """1 or 0.  Details: ``leaked``, the chunks in rank order."""
        leaked = self.leaked(labels, outputs, self.k)
        return Measurement(float(bool(leaked)), details=nonempty(leaked=leaked))
