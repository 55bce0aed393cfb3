"""A retriever and a generator as one system."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from pytest_auepora.adapters.systems import as_system
from pytest_auepora.core.rag_interface import NOISE_DOCS, SimpleRAGSystem
from pytest_auepora.core.types import Document, EvaluationSample
from pytest_auepora.errors import OutputShapeError

from .asking import Finder, Writer, ask, find


class AsyncFinder:
    async def retrieve(self, query: str, k: int) -> list[dict[str, str]]:
        await asyncio.sleep(0)
        return [{"id": f"d{i}", "text": f"{query} {i}"} for i in range(1, k + 1)]


class AsyncWriter:
    async def generate(self, question: str, docs: list[Any]) -> str:
        await asyncio.sleep(0)
        return " | ".join(d.text if isinstance(d, Document) else d["text"] for d in docs)


class Both:
    def retrieve(self, query: str, top_k: int) -> list[Any]:
        return Finder().retrieve(query, top_k=top_k)

    def generate(self, query: str, docs: list[Document]) -> str:
        return Writer().generate(query, docs).text


def write(question: str, chunks: list[dict[str, str]]) -> str:
    return " | ".join(c["text"] for c in chunks)


def by_position(a: str, b: list[dict[str, str]]) -> str:
    return write(a, b)


def afind(query: str, k: int) -> Any:
    return AsyncFinder().retrieve(query, k)


@pytest.mark.parametrize(
    ("obj", "name", "is_async"),
    [
        ((Finder(), Writer()), "Finder + Writer", False),
        ([Finder(), Writer()], "Finder + Writer", False),
        ((Writer(), Finder()), "Finder + Writer", False),
        ({"retriever": Finder(), "generator": Writer()}, "Finder + Writer", False),
        ({"generate": write, "retrieve": find}, "find + write", False),
        ((find, write), "find + write", False),
        ((find, Writer()), "find + Writer", False),
        ((AsyncFinder(), Writer()), "AsyncFinder + Writer", True),
        ((Finder(), AsyncWriter()), "Finder + AsyncWriter", True),
        ((AsyncFinder(), AsyncWriter()), "AsyncFinder + AsyncWriter", True),
        ((afind, AsyncWriter().generate), "afind + AsyncWriter.generate", True),
        ((afind, write), "afind + write", False),
        ((find, lambda docs, q: write(q, docs)), "find + <lambda>", False),
        ((find, by_position), "find + by_position", False),
        (Both(), "Both", False),
        (SimpleRAGSystem(Finder(), Writer()), "SimpleRAGSystem", False),
    ],
)
def test_each_form_of_a_pair(obj: Any, name: str, is_async: bool) -> None:
    system = as_system(obj)
    assert (system.name, system.is_async) == (name, is_async)
    out = ask(system, 2)
    assert [(r.doc.doc_id, r.rank) for r in out.retrieved] == [("d1", 1), ("d2", 2)]
    assert out.response.text == "why? 1 | why? 2"
    assert set(out.timings) == {"retrieval", "generation", "end_to_end"}
    assert math.isclose(out.timings["end_to_end"], out.timings["retrieval"] + out.timings["generation"], abs_tol=1e-3)
    assert "auepora_notes" not in out.extra


def test_a_generator_gets_what_its_retriever_returned() -> None:
    texts = ["first text", "second text"]
    out = ask(as_system((lambda q: texts, lambda q, docs: docs[1])))
    assert out.response.text == "second text"
    assert [r.doc.text for r in out.retrieved] == texts


def test_a_generator_may_say_more_than_the_answer() -> None:
    def generate(query: str, docs: Any) -> dict[str, Any]:
        return {"answer": "x", "citations": ["d1"], "timings": {"generation": 9.0}, "tokens": 5}

    out = ask(as_system((find, generate)))
    assert out.response.metadata == {"citations": ["d1"]}
    assert out.timings["generation"] == 9.0
    assert out.extra == {"tokens": 5}


@pytest.mark.parametrize("fails", ["retrieve", "generate"])
@pytest.mark.parametrize("kind", ["sync", "async", "hidden"])
def test_an_exception_of_a_part_comes_through(fails: str, kind: str) -> None:
    def plain(name: str) -> Any:
        if name == fails:
            raise LookupError(name)
        return find("q", 1) if name == "retrieve" else "answer"

    async def coro(name: str) -> Any:
        return plain(name)

    part: Callable[[str], Any] = plain if kind == "sync" else coro

    async def aretrieve(query: str) -> Any:
        return await part("retrieve")

    async def agenerate(query: str, docs: Any) -> Any:
        return await part("generate")

    pair = (aretrieve, agenerate)
    if kind != "async":
        pair = (lambda query: part("retrieve"), lambda query, docs: part("generate"))
    with pytest.raises(LookupError, match=fails):
        ask(as_system(pair))


def test_documents_of_a_wrong_shape_are_blamed_on_the_retriever() -> None:
    with pytest.raises(OutputShapeError, match=r"^from the retriever: document 1 has neither an id nor a text"):
        ask(as_system((lambda q: [{}], write)))


@dataclass
class Passage:
    page_content: str
    metadata: dict[str, str]


@pytest.mark.parametrize(
    ("found", "text_of"),
    [
        (["right text"], str),
        ([{"id": "r", "text": "right text", "score": 1}], lambda d: d["text"]),
        ([{"chunk_id": "r", "content": "right text"}], lambda d: d["content"]),
        ([Document("r", "right text")], lambda d: d.text),
        ([Passage("right text", {"source": "r"})], lambda d: d.page_content),
        ([{"document": {"id": "r", "text": "right text"}, "score": 1}], lambda d: d["document"]["text"]),
    ],
)
def test_noise_stands_among_the_documents_in_their_form(found: list[Any], text_of: Callable[[Any], str]) -> None:
    given: list[list[str]] = []

    def write(query: str, documents: list[Any]) -> str:
        given.append([text_of(d) for d in documents])
        return "an answer"

    sample = EvaluationSample("c", "q", labels={"noise_docs": ["noise", {"id": "n", "text": "more"}]})
    system = as_system((lambda query: found, write))
    outputs = system.as_outputs(system.invoke(sample, 5), 0.0)
    assert sorted(given[0]) == ["more", "noise", "right text"]
    assert len(outputs.retrieved) == 1
    assert outputs.extra["noise_docs"][1] == "n"
    assert NOISE_DOCS in system.takes
    assert NOISE_DOCS not in as_system(lambda query: "x").takes


def test_noise_that_no_generator_could_read_is_an_error() -> None:
    sample = EvaluationSample("c", "q", labels={"noise_docs": ["noise"]})
    system = as_system((lambda query: [{"id": "r", "score": 0.5}], lambda query, docs: "x"))
    with pytest.raises(OutputShapeError, match="noise_docs: no text can be put into what the retriever gives"):
        system.invoke(sample, 5)


def test_documents_to_be_read_once_reach_the_generator_too() -> None:
    outputs = ask(as_system((lambda query, k: map(dict, find(query, k)), write)))
    assert outputs.response.text == " | ".join(r.doc.text for r in outputs.retrieved) != ""
