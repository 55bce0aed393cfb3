"""What the top of a ranking holds: recall, precision, hits, and whether there is a ranking at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY
from typing import Any

from ..core.metrics_base import CaseScore, Measurement, Metric
from ..core.types import EvaluationSample, SystemOutputs, TargetCategory
from .options import Configured, choice
from .ranking.matching import Matching, Ranking, need_relevant, ranking_of


class Matched(Configured):
    """Base of the metrics that match a returned list with the labels of its case.

    Options:
        level: ``"chunk"``: labels and chunks are matched as they are.  ``"doc"``: k chunks are cut, then each
            counts as the document it comes from, first occurrence only; spelled ``recall@5_doc``.
        duplicates: an id returned twice counts at its ``"first"`` place and keeps the other slot; ``"collapse"``
            removes repeats before the cut; ``"error"`` refuses them.
        ties: the order the ``"system"`` gave; ``"trec"`` sorts by score, then id, both descending.
    """

    _: KW_ONLY
    level: str = choice("chunk", "doc")
    duplicates: str = choice("first", "collapse", "error")
    ties: str = choice("system", "trec")

    unjudged = "irrelevant"
    required = ("relevant_docs",)
    reads = frozenset({"ranking"})
    target = TargetCategory.RETRIEVAL_ACCURACY

    def __post_init__(self) -> None:
        super().__post_init__()
        self.matching = Matching(self.level, self.duplicates, self.ties, self.unjudged)
        if self.level == "doc":
            self.provenance_keys, self.across_chunkers = (), "documents"  # which stay the same, however they are cut

    def spelled_stem(self) -> str:
        return super().spelled_stem() + ("_doc" if self.level == "doc" else "")

    def spelled_options(self) -> dict[str, Any]:
        return {key: value for key, value in super().spelled_options().items() if key != "level"}


class Ranked(Matched):
    """Base of the metrics over the relevant slots of a ranking.

    Options, beside those of `Matched`:
        unjudged: documents nobody judged are ``"irrelevant"``; ``"skip"`` removes them before the cut.
    """

    _: KW_ONLY
    unjudged: str = choice("irrelevant", "skip")

    def read_case(self, sample: EvaluationSample) -> EvaluationSample:
        """Return the case with the labels that count."""
        need_relevant(sample)
        return sample

    def score_answer(self, sample: EvaluationSample, outputs: SystemOutputs, labelled: EvaluationSample) -> CaseScore:
        ranking = ranking_of(labelled, outputs, self.matching)
        return Measurement(self.value(ranking), details=self.details(ranking))

    def value(self, ranking: Ranking) -> float:
        """Return the score of a ranking; there is at least one relevant label."""
        raise NotImplementedError

    def details(self, ranking: Ranking) -> dict[str, Any]:
        """Return what people want to know along with the score."""
        return {}


class RecallAtK(Ranked):
    """Share of the relevant labels that the top k cover; of at most k of them when *capped*."""

    k: int
    capped: bool = False

    stem = "recall@{k}"
    across_chunkers = "passages"
    target = TargetCategory.RETRIEVAL_RELEVANCE
    formula = "relevant in the top k / relevant; capped: / min(k, relevant)"
    source = "trec_eval recall; capped: BEIR (arXiv:2104.08663)"
    oracle = "pytrec_eval recall, 1e-12; ranx recall"

    def value(self, ranking: Ranking) -> float:
        if self.capped:
            return min(ranking.found_labels(self.k) / ranking.relevant(self.k), 1.0)
        return ranking.found_labels(self.k) / ranking.relevant()

    def details(self, ranking: Ranking) -> dict[str, Any]:
        """Return ``missed``, the labels not covered."""
        return {"missed": ranking.missed_labels(self.k)}


class PrecisionAtK(Ranked):
    """Share of the top k that is relevant: of k slots, or of those *returned* when they are fewer."""

    k: int
    denominator: str = choice("k", "returned")

    stem = "precision@{k}"
    target = TargetCategory.RETRIEVAL_RELEVANCE
    formula = "relevant in the top k / k; denominator=returned: / min(k, returned)"
    source = "trec_eval P"
    oracle = "pytrec_eval P, 1e-12; ranx precision"

    def value(self, ranking: Ranking) -> float:
        hits = ranking.hits(self.k)
        return hits / (self.k if self.denominator == "k" else max(ranking.returned(self.k), 1))

    def counts(self, samples: Sequence[EvaluationSample]) -> dict[str, int]:
        """Return ``skipped_empty_gold``, the number of samples without relevant documents."""
        return {"skipped_empty_gold": sum(not s.relevant_docs for s in samples)}


class HitRateAtK(Ranked):
    """1 when the top k hold anything relevant, else 0."""

    k: int

    stem = "hit@{k}"
    across_chunkers = "passages"
    target = TargetCategory.RETRIEVAL_RELEVANCE
    formula = "1 if the top k hold a relevant document, else 0"
    source = "trec_eval success"
    oracle = "pytrec_eval success, exact; ranx hit_rate"

    def value(self, ranking: Ranking) -> float:
        return float(ranking.hits(self.k) > 0)

    def details(self, ranking: Ranking) -> dict[str, Any]:
        """Return the ``rank`` of the first relevant slot in the whole list, or None."""
        return {"rank": ranking.first_rank}


class EmptyResultRate(Metric):
    """1 when the system returned no document, else 0; lower is better."""

    name = "empty_result_rate"
    target = TargetCategory.RETRIEVAL_RELEVANCE
    reads = frozenset({"ranking"})
    provenance_keys = ()
    direction = "lower"
    formula = "1 if nothing was returned, else 0"
    source = "share of queries without a result"
    oracle = "counted"

    def measure(self, sample: EvaluationSample, outputs: SystemOutputs) -> CaseScore:
        return Measurement(0.0 if outputs.retrieved else 1.0)
