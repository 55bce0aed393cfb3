"""Which metrics there are, and in which module: to know a name costs no import."""

from __future__ import annotations

_MODULES = (
    ("retrieval_basic", "recall@{k} precision@{k} hit@{k} empty_result_rate"),
    ("retrieval_ranking", "mrr mrr@{k} map map@{k} ndcg@{k}"),
    ("retrieval_judged", "judged@{k} bpref r_precision rbp duplicate_rate@{k}"),
    ("retrieval_judged", "retrieval_accuracy retrieval_accuracy@{k} document_noise@{k}"),
    ("coverage", "span_recall span_recall@{k} span_precision span_precision@{k} span_iou span_iou@{k}"),
    ("coverage", "coverage_entities coverage_entities@{k} citation_coverage"),
    ("generation_overlap", "exact_match token_f1"),
    ("text.rouge", "rouge1 rouge2 rougeL rouge rouge1_answer rouge2_answer rougeL_answer"),
    ("text.bleu", "bleu sentence_bleu"),
    ("generation_overlap", "evidence_overlap"),
    ("text.assertions", "assertion_pass"),
    ("text.bleu", "chrf"),
    ("generation_overlap", "answer_recall contains_answer"),
    ("text.assertions", "nugget_recall information_integration"),
    ("generation_overlap", "k_precision"),
    ("text.numbers", "unsupported_numbers"),
    ("generation_semantic", "bertscore embedding_similarity"),
    ("generation_llm_judge", "llm_faithfulness llm_groundedness llm_answer_quality rubric answer_relevancy preference"),
    ("text.assertions", "json_schema_valid"),
    ("claims.claim_shares", "faithfulness claim_precision claim_recall claim_f1 answer_correctness"),
    ("claims.claim_shares", "context_recall context_precision context_utilization"),
    (
        "claims.claim_shares",
        "noise_sensitivity_in_relevant noise_sensitivity_in_irrelevant hallucination self_knowledge",
    ),
    ("claims.claim_shares", "citation_recall citation_precision"),
    ("annotation.labelled", "topical_precision@{k} sufficiency_hit@{k} sufficiency_rate@{k} misleading_rate@{k}"),
    ("annotation.labelled", "label_mrr@{k} ndcg_labelled@{k} grounding_presence unsupported_claim contradiction"),
    ("annotation.labelled", "citation_presence conditional_fabrication proper_action on_topic helpfulness"),
    ("annotation.labelled", "incompleteness unsafe_content"),
    ("robustness", "refusal_correctness negative_rejection over_refusal noise_robustness counterfactual_consistency"),
    ("robustness", "misleading_rate mistake_reappearance error_detection error_correction"),
    ("pairs", "sliced"),
    ("additional", "mean_latency quantile_latency p{percent}_latency"),
    ("additional", "distinct_{n} intra_list_diversity@{top_k} response_diversity"),
    ("service.operational", "error_rate_per_1k timeout_rate retries tool_success_rate cpu_percent memory_mb"),
    ("service.system_usage", "mean_tokens p{percent}_tokens mean_cost total_cost"),
    ("service.privacy", "redaction_efficacy block_efficacy secure_field_bypass"),
    ("service.privacy", "no_leak leak_rate@{k}"),
    ("retrieval_basic", "recall@{k}_doc precision@{k}_doc hit@{k}_doc"),
    ("retrieval_ranking", "mrr_doc mrr@{k}_doc map_doc map@{k}_doc ndcg@{k}_doc"),
    ("retrieval_judged", "judged@{k}_doc bpref_doc r_precision_doc rbp_doc"),
)

SPELLINGS = {spelling: module for module, spellings in _MODULES for spelling in spellings.split()}
"""Every spelling, and the module of the class whose ``stem`` begins with it; ``_doc`` stands for ``level="doc"``."""

PAPER_SPELLINGS = {
    "misleading_context_rate": "misleading_rate",
    "mean_reciprocal_rank": "mrr",
    "mean_average_precision": "map",
    "normalized_discounted_cumulative_gain": "ndcg",
    "hit_rate": "hit",
    "p": "precision",
    "cov_entities": "coverage_entities",
    **{f"{s}_rate": s for s, module in SPELLINGS.items() if module == "annotation.labelled" and "@" not in s},
}
"""Names as papers and the label taxonomy write them, and the spelling each is read as."""

ALWAYS = ("empty_result_rate", "mean_latency", "p50_latency", "p95_latency")
"""Measured in every run because they cost nothing, so gates may name them without listing them."""

SAMPLED = ("cpu_percent", "memory_mb")
"""For these the process is sampled around each call of a suite that lists one."""
