"""Why a metric has nothing to say about a case, or what it notes with a score, in the words that reports show."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_auepora.core.types import Document, EvaluationSample, Response, SystemOutputs
from pytest_auepora.metrics.generation_llm_judge import BASELINE_ANSWER, LLMCritic
from pytest_auepora.metrics.registry import Registry

from .samples import REFUSAL, case, gave, note_of, reason

REFUSED = gave(REFUSAL, "text")
BARE = gave("a 4", Document("d"))
NUGGET = {"any_of": ["x"], "importance": "okay"}
CLAIMS: dict[str, list[Any]] = {"answer_by_chunks": [], "answer_by_reference": []}


class AsksNothing(LLMCritic):
    def score(self, **_: Any) -> float:
        raise AssertionError("nothing is asked")


def after(accepted: str) -> SystemOutputs:
    outputs = gave("x")
    outputs.memo[BASELINE_ANSWER] = accepted
    return outputs


def reported(**extra: Any) -> SystemOutputs:
    return SystemOutputs([], Response("x"), extra=extra)


@pytest.mark.parametrize(
    ("metric", "sample", "outputs", "why"),
    [
        ("rougeL[compare_to=query]", case(query=" "), gave("x"), "the query is empty"),
        ("token_f1", case(), gave("x"), "no reference_answer"),
        ("token_f1", case(" "), gave("x"), "reference_answer is empty"),
        ("exact_match", case("A"), gave(),
         "nothing is left of reference_answer once punctuation and articles are gone"),
        ("assertion_pass", case(must_contain="x", relevant=[]), gave("x"), "a refusal is expected"),
        ("nugget_recall", case(nuggets=[NUGGET]), gave("x"), "no vital nugget"),
        ("information_integration", case(nuggets=["x"]), gave("x"), "only one nugget: take nugget_recall"),
        ("unsupported_numbers", case(), gave("none", "text"), "no number in the answer"),
        ("unsupported_numbers", case(), gave(""), "no answer"),
        ("unsupported_numbers", case(), BARE, "the retrieved documents carry no text"),
        ("k_precision[relevant]", case(relevant=["d"]), gave("x"), "the relevant documents carry no text"),
        ("distinct_3", case(), gave("a b"), "the answer has fewer than 3 words"),
        ("intra_list_diversity@5", case(), gave("x", "one"), "fewer than two documents returned"),
        ("recall@5", case(), gave("x"), "no relevant_docs"),
        ("recall@5", case(relevant=[]), gave("x"), "nothing relevant: a refusal is expected"),
        ("recall@5", case(relevant=[], expect="answer"), gave("x"), "nothing relevant"),
        ("judged@5", case(relevant=[]), gave("x"), "nothing relevant and no judgment"),
        ("bpref", case(relevant=["d"]), gave("x"), "no document is judged not relevant"),
        ("span_recall", case(relevant=["d"]), gave("x"), "no gold quote or span"),
        ("citation_coverage", case(), REFUSED, "not a grounded answer"),
        ("refusal_correctness", case(relevant=["d"]), gave("x"), "not a refusal case"),
        ("over_refusal", case(relevant=[]), gave("x"), "not a case to be answered"),
        ("mistake_reappearance", case(), gave("x"), "no mistakes are planted"),
        ("error_correction", case("x", mistakes=["y"]), gave("x"), "no error was pointed out"),
        ("error_rate_per_1k", case(), reported(status=499), "aborted by the client"),
        ("timeout_rate[500]", case(), gave("x"), "no timing 'end_to_end'"),
        ("retries", case(), gave("x"), "attempts were not counted"),
        ("tool_success_rate", case(), gave("x"), "no tool was called"),
        ("cpu_percent", case(), gave("x"), "no sample of resources"),
        ("mean_tokens", case(), gave("x"), "the system reported no usage"),
        ("mean_tokens", case(), reported(usage=[{"model": "m"}]), "1 of 1 model calls counted no tokens"),
        ("mean_cost", case(), reported(usage=[{"model": "m"}]), "no token count of m"),
        ("redaction_efficacy", case(), gave("x"), "no sensitive items"),
        ("secure_field_bypass", case(), gave("x"), "no secure field is marked"),
        ("topical_precision@3", case(), gave("x"), "no chunk is labelled"),
        ("on_topic", case(answer_labels={"answer": "y"}), gave("x"), "label is for another answer"),
        (
            "on_topic", case(answer_labels={"answer": "x", "helpful": True}), gave("x"),
            "there is no label that says whether the answer is response_on_topic",
        ),
        (
            "conditional_fabrication", case(answer_labels={"answer": "x", "source_cited": False}), gave("x"),
            "the answer cites nothing",
        ),
        ("faithfulness[given]", case(), REFUSED, "a refusal makes no claim"),
        ("claim_recall[given]", case(), gave("x"), "neither claims nor reference_answer"),
        ("claim_precision[given]", case("x"), gave("x", metadata={"claims": CLAIMS}), "the answer makes no claim"),
        ("context_precision[given]", case(claims=["x"]), gave("x", metadata={"claims": {"reference_by_chunks": [[]]}}),
         "nothing was retrieved"),
        ("citation_precision[given]", case(), gave("A fact.", metadata={"citations": ["a"]}),
         "citations belong to the whole answer, not to its sentences: mark them as [1]"),
        ("llm_faithfulness", case(), REFUSED, "a refusal makes no claim"),
        ("preference", case(), gave("x"), "the baseline's answer is not kept"),
        ("preference", case(), after("x "), "the same answer as the baseline's"),
        ("preference", case("x"), gave("x"), "there is a reference_answer"),
        ("sliced[recall@5,tag:a]", case(relevant=["d"]), gave("x"), "outside the slice"),
        ("misleading_rate", case("x", variant_of="a", scenario="typo"), gave("x"), "a variant of scenario 'typo'"),
    ],
)  # fmt: skip
def test_a_case_without_a_score_says_why(
    metric: str, sample: EvaluationSample, outputs: SystemOutputs, why: str
) -> None:
    registry = Registry()
    registry.give(critic=AsksNothing())
    assert reason(registry.get(metric), sample, outputs) == why


@pytest.mark.parametrize(
    ("metric", "sample", "outputs", "note"),
    [
        ("token_f1", case("x"), gave(" "), "the answer is empty"),
        ("chrf", case("x"), gave(" "), "the answer is empty"),
        ("k_precision", case(), gave(" ", "text"), "the answer is empty"),
        ("embedding_similarity", case("x"), gave(" "), "the answer is empty"),
        ("llm_answer_quality", case(), gave(" "), "the answer is empty"),
        ("assertion_pass", case(must_contain="x"), gave(" "), "the answer is empty"),
        ("k_precision", case(), gave("x"), "nothing was retrieved"),
        ("evidence_overlap", case(), gave("x"), "nothing was retrieved"),
        ("evidence_overlap", case(), gave("!", "text"), "the answer has no word"),
        ("rougeL", case("x"), gave("!"), "the answer has no word that the tokenizer knows"),
        ("rouge", case("x"), gave("x"), "a reference of one word has no bigram: rouge2 is 0 whatever the answer"),
    ],
)
def test_a_score_that_says_little_notes_why(
    metric: str, sample: EvaluationSample, outputs: SystemOutputs, note: str
) -> None:
    registry = Registry()
    registry.give(critic=AsksNothing())
    assert note_of(registry.get(metric), sample, outputs) == note
