"""The framework as a library: a system of a retriever and a generator, a plan, the evaluator."""

from __future__ import annotations

import pytest

from pytest_auepora.core.dataset import InMemoryDataset
from pytest_auepora.core.plan import EvaluationPlan
from pytest_auepora.core.rag_interface import Generator, RAGSystemProtocol, Retriever, SimpleRAGSystem
from pytest_auepora.core.runner import AueporaEvaluator
from pytest_auepora.core.targets import component_of
from pytest_auepora.core.types import Document, EvaluationSample, Response, RetrievedDocument, TargetCategory
from pytest_auepora.metrics.generation_text import RougeLAnswer
from pytest_auepora.metrics.retrieval_basic import RecallAtK


class Words(Retriever):
    def __init__(self, docs: dict[str, str]) -> None:
        self.docs = docs

    def retrieve(self, query: str, *, top_k: int = 5) -> list[RetrievedDocument]:
        asked = set(query.lower().split())
        found = sorted(self.docs, key=lambda d: (-len(asked & set(self.docs[d].lower().split())), d))
        return [RetrievedDocument(Document(d, self.docs[d]), 1.0 / (i + 1), i + 1) for i, d in enumerate(found)][:top_k]


class First(Generator):
    def generate(self, query: str, context_docs: list[Document]) -> Response:
        return Response(text=context_docs[0].text)


def dataset() -> InMemoryDataset:
    return InMemoryDataset(
        "toy",
        [
            EvaluationSample("1", "red apples", [Document("a", "red apples")], reference_answer=Response("red apples")),
            EvaluationSample("2", "green pears", [Document("b", "green pears"), Document("c")]),
            EvaluationSample("3", "nothing known"),
        ],
    )


SYSTEM = SimpleRAGSystem(Words({"a": "red apples", "b": "green pears", "d": "blue plums"}), First())


def test_the_evaluator_gives_one_result_per_metric() -> None:
    results = AueporaEvaluator(SYSTEM, EvaluationPlan([RecallAtK(k=1), RougeLAnswer()]), top_k=2).evaluate(dataset())
    assert [(r.name, r.target) for r in results] == [
        ("recall@1", TargetCategory.RETRIEVAL_RELEVANCE),
        ("rougeL_answer", TargetCategory.GENERATION_CORRECTNESS),
    ]
    assert results[0].value == pytest.approx(0.75)
    assert results[0].details["num_samples"] == 2
    assert results[1].value == pytest.approx(1.0)
    assert results[1].details == {**results[1].details, "num_samples": 1, "num_skipped": 2}


def test_every_target_belongs_to_a_component() -> None:
    assert {component_of(t) for t in TargetCategory} == {"retrieval", "generation", "system"}


def test_a_simple_system_times_its_parts() -> None:
    timings = SYSTEM.run(EvaluationSample("1", "red"), top_k=1).timings
    assert timings["retrieval"] + timings["generation"] == pytest.approx(timings["end_to_end"])
    assert isinstance(SYSTEM, RAGSystemProtocol)
