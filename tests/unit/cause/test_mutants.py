"""What each kind of change makes of an answer, and of nothing else."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from pytest_auepora.cause.mutants import KINDS, REFUSAL, Kind, Mutator, Recorded
from pytest_auepora.core.types import Document, EvaluationSample, Response, RetrievedDocument, SystemOutputs
from pytest_auepora.io.golden.model import GoldenCase
from pytest_auepora.metrics.refusal import is_refusal


def recorded(
    name: str, relevant: list[str] | None, found: list[str], answer: str = "It is 30 days from purchase.", **labels: Any
) -> Recorded:
    documents = None if relevant is None else [Document(doc) for doc in relevant]
    sample = EvaluationSample(name, f"What of {name}?", documents, None, Response("30 days"), labels)
    hits = [RetrievedDocument(Document(f"{doc}#1", f"What {doc} says", {"document_id": doc}), 1.0, rank)
            for rank, doc in enumerate(found, 1)]  # fmt: skip
    outputs = SystemOutputs(hits, Response(answer, metadata={"refused": False, "citations": [1]}), {"end_to_end": 0.1})
    return Recorded(GoldenCase(sample, cluster=name), [outputs, outputs])


CASES = {
    "a": recorded("a", ["refunds#1"], ["terms", "refunds", "index"]),
    "b": recorded("b", ["refunds#1"], ["refunds"], "Within 30 days", must_contain=["30 Days"]),
    "c": recorded("c", None, ["index", "terms"], "Nobody knows."),
    "d": recorded("d", [], [], "I don't know."),
}


DROPPED: Kind = "best document dropped"
OTHER: Kind = "another case's answer"


def mutant(kind: Kind, case_id: str, broken: list[str] | None = None) -> SystemOutputs | None:
    mutator = Mutator(kind, CASES)
    keys = mutator.keys(broken or [case_id], Random(0))
    return mutator.mutant(case_id, 0, keys[case_id]) if case_id in keys else None


def ids(outputs: SystemOutputs | None) -> list[str]:
    assert outputs is not None
    assert [hit.rank for hit in outputs.retrieved] == list(range(1, len(outputs.retrieved) + 1))
    return [hit.doc.doc_id for hit in outputs.retrieved]


def test_the_best_relevant_document_is_dropped() -> None:
    assert ids(mutant(DROPPED, "a")) == ["terms#1", "index#1"]
    assert ids(mutant(DROPPED, "c")) == ["terms#1"]  # without labels, the first
    assert mutant(DROPPED, "d") is None


def test_what_is_not_in_the_index_is_missing_for_every_case() -> None:
    mutator = Mutator("stale index", CASES)
    assert mutator.targets == ["a", "b", "c"]
    assert mutator.keys(["a"], Random(0)) == {"a": ("refunds",), "b": ("refunds",)}
    assert ids(mutant("stale index", "b", ["a"])) == []


def test_half_of_each_text_is_left() -> None:
    cut = mutant("texts cut", "b")
    assert cut is not None
    assert [hit.doc.text for hit in cut.retrieved] == ["What ref"]


def test_another_order_is_another_one() -> None:
    assert sorted(ids(mutant("order shuffled", "a"))) == ["index#1", "refunds#1", "terms#1"]
    assert ids(mutant("order shuffled", "a")) != ["terms#1", "refunds#1", "index#1"]
    assert mutant("order shuffled", "b") is None


def test_a_refusal_says_so_and_keeps_no_marks_of_the_answer() -> None:
    refusal = mutant("refusals", "a")
    assert refusal is not None
    assert is_refusal(refusal) is True
    assert refusal.response.metadata == {"refused": True}


def test_a_refusal_that_nobody_marks_is_told_by_its_words() -> None:
    silent = recorded("s", [], ["terms"])
    for outputs in silent.answers:
        assert outputs is not None
        outputs.response.metadata.clear()
    refusal = Mutator("refusals", {"s": silent}).mutant("s", 0, ())
    assert refusal is not None
    assert refusal.response.metadata == {}
    assert is_refusal(refusal) is True


@pytest.mark.parametrize(
    ("case_id", "left"), [("a", "It is from purchase."), ("b", "Within")], ids=["shared words", "must_contain"]
)
def test_the_fact_is_lost_and_nothing_else(case_id: str, left: str) -> None:
    lost = mutant("lost facts", case_id)
    assert lost is not None
    assert lost.response.text == left
    assert mutant("lost facts", "c") is None


def test_another_answer_is_of_an_independent_case() -> None:
    other = mutant(OTHER, "a")
    assert other is not None
    assert other.response.text in {"Within 30 days", "Nobody knows.", REFUSAL}
    assert "citations" not in other.response.metadata
    one_cluster = {"a": CASES["a"]}
    assert Mutator(OTHER, one_cluster).targets == []


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_recorded_stays_as_it_is(kind: Kind) -> None:
    before = [(ids(one.answers[0]), one.answers[0].response.text) for one in CASES.values() if one.answers[0]]
    mutator = Mutator(kind, CASES)
    for case_id in mutator.targets:
        changed = mutator.mutant(case_id, 1, mutator.keys([case_id], Random(3))[case_id])
        assert changed is not None
        assert changed.timings == {"end_to_end": 0.1}
    assert before == [(ids(one.answers[0]), one.answers[0].response.text) for one in CASES.values() if one.answers[0]]


def test_a_case_that_raised_is_never_broken() -> None:
    raised = Recorded(CASES["a"].case, [None, CASES["a"].answers[0]])
    assert all(Mutator(kind, {"a": raised, "b": CASES["b"]}).targets in ([], ["b"]) for kind in KINDS)
