"""Which metrics there are: spelling → module:class.  Separate from the classes: to know a name costs no import."""

from __future__ import annotations

SPELLINGS = {
    # retrieval
    "recall@{k}": "retrieval_basic:RecallAtK",
    "precision@{k}": "retrieval_basic:PrecisionAtK",
    "hit@{k}": "retrieval_basic:HitRateAtK",
    "empty_result_rate": "retrieval_basic:EmptyResultRate",
    "mrr": "retrieval_ranking:MRRAtK",
    "mrr@{k}": "retrieval_ranking:MRRAtK",
    "map": "retrieval_ranking:MeanAveragePrecision",
    "map@{k}": "retrieval_ranking:MeanAveragePrecision",
    "ndcg@{k}": "retrieval_ranking:NDCGAtK",
    # retrieval, as far as it is judged
    "judged@{k}": "retrieval_judged:JudgedAtK",
    "bpref": "retrieval_judged:BPref",
    "r_precision": "retrieval_judged:RPrecision",
    "rbp": "retrieval_judged:RBP",
    "duplicate_rate@{k}": "retrieval_judged:DuplicateRateAtK",
    "retrieval_accuracy": "retrieval_judged:RetrievalAccuracy",
    "retrieval_accuracy@{k}": "retrieval_judged:RetrievalAccuracy",
    "document_noise@{k}": "retrieval_judged:DocumentNoiseAtK",
    # passages, entities, citations
    "span_recall": "coverage:SpanRecall",
    "span_recall@{k}": "coverage:SpanRecall",
    "span_precision": "coverage:SpanPrecision",
    "span_precision@{k}": "coverage:SpanPrecision",
    "span_iou": "coverage:SpanIoU",
    "span_iou@{k}": "coverage:SpanIoU",
    "coverage_entities": "coverage:CoverageEntities",
    "coverage_entities@{k}": "coverage:CoverageEntities",
    "citation_coverage": "coverage:CitationCoverage",
    # generation, by overlap
    "exact_match": "generation_overlap:ExactMatch",
    "token_f1": "generation_overlap:TokenF1",
    "rouge1": "text.rouge:Rouge1",
    "rouge2": "text.rouge:Rouge2",
    "rougeL": "text.rouge:RougeL",
    "rouge": "text.rouge:RougeScores",
    "rouge1_answer": "text.rouge:Rouge1",
    "rouge2_answer": "text.rouge:Rouge2",
    "rougeL_answer": "text.rouge:RougeL",
    "bleu": "text.bleu:BleuScore",
    "sentence_bleu": "text.bleu:SentenceBleu",
    "evidence_overlap": "generation_overlap:EvidenceOverlapFaithfulness",
    "assertion_pass": "text.assertions:AssertionPass",
    "chrf": "text.bleu:Chrf",
    "answer_recall": "generation_overlap:AnswerRecall",
    "contains_answer": "generation_overlap:ContainsAnswer",
    "nugget_recall": "text.assertions:NuggetRecall",
    "information_integration": "text.assertions:InformationIntegration",
    "k_precision": "generation_overlap:KPrecision",
    "unsupported_numbers": "text.numbers:UnsupportedNumbers",
    "bertscore": "generation_semantic:BertScoreMetric",
    "embedding_similarity": "generation_semantic:EmbeddingSimilarity",
    "llm_faithfulness": "generation_llm_judge:LLMFaithfulnessScore",
    "llm_groundedness": "generation_llm_judge:LLMGroundedness",
    "llm_answer_quality": "generation_llm_judge:LLMAnswerQuality",
    "rubric": "judge.measures:Rubric",
    "answer_relevancy": "judge.measures:AnswerRelevancy",
    "preference": "judge.measures:Preference",
    "json_schema_valid": "text.assertions:JsonSchemaValid",
    # claims against evidence, by a judge, an NLI model or a matrix that is given
    "faithfulness": "claims.measures:Faithfulness",
    "claim_precision": "claims.measures:ClaimPrecision",
    "claim_recall": "claims.measures:ClaimRecall",
    "claim_f1": "claims.measures:ClaimF1",
    "answer_correctness": "claims.measures:AnswerCorrectness",
    "context_recall": "claims.measures:ContextRecall",
    "context_precision": "claims.measures:ContextPrecision",
    "context_utilization": "claims.measures:ContextUtilization",
    "noise_sensitivity_in_relevant": "claims.measures:NoiseSensitivityInRelevant",
    "noise_sensitivity_in_irrelevant": "claims.measures:NoiseSensitivityInIrrelevant",
    "hallucination": "claims.measures:Hallucination",
    "self_knowledge": "claims.measures:SelfKnowledge",
    "citation_recall": "claims.citations:CitationRecall",
    "citation_precision": "claims.citations:CitationPrecision",
    # labels
    "topical_precision@{k}": "annotation.measures:TopicalPrecisionAtK",
    "sufficiency_hit@{k}": "annotation.measures:SufficiencyHitAtK",
    "sufficiency_rate@{k}": "annotation.measures:SufficiencyRateAtK",
    "misleading_rate@{k}": "annotation.measures:MisleadingRateAtK",
    "label_mrr@{k}": "annotation.measures:LabelMRRAtK",
    "ndcg_labelled@{k}": "annotation.measures:NDCGLabelledAtK",
    "grounding_presence": "annotation.measures:GroundingPresence",
    "unsupported_claim": "annotation.measures:UnsupportedClaim",
    "contradiction": "annotation.measures:Contradiction",
    "citation_presence": "annotation.measures:CitationPresence",
    "conditional_fabrication": "annotation.measures:ConditionalFabrication",
    "proper_action": "annotation.measures:ProperAction",
    "on_topic": "annotation.measures:OnTopic",
    "helpfulness": "annotation.measures:Helpfulness",
    "incompleteness": "annotation.measures:Incompleteness",
    "unsafe_content": "annotation.measures:UnsafeContent",
    # robustness
    "refusal_correctness": "robustness:RefusalCorrectness",
    "negative_rejection": "robustness:NegativeRejectionRate",
    "over_refusal": "robustness:OverRefusal",
    "noise_robustness": "robustness:NoiseRobustness",
    "counterfactual_consistency": "robustness:CounterfactualConsistency",
    "misleading_rate": "robustness:MisleadingRate",
    "mistake_reappearance": "robustness:MistakeReappearance",
    "error_detection": "robustness:ErrorDetection",
    "error_correction": "robustness:ErrorCorrection",
    "sliced": "pairs:SlicedMetric",
    # latency
    "mean_latency": "additional:MeanLatency",
    "quantile_latency": "additional:QuantileLatency",
    "p{percent}_latency": "additional:PercentileLatency",
    # diversity
    "distinct_{n}": "additional:DistinctN",
    "intra_list_diversity@{top_k}": "additional:IntraListDiversity",
    "response_diversity": "additional:ResponseDiversity",
    # operation
    "error_rate_per_1k": "operational:ErrorRatePer1k",
    "timeout_rate": "operational:TimeoutRate",
    "retries": "operational:Retries",
    "cpu_percent": "operational:CpuPercent",
    "memory_mb": "operational:MemoryMb",
    # privacy
    "redaction_efficacy": "privacy:RedactionEfficacy",
    "block_efficacy": "privacy:BlockEfficacy",
    "secure_field_bypass": "privacy:SecureFieldBypass",
}

