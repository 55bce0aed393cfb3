"""The one sentence that says what broke: each of these is what a person should read first."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_auepora.core.run import CaseResult
from pytest_auepora.core.scoring import Score
from pytest_auepora.reporting.diagnosis import Diagnosis, diagnose
from pytest_auepora.reporting.wording.cases import causes_text, details_text, diagnosis_text, error_text, rationales
from pytest_auepora.reporting.wording.checks import problem_lines

from ..builders import METRICS, Case, judged
from ..test_diagnosis import CASE, MANY, MUST, at_rank

MADE_UP = ["sha:0123456789ab", "sha:ba9876543210"]
"""Ids that are made from texts."""


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
        (CASE.with_(got=MADE_UP), None,
         "retrieval: refunds.md was not found (not among the 2 returned); "
         "the documents came without an id, so theirs are made from their texts"),
        (CASE.with_(got=[*MADE_UP, "terms.md"]), None,
         "retrieval: refunds.md was not found (not among the 3 returned)"),
        (CASE.with_(relevant=["Gr\u00f6\u00dfe.md"], got=["Gro\u0308\u00dfe.md"]), None,
         "retrieval: Gr\u00f6\u00dfe.md was not found (not the one returned); the label and an id that was returned "
         r"differ in Unicode form: 'Gr\xf6\xdfe.md' (NFC) and 'Gro\u0308\xdfe.md' (NFD)"),
    ],
)  # fmt: skip
def test_a_document_is_not_where_it_should_be(now: Case, before: Case | None, text: str) -> None:
    assert said(now, before) == text


TOLD = CASE.with_(thresholds={}, labels=MUST)
LATE = TOLD.with_(got=["refunds.md", "a", "b"])
TWO = LATE.with_(relevant=["refunds.md", "a"])


@pytest.mark.parametrize(
    ("now", "before", "text"),
    [
        (TOLD.with_(answer="Within two weeks."), None,
         "generation: the document was found, the answer misses '30 days'"),
        (TOLD.with_(answer="Within 60 days.", relevant=["refunds.md", "terms.md"]), None,
         "generation: the documents were found, the answer misses '30 days' and says '60 days'"),
        (TOLD.with_(answer="No.", relevant=["refunds.md", "a.md"]), None,
         "generation: 1 of 2 documents were found, the answer misses '30 days'"),
        (TOLD.with_(answer=""), None, "generation: the document was found, the answer is empty"),
        (TOLD.with_(answer="I don\u2019t know."), None,
         "generation: the document was found, the system refused to answer"),
        (TOLD.with_(answer="I don't know.", got=[]), None,
         "retrieval: nothing was returned, and the system refused to answer"),
        (CASE.with_(answer="Bananas.", thresholds={"token_f1": 0.5}), None,
         "generation: the document was found, the answer falls short (token_f1 0.000, wanted >= 0.5)"),
        # documents that were missing when accepted are told behind the cause, those further down with the answer
        (TOLD.with_(got=MANY, answer="Within 60 days."), TOLD.with_(got=MANY),
         "generation: the answer misses '30 days' and says '60 days'; "
         "no relevant document was found, as when accepted"),
        (LATE.with_(got=["a", "refunds.md", "b"], answer="Hm."), LATE,
         "generation: the document was found at rank 2 (was 1), the answer misses '30 days'"),
        (TWO.with_(got=["a", "b", "refunds.md"], answer="Hm."), TWO,
         "generation: the documents were found, refunds.md at rank 3 (was 1), the answer misses '30 days'"),
        (CASE.with_(got=MANY, answer="Hm.", labels=MUST), CASE.with_(labels=MUST),
         "retrieval: refunds.md fell out, was at rank 2 (not among the 12 returned), and the answer misses '30 days'"),
        # what fails as it failed when accepted
        (TOLD.with_(answer="Never."), TOLD.with_(answer="Never."),
         "generation: the document was found, the answer misses '30 days'"),
        (Case("ceo", relevant=[], reference=None, answer="A lot.", thresholds={"refusal_correctness": 1}), None,
         "generation: a refusal was expected, the system answered (refusal_correctness 0.000, wanted >= 1)"),
        (CASE.with_(seconds=3.0, thresholds={"mean_latency": 2}), None, "latency: mean_latency 3.00 s, wanted <= 2"),
    ],
)  # fmt: skip
def test_a_bad_answer(now: Case, before: Case | None, text: str) -> None:
    assert said(now, before) == text


LEAKED = CASE.with_(thresholds={}, labels={"forbidden_docs": [{"doc": "terms.md"}]})
CALLED = CASE.with_(answer="Call +49 170 123.", labels={"sensitive": ["+49 170 123"]})


@pytest.mark.parametrize(
    ("name", "now", "text"),
    [
        ("precision@5", CASE.with_(got=["refunds.md", "x", "y"], thresholds={"precision@5": 0.5}),
         "retrieval: 1 of the first 5 is relevant (precision@5 0.200, wanted >= 0.5)"),
        ("evidence_overlap", CASE.with_(answer="Pink elephants dance.", thresholds={"evidence_overlap": 0.5}),
         "generation: the document was found, the answer says what the documents do not: 'pink' and 2 more "
         "(evidence_overlap 0.000, wanted >= 0.5)"),
        ("no_leak", LEAKED.with_(got=["refunds.md"]), ""),
        ("no_leak", LEAKED.with_(answer="No.", thresholds={"token_f1": 0.9}),  # a leak is named before all else
         "retrieval: returned terms.md, which forbidden_docs forbids"),
        # a sensitive item in the answer is no leaked document
        *((name, CALLED.with_(thresholds={name: 1}), f"system: {name} 0.000, wanted >= 1")
          for name in ("redaction_efficacy", "block_efficacy")),
    ],
)  # fmt: skip
def test_what_further_metrics_find(name: str, now: Case, text: str) -> None:
    assert said(now, names=[*METRICS, name]) == text


def test_a_long_quotation_is_cut_to_a_line() -> None:
    told = said(CASE.with_(answer="No.", labels={"must_contain": ["so many\nwords " * 30]}, thresholds={}))
    assert "\n" not in told
    assert len(told) < 160


REFUSED, LOST = Diagnosis("generation", "refused"), Diagnosis("retrieval", "document lost")


@pytest.mark.parametrize(
    ("diagnoses", "text"),
    [
        ([LOST, REFUSED, Diagnosis("retrieval", "nothing returned", answer="refused"), None],
         "2 refused to answer, 1 lost a document"),
        ([REFUSED, REFUSED, LOST, Diagnosis("latency", "slow"), Diagnosis("error", "raised")],
         "2 refused to answer, 1 lost a document, 1 took longer, 1 more"),
    ],
)  # fmt: skip
def test_causes_are_counted_the_most_frequent_first(diagnoses: list[Diagnosis | None], text: str) -> None:
    assert causes_text(diagnoses) == text


@pytest.mark.parametrize(
    ("details", "text"),
    [
        ({"missed": ["a", "b", "c", "d"]}, "missed a, b, c and 1 more"),
        ({"missing": ["x"], "forbidden_present": ["y"]}, "misses 'x'; says 'y'"),
        ({"leaked": ["a.md", "b.md"]}, "returned a.md, b.md"),
        ({"leaked_items": ["1"]}, "leaks sensitive items: 1"),
        ({"problems": ["no key a"]}, "breaks its schema: 'no key a'"),
        ({"rank": None}, "no hit"),
        ({"rank": 3}, "first hit at rank 3"),
        ({"of": 3, "wrong": ["z"]}, "wrong: 'z'"),
        ({"note": "the answer is empty"}, "the answer is empty"),
        ({}, ""),
    ],
)
def test_details_in_words(details: dict[str, Any], text: str) -> None:
    assert details_text(Score("number", 0.0, details=details)) == text


def test_the_details_of_an_error_are_its_reason() -> None:
    assert details_text(Score("error", reason="KeyError: 'x'")) == "error: KeyError: 'x'"


@pytest.mark.parametrize(
    ("details", "said"),
    [
        ({}, []),
        ({"rationale": "too short"}, [("", "too short")]),
        ({"rationale": {"tone": "rude", "length": ""}, "reason": "vague"}, [("tone", "rude"), ("", "vague")]),
        ({"reason": 3}, []),
    ],
)
def test_what_a_judge_says_of_its_score(details: dict[str, Any], said: list[tuple[str, str]]) -> None:
    assert rationales(Score("number", 0.2, details=details)) == said


def test_what_a_leak_fails_is_told_with_its_evidence() -> None:
    result, _, infos = judged(LEAKED, LEAKED.with_(got=["refunds.md"]), names=[*METRICS, "no_leak"])
    assert problem_lines(result, infos) == [
        "forbidden_docs: returned terms.md", "held in 2 of 2 accepted answers, failed 1 of 1 today"
    ]  # fmt: skip


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
