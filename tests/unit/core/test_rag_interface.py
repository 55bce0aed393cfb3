"""The framework as a library: a system of a retriever and a generator, a plan, the evaluator."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import pytest

from pytest_auepora.core.dataset import EvaluationDataset, InMemoryDataset
from pytest_auepora.core.metrics_base import Metric
from pytest_auepora.core.plan import EvaluationPlan
from pytest_auepora.core.rag_interface import (
    Generator,
    RAGSystem,
    RAGSystemProtocol,
    Retriever,
    SimpleRAGSystem,
    noise_of,
    with_noise,
)
from pytest_auepora.core.runner import AueporaEvaluator
from pytest_auepora.core.targets import component_of
from pytest_auepora.core.types import Document, EvaluationSample, Response, RetrievedDocument, TargetCategory
from pytest_auepora.io.jsonl import load_jsonl_dataset
from pytest_auepora.metrics.generation_llm_judge import LLMCritic
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


class Finds(Retriever):
    def retrieve(self, query: str, *, top_k: int = 5) -> list[RetrievedDocument]:
        return [RetrievedDocument(Document("right", "the answer"), 1.0, 1)]


class Says(Generator):
    def generate(self, query: str, context_docs: list[Document]) -> Response:
        return Response("; ".join(doc.text for doc in context_docs))


def noisy(case_id: str = "a", *noise: object) -> EvaluationSample:
    return EvaluationSample(case_id, "q", labels={"noise_docs": list(noise)})


def test_texts_and_mappings_are_documents() -> None:
    one, two = noise_of(noisy("a", "some text", {"id": "n", "text": "other"}))
    assert (one.doc_id[:4], one.text, two) == ("sha:", "some text", Document("n", "other"))
    assert noise_of(EvaluationSample("a", "q")) == []
    assert [d.text for d in noise_of(EvaluationSample("a", "q", labels={"noise_docs": "alone"}))] == ["alone"]


def test_places_depend_on_the_case_alone() -> None:
    def mixed(case_id: str) -> list[str]:
        return with_noise(["1", "2", "3"], noisy(case_id, "n"), lambda doc: doc.text)

    assert mixed("a") == mixed("a")
    assert {mixed(f"case {i}").index("n") for i in range(40)} == {0, 1, 2, 3}
    assert all([x for x in mixed(f"case {i}") if x != "n"] == ["1", "2", "3"] for i in range(5))


def test_the_generator_gets_the_noise_the_ranking_does_not() -> None:
    system = SimpleRAGSystem(Finds(), Says())
    outputs = system.run(noisy("a", {"id": "n", "text": "noise"}))
    assert sorted(outputs.response.text.split("; ")) == ["noise", "the answer"]
    assert [r.doc.doc_id for r in outputs.retrieved] == ["right"]
    assert outputs.extra == {"noise_docs": ["n"]}
    plain = system.run(EvaluationSample("a", "q"))
    assert (plain.response.text, plain.extra) == ("the answer", {})


@pytest.mark.parametrize(
    ("function", "names"),
    [
        (RAGSystem.run, "self sample top_k"),
        (RAGSystemProtocol.run, "self sample top_k"),
        (Retriever.retrieve, "self query top_k"),
        (Generator.generate, "self query context_docs"),
        (SimpleRAGSystem.__init__, "self retriever generator"),
        (InMemoryDataset.__init__, "self name samples"),
        (AueporaEvaluator.__init__, "self system plan top_k"),
        (EvaluationPlan.validate_dataset, "self samples"),
        (Metric.compute, "self samples outputs"),
        (Metric.required_fields, "self"),
        (LLMCritic.score, "self prompt metadata"),
        (load_jsonl_dataset, "path name"),
    ],
)
def test_arguments_are_those_of_the_specification(function: Callable[..., object], names: str) -> None:
    parameters = inspect.signature(function).parameters
    assert list(parameters) == names.split()
    if "top_k" in parameters:
        assert (parameters["top_k"].default, parameters["top_k"].kind) == (5, inspect.Parameter.KEYWORD_ONLY)


@pytest.mark.parametrize("kind", [RAGSystem, Retriever, Generator, EvaluationDataset, LLMCritic])
def test_interfaces_are_abstract(kind: type[object]) -> None:
    with pytest.raises(TypeError, match="abstract"):
        kind()
