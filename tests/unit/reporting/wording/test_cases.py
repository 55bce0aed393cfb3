"""The one sentence that says what broke: each of these is what a person should read first."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_auepora.core.run import CaseResult
from pytest_auepora.core.scoring import Score
from pytest_auepora.reporting.diagnosis import Diagnosis, diagnose
from pytest_auepora.reporting.wording.cases import causes_text, details_text, diagnosis_text, error_text
from pytest_auepora.reporting.wording.checks import problem_lines

from ..builders import METRICS, Case, judged
from ..test_diagnosis import CASE, MANY, MUST, at_rank


def said(now: Case, before: Case | None = None, **options: Any) -> str:
    result, comparison, infos = judged(now, before, **options)
    diagnosis = diagnose(result, comparison, infos)
    return diagnosis_text(diagnosis, result, infos)


@pytest.mark.parametrize(
    ("now", "before", "text"),
    [
        (CASE.with_(got=at_rank(9)), CASE, "retrieval: refunds.md fell from rank 2 to 9 (recall@5 looks at 5)"),
        (CASE.with_(got=MANY), CASE, "retrieval: refunds.md fell out, was at rank 2 (not among the 12 returned)"),
        (CASE.with_(got=MANY), None, "retrieval: refunds.md was not found (not among the 12 returned)"),
        (CASE.with_(got=at_rank(9)), None, "retrieval: refunds.md is only at rank 9 (recall@5 looks at 5)"),
        (CASE.with_(got=at_rank(9)), CASE.with_(got=at_rank(7)),
         "retrieval: refunds.md is only at rank 9, was 7 (recall@5 looks at 5)"),
        (CASE.with_(got=MANY), CASE.with_(got=MANY),
         "retrieval: refunds.md was again not found (not among the 12 returned)"),
        (CASE.with_(got=[]), CASE, "retrieval: nothing was returned"),
        (CASE.with_(got=["x"]), CASE, "retrieval: refunds.md fell out, was at rank 2 (not the one returned)"),
        (CASE.with_(relevant=["a.md", ("b.md", 2), "c.md"], got=["x", "y"]), None,
         "retrieval: b.md was not found (not among the 2 returned); 2 more documents missed"),
        (CASE.with_(got=["x", "y", "refunds.md"], thresholds={"mrr@10": 0.5}), None,
         "retrieval: the first relevant document is at rank 3 (mrr@10 0.333, wanted >= 0.5)"),
        (CASE.with_(got=["x", "y", "refunds.md"], thresholds={"mrr@10": 0.5}), CASE,
         "retrieval: refunds.md fell from rank 2 to 3 (mrr@10 0.333)"),
    ],
)  # fmt: skip
def test_a_document_is_not_where_it_should_be(now: Case, before: Case | None, text: str) -> None:
    assert said(now, before) == text


def test_too_much_noise() -> None:
    case = CASE.with_(got=["refunds.md", "x", "y"], thresholds={"precision@5": 0.5})
    assert said(case, names=[*METRICS, "precision@5"]) == (
        "retrieval: 1 of the first 5 is relevant (precision@5 0.200, wanted >= 0.5)"
    )


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"answer": "Within two weeks."}, "generation: the document was found, the answer misses '30 days'"),
        ({"answer": "Within 60 days.", "relevant": ["refunds.md", "terms.md"]},
         "generation: the documents were found, the answer misses '30 days' and says '60 days'"),
        ({"answer": "No.", "relevant": ["refunds.md", "a.md"]},
         "generation: 1 of 2 documents were found, the answer misses '30 days'"),
        ({"answer": ""}, "generation: the document was found, the answer is empty"),
        ({"answer": "I don\u2019t know."}, "generation: the document was found, the system refused to answer"),
        ({"answer": "I don't know.", "got": []},
         "retrieval: nothing was returned, and the system refused to answer"),
    ],
)  # fmt: skip
def test_a_bad_answer(changes: dict[str, Any], text: str) -> None:
    assert said(CASE.with_(thresholds={}, labels=MUST, **changes)) == text


def test_an_answer_that_only_scores_low() -> None:
    assert said(CASE.with_(answer="Bananas.", thresholds={"token_f1": 0.5})) == (
        "generation: the document was found, the answer falls short (token_f1 0.000, wanted >= 0.5)"
    )


def test_what_the_documents_do_not_say() -> None:
    case = CASE.with_(answer="Pink elephants dance on purple roofs.", thresholds={"evidence_overlap": 0.5})
    told = said(case, names=["recall@5", "evidence_overlap"])
    assert told.startswith("generation: the document was found, the answer says what the documents do not: '")
    assert "evidence_overlap 0.000, wanted >= 0.5" in told


def test_documents_missing_before_are_told_behind_the_cause() -> None:
    before = CASE.with_(thresholds={}, labels=MUST, got=MANY)
    assert said(before.with_(answer="Within 60 days."), before) == (
        "generation: the answer misses '30 days' and says '60 days'; no relevant document was found, as when accepted"
    )


def test_documents_further_down_are_told_with_the_answer() -> None:
    before = CASE.with_(thresholds={}, labels=MUST, got=["refunds.md", "a", "b"])
    assert said(before.with_(got=["a", "refunds.md", "b"], answer="Hm."), before) == (
        "generation: the document was found at rank 2 (was 1), the answer misses '30 days'"
    )
    two = before.with_(relevant=["refunds.md", "a"])
    assert said(two.with_(got=["a", "b", "refunds.md"], answer="Hm."), two) == (
        "generation: the documents were found, refunds.md at rank 3 (was 1), the answer misses '30 days'"
    )


def test_both_went_wrong() -> None:
    case = CASE.with_(got=MANY, answer="Hm.", labels=MUST)
    assert said(case, CASE.with_(labels=MUST)) == (
        "retrieval: refunds.md fell out, was at rank 2 (not among the 12 returned), and the answer misses '30 days'"
    )


def test_an_answer_where_a_refusal_was_expected() -> None:
    case = Case("ceo", relevant=[], reference=None, answer="A lot.", thresholds={"refusal_correctness": 1})
    assert said(case) == (
        "generation: a refusal was expected, the system answered (refusal_correctness 0.000, wanted >= 1)"
    )


def test_latency() -> None:
    assert said(CASE.with_(seconds=3.0, thresholds={"mean_latency": 2})) == "latency: mean_latency 3.00 s, wanted <= 2"


def test_an_assertion_that_fails_still_is_named() -> None:
    case = Case("a", answer="Never.", labels={"must_contain": ["30 days"]})
    assert said(case, case) == "generation: the document was found, the answer misses '30 days'"


def test_a_long_quotation_is_cut_to_a_line() -> None:
    told = said(CASE.with_(answer="No.", labels={"must_contain": ["so many\nwords " * 30]}, thresholds={}))
    assert "\n" not in told
    assert len(told) < 160


def test_causes_are_counted_the_most_frequent_first() -> None:
    refused, lost = Diagnosis("generation", "refused"), Diagnosis("retrieval", "document lost")
    both = Diagnosis("retrieval", "nothing returned", answer="refused")
    assert causes_text([lost, refused, both, None]) == "2 refused to answer, 1 lost a document"
    others = [Diagnosis("latency", "slow"), Diagnosis("error", "raised")]
    assert (
        causes_text([refused, refused, lost, *others])
        == "2 refused to answer, 1 lost a document, 1 took longer, 1 more"
    )


def test_details_in_words() -> None:
    assert details_text(Score("number", 0.5, details={"missed": ["a", "b", "c", "d"]})) == "missed a, b, c and 1 more"
    assert details_text(Score("number", 0.0, details={"missing": ["x"], "forbidden_present": ["y"]})) == (
        "misses 'x'; says 'y'"
    )
    assert details_text(Score("number", 0.0, details={"leaked": ["a.md", "b.md"]})) == "returned a.md, b.md"
    assert details_text(Score("number", 0.0, details={"problems": ["no key a"]})) == "breaks its schema: 'no key a'"
    assert details_text(Score("number", 0.0, details={"rank": None})) == "no hit"
    assert details_text(Score("number", 0.0, details={"of": 3, "wrong": ["z"]})) == "wrong: 'z'"
    assert details_text(Score("number", 0.3, details={"rank": 3})) == "first hit at rank 3"
    assert details_text(Score("number", 0.0, details={"note": "the answer is empty"})) == "the answer is empty"
    assert details_text(Score("error", reason="KeyError: 'x'")) == "error: KeyError: 'x'"
    assert details_text(Score("number", 1.0)) == ""


LEAKED = CASE.with_(thresholds={}, labels={"forbidden_docs": [{"doc": "terms.md"}]})


def test_a_leak_is_named_before_all_else() -> None:
    names = [*METRICS, "no_leak"]
    assert said(LEAKED.with_(got=["refunds.md"]), names=names) == ""
    assert said(LEAKED.with_(answer="No.", thresholds={"token_f1": 0.9}), names=names) == (
        "retrieval: returned terms.md, which forbidden_docs forbids"
    )
    result, comparison, infos = judged(LEAKED, LEAKED.with_(got=["refunds.md"]), names=names)
    assert problem_lines(result, infos) == [
        "forbidden_docs: returned terms.md", "held in 2 of 2 accepted answers, failed 1 of 1 today"
    ]  # fmt: skip
    assert comparison is not None


@pytest.mark.parametrize("name", ["redaction_efficacy", "block_efficacy"])
def test_a_sensitive_item_in_the_answer_is_no_leaked_document(name: str) -> None:
    case = CASE.with_(answer="Call +49 170 123.", labels={"sensitive": ["+49 170 123"]}, thresholds={name: 1})
    result, _, _ = judged(case, names=[name])
    assert said(case, names=[name]) == f"system: {name} 0.000, wanted >= 1"
    assert details_text(result.scores[name]) == "leaks sensitive items: 1"


@pytest.mark.parametrize(
    ("counts", "text"),
    [({}, ""), ({"attempts": 3}, " (3 attempts)"), ({"errored": 1, "repeats": 2}, " (in 1 of 2 repeats)")],
)
def test_an_error_says_how_often_it_was_met(counts: dict[str, Any], text: str) -> None:
    case = CaseResult("a", "error", error="IOError: 503\n  File …", **counts)
    assert error_text(case) == f"IOError: 503{text}"
    diagnosis = diagnose(case, None, {})
    assert diagnosis is not None
    assert diagnosis_text(diagnosis, case, {}) == f"error: IOError: 503{text}"
