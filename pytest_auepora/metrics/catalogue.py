"""Which metrics there are: spelling → (module:class, options the spelling itself fixes).

Kept apart from the classes so that knowing a name costs no import.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["ALWAYS", "SPELLINGS"]

SPELLINGS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    # retrieval
    "recall@{k}": ("retrieval_basic:RecallAtK", {}),
    "precision@{k}": ("retrieval_basic:PrecisionAtK", {}),
    "hit@{k}": ("retrieval_basic:HitRateAtK", {}),
    "recall@{k}_doc": ("retrieval_basic:RecallAtK", {"level": "doc"}),
    "precision@{k}_doc": ("retrieval_basic:PrecisionAtK", {"level": "doc"}),
    "hit@{k}_doc": ("retrieval_basic:HitRateAtK", {"level": "doc"}),
    "empty_result_rate": ("retrieval_basic:EmptyResultRate", {}),
    "mrr": ("retrieval_ranking:MRRAtK", {}),
    "mrr@{k}": ("retrieval_ranking:MRRAtK", {}),
    "map": ("retrieval_ranking:MeanAveragePrecision", {}),
    "map@{k}": ("retrieval_ranking:MeanAveragePrecision", {}),
    "ndcg@{k}": ("retrieval_ranking:NDCGAtK", {}),
    "mrr_doc": ("retrieval_ranking:MRRAtK", {"level": "doc"}),
    "mrr@{k}_doc": ("retrieval_ranking:MRRAtK", {"level": "doc"}),
    "map_doc": ("retrieval_ranking:MeanAveragePrecision", {"level": "doc"}),
    "map@{k}_doc": ("retrieval_ranking:MeanAveragePrecision", {"level": "doc"}),
    "ndcg@{k}_doc": ("retrieval_ranking:NDCGAtK", {"level": "doc"}),
    # generation, by overlap
    "exact_match": ("generation_overlap:ExactMatch", {}),
    "token_f1": ("generation_overlap:TokenF1", {}),
    "rouge1": ("generation_overlap:Rouge1", {}),
    "rouge2": ("generation_overlap:Rouge2", {}),
    "rougeL": ("generation_overlap:RougeL", {}),
    "rouge": ("generation_overlap:RougeScores", {}),
    "rouge1_answer": ("generation_text:Rouge1Answer", {}),
    "rouge2_answer": ("generation_text:Rouge2Answer", {}),
    "rougeL_answer": ("generation_text:RougeLAnswer", {}),
    "bleu": ("generation_overlap:BleuScore", {}),
    "sentence_bleu": ("generation_overlap:SentenceBleu", {}),
    "evidence_overlap": ("generation_overlap:EvidenceOverlapFaithfulness", {}),
    "assertion_pass": ("generation_assertions:AssertionPass", {}),
    # robustness
    "refusal_correctness": ("robustness:RefusalCorrectness", {}),
    "negative_rejection": ("robustness:NegativeRejectionRate", {}),
    # latency
    "mean_latency": ("additional:MeanLatency", {}),
    "quantile_latency": ("additional:QuantileLatency", {}),
    "p{percent}_latency": ("additional:PercentileLatency", {}),
}

ALWAYS = ("empty_result_rate", "mean_latency", "p50_latency", "p95_latency")
"""Measured in every run because they cost nothing, so gates may name them without listing them."""
