"""Judged, unjudged, noise, candidates and repeats."""

from __future__ import annotations

import pytest

from pytest_auepora.core.metrics_base import Measurement
from pytest_auepora.core.types import Document, EvaluationSample, id_of_text
from pytest_auepora.metrics.retrieval_judged import (
    RBP,
    BPref,
    DocumentNoiseAtK,
    DuplicateRateAtK,
    JudgedAtK,
    RetrievalAccuracy,
    RPrecision,
)

from .rankings import doc, got, graded, score, wants
from .samples import is_na, reason

GOLD = wants(*graded(a=1, b=2, n=0, m=0))
RANKED = got("x n a m y b")


def test_judged() -> None:
    assert [score(JudgedAtK(k), GOLD, RANKED) for k in (1, 2, 4, 6, 50)] == [0, 1 / 2, 3 / 4, 4 / 6, 4 / 6]
    assert reason(JudgedAtK(5), GOLD, got()) == "nothing returned"
    assert is_na(JudgedAtK(5), wants(), RANKED)
    assert reason(JudgedAtK(5), EvaluationSample("s", "q"), RANKED) == "no relevant_docs"
    assert score(JudgedAtK(2), wants(*graded(n=0)), RANKED) == 1 / 2


def test_candidates_are_judged() -> None:
    sample = EvaluationSample("s", "q", [Document("a")], [Document("x"), Document("y")])
    assert score(JudgedAtK(6), sample, RANKED) == 3 / 6


def test_judged_documents() -> None:
    outputs = got(doc("A#1", document_id="A"), "x")
    assert score("judged@2_doc", wants("A"), outputs) == 1 / 2
    assert score("judged@2", wants("A"), outputs) == 0.0


def test_bpref() -> None:
    assert score(BPref(), GOLD, RANKED) == ((1 - 1 / 2) + (1 - 2 / 2)) / 2
    assert score(BPref(), GOLD, got("a b n m")) == 1.0
    assert score(BPref(), GOLD, got("n n a")) == (1 - 1 / 2) / 2, "a repeated non-relevant document counts once"
    assert is_na(BPref(), wants("a"), RANKED)
    assert score(BPref(), wants(*graded(x=-1, a=1, n=0)), got("x a n")) == 1.0, "as in trec_eval -1 is not judged"
    assert score(BPref(), wants(*graded(x=-1, a=1)), got("x a")) == 1.0
    assert score("judged@2", wants(*graded(x=-1, a=1)), got("x a")) == 0.5
    assert is_na(BPref(), wants(*graded(n=0)), RANKED)


def test_rank_biased_precision() -> None:
    seen = RBP().measure(GOLD, RANKED)
    assert isinstance(seen, Measurement)
    assert seen.value == pytest.approx(0.2 * (0.8**2 + 0.8**5))
    assert seen.details["residual"] == pytest.approx(0.2 * (1 + 0.8**4) + 0.8**6)
    empty = RBP(0.5).measure(GOLD, got())
    assert empty == Measurement(0.0, details={"residual": 1.0})
    assert is_na(RBP(), wants(*graded(n=0)), RANKED)


def test_precision_at_r() -> None:
    assert score(RPrecision(), GOLD, RANKED) == 0.0
    assert RPrecision().measure(GOLD, got("b x a")) == Measurement(0.5, details={"missed": ["a"]})


def test_duplicates() -> None:
    outputs = got("a b a a c b")
    assert [score(DuplicateRateAtK(k), GOLD, outputs) for k in (1, 2, 3, 6, 9)] == [0, 0, 1 / 3, 3 / 6, 3 / 6]
    seen = DuplicateRateAtK(9).measure(EvaluationSample("s", "q"), outputs)
    assert isinstance(seen, Measurement)
    assert seen.details == {"repeated": ["a", "b"]}
    assert reason(DuplicateRateAtK(3), GOLD, got()) == "nothing returned"


def test_retrieval_accuracy() -> None:
    sample = EvaluationSample("s", "q", [Document("a"), Document("b")], [Document(i) for i in "abcde"])
    seen = RetrievalAccuracy().measure(sample, got("a c x"))
    assert seen == Measurement(3 / 5, details={"tp": 1, "tn": 2, "fp": 1, "fn": 1})
    assert score(RetrievalAccuracy(1), sample, got("a c x")) == 4 / 5
    assert score(RetrievalAccuracy(), sample, got("a b")) == 1.0
    assert score(RetrievalAccuracy(), EvaluationSample("s", "q", [], [Document("a")]), got("a")) == 0.0
    assert reason(RetrievalAccuracy(), EvaluationSample("s", "q", [Document("a")]), got("a")) == "no candidate_docs"
    assert (
        reason(RetrievalAccuracy(), EvaluationSample("s", "q", None, [Document("a")]), got("a")) == "no relevant_docs"
    )
    assert RetrievalAccuracy().required_fields() == ["relevant_docs", "candidate_docs"]


def test_a_candidate_that_holds_the_quote_is_relevant() -> None:
    candidates = [doc("c1", "the words", document_id="d"), doc("c2", "others", document_id="d")]
    sample = EvaluationSample("s", "q", [doc("d", "the words", match="quote")], candidates)
    assert score(RetrievalAccuracy(), sample, got(candidates[0])) == 1.0
    assert score(RetrievalAccuracy(), sample, got(candidates[1])) == 0.0


def test_document_noise() -> None:
    assert score(DocumentNoiseAtK(3), GOLD, RANKED) == 1 / 3
    named = wants("a", labels={"noise_docs": ["x", "y"]})
    assert DocumentNoiseAtK(5).measure(named, RANKED) == Measurement(2 / 5, details={"noise": ["x", "y"]})
    assert score(DocumentNoiseAtK(1), wants("a", labels={"noise_docs": "x"}), RANKED) == 1.0
    written = wants("a", labels={"noise_docs": [{"id": "x", "text": "of x"}, {"text": "of z"}, "of y"]})
    assert score(DocumentNoiseAtK(5), written, got("x", doc(id_of_text("of z")), doc(id_of_text("of y")), "a")) == 3 / 4
    assert reason(DocumentNoiseAtK(5), wants("a"), RANKED).startswith("no noise_docs")
    assert reason(DocumentNoiseAtK(5), GOLD, got()) == "nothing returned"


@pytest.mark.parametrize("metric", [JudgedAtK(3), BPref(), RBP(), RPrecision(), RetrievalAccuracy()])
def test_direction(metric: JudgedAtK) -> None:
    assert (metric.direction, metric.range) == ("higher", (0.0, 1.0))


@pytest.mark.parametrize("metric", [DuplicateRateAtK(3), DocumentNoiseAtK(3)])
def test_lower_is_better(metric: DuplicateRateAtK) -> None:
    assert (metric.direction, metric.worst) == ("lower", 1.0)
