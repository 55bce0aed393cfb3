"""Metrics say of a case alone why they do not apply, and then say the same of every answer to it."""

from __future__ import annotations

import pytest

from pytest_auepora.core.metrics_base import NotApplicable
from pytest_auepora.core.types import Document, EvaluationSample
from pytest_auepora.metrics.registry import Registry

from ..metrics.samples import case, gave
from ..metrics.test_system_properties import NAMES

REGISTRY = Registry()
CASES = {
    "bare": case(),
    "empty reference": case(" "),
    "reference of articles": case("The!"),
    "reference": case("Within 30 days"),
    "foreign reference": case("三十天之内"),
    "refusal": case("No.", relevant=[], must_contain="30", sensitive=[], nuggets=[], entities=[], mistakes=[]),
    "graded 0": case(relevant=[Document("a", metadata={"grade": 0})]),
    "relevant": case(relevant=["d1"]),
    "quote": case(relevant=[Document("d1", "30 days", {"match": "quote"})]),
    "labels": case(
        "Within 30 days", relevant=["d1"], must_contain="30", forbidden="40", sensitive=["x"], nuggets=["30 days"],
        entities=["days"], mistakes=["40 days"], claims=["It takes 30 days."], answer_schema={}, secure_field=False,
        soft_deadline_ms=100, answer_labels={"answer": "30 days", "helpful": True}, noise_docs=["d2"],
    ),
    "variant": case("Within 30 days", relevant=["d1"], variant_of="a", scenario="other"),
}  # fmt: skip
OUTPUTS = [gave(), gave("30 days", "30 days are left.", "no"), gave("I don't know.")]
_OF_ANSWERS = [NotApplicable("no answer"), NotApplicable("a refusal makes no claim")]
"""Said first where it holds too."""


@pytest.mark.parametrize("name", NAMES)
def test_a_case_that_lacks_something_is_n_a_for_all_answers(name: str) -> None:
    metric = REGISTRY.get(name)
    if metric.judged:
        pytest.skip("needs a judge")
    for title, sample in CASES.items():
        if (reason := metric.not_applicable(sample)) is not None:
            for outputs in OUTPUTS:
                outputs.memo.clear()
                assert metric.measure(sample, outputs) in (reason, *_OF_ANSWERS), title


@pytest.mark.parametrize(
    ("name", "title", "reason"),
    [
        ("recall@5", "bare", "no relevant_docs"),
        ("recall@5", "refusal", "nothing relevant: a refusal is expected"),
        ("mrr", "graded 0", "nothing relevant: a refusal is expected"),
        ("recall@5", "relevant", ""),
        ("span_recall@5", "relevant", "no gold quote or span"),
        ("span_recall@5", "quote", ""),
        ("bpref", "relevant", "no document is judged not relevant"),
        ("rbp", "bare", "no relevant_docs"),
        ("retrieval_accuracy@5", "relevant", "no candidate_docs"),
        ("document_noise@5", "relevant", "no noise_docs, and no document is judged not relevant"),
        ("document_noise@5", "labels", ""),
        ("token_f1", "bare", "no reference_answer"),
        ("token_f1", "empty reference", "reference_answer is empty"),
        ("token_f1", "reference of articles", "nothing is left of reference_answer once punctuation and articles are"),
        ("token_f1", "reference", ""),
        ("rougeL", "foreign reference", "ROUGE's default tokenizer knows a-z and 0-9 only"),
        ("bleu", "foreign reference", "tokenizer 13a cuts at spaces"),
        ("k_precision[relevant]", "bare", "no relevant_docs"),
        ("k_precision[relevant]", "relevant", "the relevant documents carry no text"),
        ("k_precision", "bare", ""),
        ("assertion_pass", "bare", "neither must_contain nor forbidden is set"),
        ("assertion_pass", "refusal", "a refusal is expected"),
        ("json_schema_valid", "bare", "no answer_schema"),
        ("nugget_recall", "bare", "no nuggets"),
        ("information_integration", "labels", "only one nugget: take nugget_recall"),
        ("coverage_entities", "bare", "no entities"),
        ("refusal_correctness", "relevant", "not a refusal case"),
        ("over_refusal", "refusal", "not a case to be answered"),
        ("mistake_reappearance", "bare", "no mistakes are planted"),
        ("error_correction", "bare", "no mistakes are planted"),
        ("noise_robustness[recall@5]", "bare", "no relevant_docs"),
        ("noise_robustness[recall@5]", "variant", "a variant of scenario 'other'"),
        ("sliced[recall@5,scenario:typo]", "relevant", "outside the slice"),
        ("block_efficacy", "bare", "no sensitive items"),
        ("secure_field_bypass", "bare", "no secure field is marked"),
        ("timeout_rate", "bare", "no soft_deadline_ms"),
        ("timeout_rate", "labels", ""),
        ("grounding_presence", "bare", "no answer_labels"),
        ("topical_precision@5", "bare", "no chunk is labelled"),
        ("topical_precision@5", "relevant", ""),
        ("claim_recall", "refusal", "a refusal is expected"),
        ("claim_recall", "bare", "neither claims nor reference_answer"),
        ("faithfulness", "bare", ""),
        ("rubric", "bare", "no rubric"),
        ("preference", "reference", "there is a reference_answer"),
        ("mean_latency", "bare", ""),
        ("empty_result_rate", "bare", ""),
    ],
)
def test_the_reason_is_what_the_case_lacks(name: str, title: str, reason: str) -> None:
    seen = REGISTRY.get(name).not_applicable(CASES[title])
    assert (seen is None) == (not reason)
    assert seen is None or seen.reason.startswith(reason)


def test_a_sample_of_ones_own_lacks_nothing() -> None:
    assert REGISTRY.get("distinct_2").not_applicable(EvaluationSample("1", "q")) is None
