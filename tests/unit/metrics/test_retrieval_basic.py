"""Recall, precision, hit rate and empty results on rankings one can follow by eye."""

from __future__ import annotations

import pytest

from pytest_auepora.core.metrics_base import Measurement, NotApplicable
from pytest_auepora.core.scoring import aggregate, score_case
from pytest_auepora.core.types import EvaluationSample
from pytest_auepora.metrics.retrieval_basic import EmptyResultRate, HitRateAtK, PrecisionAtK, RecallAtK

from .rankings import REGISTRY, doc, got, graded, score, wants
from .samples import is_na, reason

A_C = wants("a c e")
RANKED = got("a b c d")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("recall@1", 1 / 3), ("recall@3", 2 / 3), ("recall@9", 2 / 3), ("recall@1[capped=true]", 1.0),
        ("recall@2[capped=true]", 1 / 2), ("recall@9[capped=true]", 2 / 3),
        ("precision@1", 1.0), ("precision@2", 1 / 2), ("precision@4", 2 / 4), ("precision@10", 2 / 10),
        ("precision@10[denominator=returned]", 2 / 4), ("precision@2[denominator=returned]", 1 / 2),
        ("hit@1", 1.0), ("hit@3", 1.0),
    ],
)  # fmt: skip
def test_by_eye(name: str, expected: float) -> None:
    assert score(name, A_C, RANKED) == expected


@pytest.mark.parametrize("name", ["recall@5", "precision@5", "precision@5[denominator=returned]", "hit@5"])
def test_nothing_returned_is_zero(name: str) -> None:
    assert score(name, A_C, got()) == 0.0


@pytest.mark.parametrize("name", ["recall@5", "precision@5", "hit@5", "recall@5_doc"])
def test_why_there_is_no_score(name: str) -> None:
    metric = REGISTRY.get(name)
    assert reason(metric, EvaluationSample("s", "q"), RANKED) == "no relevant_docs"
    assert is_na(metric, wants(), RANKED)
    assert metric.required_fields() == ["relevant_docs"]


def test_grade_0_is_not_relevant() -> None:
    assert score("recall@5", wants(*graded(a=0, b=2)), RANKED) == 1.0
    assert score("precision@1", wants(*graded(a=0, b=2)), RANKED) == 0.0


def test_what_was_missed_is_said() -> None:
    seen = RecallAtK(1).measure(A_C, RANKED)
    assert isinstance(seen, Measurement)
    assert seen.details == {"missed": ["c", "e"]}
    full = RecallAtK(3).measure(wants("a c"), RANKED)
    assert isinstance(full, Measurement)
    assert full.details == {"missed": []}


def test_the_rank_of_the_first_hit_is_said_beyond_the_cut() -> None:
    seen = HitRateAtK(1).measure(wants("c"), RANKED)
    assert seen == Measurement(0.0, details={"rank": 3})
    assert HitRateAtK(1).measure(wants("z"), RANKED) == Measurement(0.0, details={"rank": None})


def test_repeats_never_lift_a_score_above_one() -> None:
    assert score("recall@3", wants("a"), got("a a a")) == 1.0
    assert score("precision@3", wants("a"), got("a a a")) == 1 / 3
    assert score("precision@3[duplicates=collapse]", wants("a b"), got("a a a b")) == 2 / 3


def test_documents_of_chunks() -> None:
    chunks = [doc("A#1", document_id="A"), doc("B#1", document_id="B"), doc("A#2", document_id="A")]
    sample = wants("A B C")
    assert score("recall@5", sample, got(*chunks)) == 0.0
    assert score("recall@5_doc", sample, got(*chunks)) == 2 / 3
    assert score("recall@1_doc", sample, got(*chunks)) == 1 / 3
    assert score("precision@3_doc", sample, got(*chunks)) == 2 / 3
    assert score("precision@3_doc[duplicates=collapse,denominator=returned]", sample, got(*chunks)) == 1.0


def test_a_chunk_with_all_passages_is_full_recall() -> None:
    sample = wants(doc("d", "one", match="quote"), doc("d", "two", match="quote"))
    outputs = got(doc("c", "one two", document_id="d"))
    assert score("recall@1", sample, outputs) == 1.0
    assert score("recall@1[capped=true]", sample, outputs) == 1.0
    assert score("precision@1", sample, outputs) == 1.0


def test_empty_results() -> None:
    assert score("empty_result_rate", EvaluationSample("s", "q"), got()) == 1.0
    assert score("empty_result_rate", wants(), got("a")) == 0.0
    assert EmptyResultRate().direction == "lower"
    assert EmptyResultRate().worst == 1.0


def test_compute_counts_what_it_left_out() -> None:
    samples = [wants("a"), wants("z"), wants(), EvaluationSample("s", "q")]
    result = PrecisionAtK(1).compute(samples, [got("a b")] * 4)
    assert (result.name, result.value) == ("precision@1", 0.5)
    assert result.details == {"num_samples": 2, "num_skipped": 2, "skipped_empty_gold": 2}
    nothing = RecallAtK(5).compute([wants()], [got("a")])
    assert (nothing.value, nothing.details["num_samples"]) == (0.0, 0)
    with pytest.raises(AssertionError, match="recall@5: 1 samples but 2 outputs"):
        RecallAtK(5).compute([wants()], [got("a"), got("b")])


def test_states_in_a_run() -> None:
    metric = RecallAtK(5)
    cases = [(wants("a"), got("a")), (wants(), got("a")), (wants(doc("a", grade=0.5)), got("a"))]
    scores = [score_case([metric], *case)["recall@5"] for case in cases]
    assert [s.state for s in scores] == ["number", "n/a", "error"]
    assert all(part in scores[2].reason for part in ("MetricError", "'a'", "0.5"))
    told = aggregate(metric, scores)
    assert (told.value, told.gated, told.n, told.n_na, told.n_error) == (1.0, 0.5, 1, 1, 1)


def test_n_a_is_a_state_of_its_own() -> None:
    assert isinstance(RecallAtK(1).measure(wants(), got()), NotApplicable)
