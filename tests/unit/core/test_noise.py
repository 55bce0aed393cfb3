"""Irrelevant documents among those a generator gets: where they stand, and that what was retrieved stays."""

from __future__ import annotations

from pytest_auepora.core.noise import noise_of, with_noise
from pytest_auepora.core.rag_interface import Generator, Retriever, SimpleRAGSystem
from pytest_auepora.core.types import Document, EvaluationSample, Response, RetrievedDocument


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