SPELLINGS |= {
    f"{spelling}_doc": SPELLINGS[spelling]  # with level="doc"
    for spelling in (
        "recall@{k}", "precision@{k}", "hit@{k}", "mrr", "mrr@{k}", "map", "map@{k}", "ndcg@{k}",
        "judged@{k}", "bpref", "r_precision", "rbp",
    )
}  # fmt: skip

PAPER_SPELLINGS = {
    "misleading_context_rate": "misleading_rate",
    "mean_reciprocal_rank": "mrr",
    "mean_average_precision": "map",
    "normalized_discounted_cumulative_gain": "ndcg",
    "hit_rate": "hit",
    **{
        f"{stem}_rate": stem
        for stem in (
            "grounding_presence", "unsupported_claim", "contradiction", "citation_presence", "conditional_fabrication",
            "proper_action", "on_topic", "helpfulness", "incompleteness", "unsafe_content",
        )
    },
}  # fmt: skip
"""Names as papers and the label taxonomy write them, and the spelling each is read as."""

ALWAYS = ("empty_result_rate", "mean_latency", "p50_latency", "p95_latency")
"""Measured in every run because they cost nothing, so gates may name them without listing them."""

SAMPLED = ("cpu_percent", "memory_mb")
"""For these the process is sampled around each call of a suite that lists one."""
