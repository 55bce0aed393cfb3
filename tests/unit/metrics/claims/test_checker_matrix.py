"""Claims that are given: in which forms, what is asked beside them, and what does not fit together."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_auepora.core.types import Document, SystemOutputs
from pytest_auepora.errors import MetricError
from pytest_auepora.metrics.claims.claim_shares import ClaimF1, ClaimPrecision, ClaimRecall, ContextRecall, Faithfulness

from ..samples import REFUSAL, case, gave, is_na, reason, value
from .checkers import ByWords

CHUNKS = ("rent is due", "pets cost money")
RAGCHECKER = {
    "response_claims": [["a", "is", "b"], ["c", "is", "d"]],
    "retrieved2response": [["Entailment", "Neutral"], ["Contradiction", "Neutral"]],
}


def with_claims(claims: Any, answer: str = "Rent is due. Pets are free.") -> SystemOutputs:
    return gave(answer, *CHUNKS, metadata={"claims": claims})


@pytest.mark.parametrize(
    "given",
    [
        {"answer": ["a", "b"], "answer_by_chunks": [[True, False], [False, False]]},
        {"answer_by_chunks": [[True, False], [False, False]]},
        RAGCHECKER,
    ],
)
def test_a_matrix_that_is_given_is_taken(given: Any) -> None:
    beside = gave("Rent.", *CHUNKS)
    beside.extra["claims"] = given
    for outputs in (with_claims(given), beside):
        assert value(Faithfulness("given"), case(), outputs) == 1 / 2
        assert value(Faithfulness(ByWords()), case(), outputs) == 1 / 2
    metric = Faithfulness("given")
    assert (metric.judged, metric.deterministic, metric.name) == (False, True, "faithfulness[checker=given]")


def test_the_keys_of_ragchecker_are_read_beside_the_answer() -> None:
    outputs = gave("Rent.", *CHUNKS)
    outputs.extra = {**RAGCHECKER, "query_id": "0"}
    assert value(Faithfulness("given"), case(), outputs) == 1 / 2


def test_claims_alone_are_checked_without_splitting() -> None:
    for given in (["rent", "rent cake"], {"answer": ["rent", "rent cake"]}):
        checker = ByWords()
        assert value(Faithfulness(checker), case(), with_claims(given)) == 1 / 2
        assert checker.splits == []


def test_claims_of_the_case_are_those_of_the_reference() -> None:
    sample = case("Rent is due, pets cost money.", claims=["rent is due", "pets cost much"])
    checker = ByWords()
    assert value(ContextRecall(checker), sample, gave("x", *CHUNKS)) == 1 / 2
    assert checker.splits == []
    seen = ContextRecall(checker).measure(sample, gave("x", *CHUNKS))
    assert seen.details == {"of": 2, "missed": ["pets cost much"]}  # type: ignore[union-attr]
    assert value(ClaimPrecision(checker), case(claims=["rent is due"]), gave("Rent is due.")) == 1


def test_a_case_is_asked_about_in_one_batch_and_once() -> None:
    checker = ByWords()
    samples = [case("Rent is due. Rent is due."), case("Pets cost money.")]
    outputs = [gave("x", *CHUNKS), gave("y", *CHUNKS)]
    seen = ContextRecall(checker).measure_many(samples, outputs)
    assert [s.value for s in seen] == [1, 1]  # type: ignore[union-attr]
    assert [len(batch) for batch in checker.asked] == [4]
    assert [len(batch) for batch in checker.splits] == [2]
    ContextRecall(checker).measure_many(samples, outputs)
    assert len(checker.asked) == 1


def test_several_references_one_that_supports_is_enough() -> None:
    sample = case(["Rent is due.", "Pets are free."])
    assert value(ClaimPrecision(ByWords()), sample, gave("Rent is due. Pets are free.")) == 1


def test_nothing_to_count_is_not_applicable() -> None:
    checker = ByWords()
    assert reason(Faithfulness(checker), case(), gave(" ", *CHUNKS)) == "no answer"
    assert is_na(Faithfulness(checker), case(), gave(REFUSAL, *CHUNKS))
    assert is_na(Faithfulness(checker), case(), gave("...", *CHUNKS))
    assert is_na(Faithfulness(checker), case(), with_claims([]))
    assert is_na(Faithfulness(checker), case(), gave("Rent.", Document("d")))
    assert is_na(ClaimRecall(checker), case(), gave("Rent."))
    assert is_na(ClaimRecall(checker), case("None.", relevant=[]), gave("Rent."))
    assert checker.asked == []


def test_an_answer_that_is_empty_recalls_nothing_unasked() -> None:
    checker = ByWords()
    assert value(ClaimRecall(checker), case("Rent is due."), gave("")) == 0
    assert value(Faithfulness(checker), case(), gave("Rent is due.")) == 0
    assert checker.asked == []


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("rent", "claims must be a list of claims or a mapping"),
        ({"anser": []}, "no key 'anser' .did you mean 'answer'"),
        ({"answer": "rent"}, "must be a list"),
        ({"answer_by_chunks": [[True]]}, "a row of 1 values, but 2 chunks were retrieved"),
        ({"answer": ["a"], "answer_by_chunks": [[True, True]] * 2}, "2 rows for 1 claims of the answer"),
        ({"answer_by_chunks": [[True, True]], "answer_by_reference": [True, False]}, "2 rows for 1 claims"),
        ({"answer_by_chunks": [[0.7, 0.2]]}, "true or false, got 0.7"),
        ({"answer_by_chunks": [["Maybe", "Neutral"]]}, "true or false, got 'Maybe'"),
    ],
)
def test_what_does_not_fit_is_an_error(given: Any, told: str) -> None:
    with pytest.raises(MetricError, match=told):
        Faithfulness("given").measure(case(), with_claims(given))


def test_given_alone_asks_nobody() -> None:
    with pytest.raises(MetricError, match="the outputs have no claims"):
        Faithfulness("given").measure(case(), gave("Rent is due.", *CHUNKS))


def test_where_neither_side_claims_anything_the_first_is_named() -> None:
    given: dict[str, list[str]] = {"answer": [], "reference": []}
    assert is_na(ClaimF1(ByWords()), case("Rent is due."), with_claims(given))
