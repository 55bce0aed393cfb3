"""A generator is called apart: documents of an earlier run stand in the place of what the retriever finds."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pytest_auepora.adapters.between import Look
from pytest_auepora.adapters.parts import generator_of, unless_served, with_documents
from pytest_auepora.adapters.systems import System, as_system
from pytest_auepora.core.rag_interface import Retriever, SimpleRAGSystem
from pytest_auepora.core.types import Document, EvaluationSample, Response, RetrievedDocument, SystemOutputs
from pytest_auepora.errors import NoGeneratorError, SystemShapeError
from pytest_auepora.evaluation.replay import ask_case
from pytest_auepora.io.golden.model import GoldenCase

from .asking import SAMPLE, Finder, Writer, ask, find

OLD = [RetrievedDocument(Document("y1", "YESTERDAY"), 0.7, 3), RetrievedDocument(Document("y2", "OLDER"), 0.2, 9)]


class Forbidden(Retriever):
    """A retriever that must not be asked."""

    def retrieve(self, query: str, *, top_k: int = 5) -> list[RetrievedDocument]:
        raise AssertionError("the retriever was asked")


def test_a_generator_gets_given_documents_and_no_retriever_runs() -> None:
    for system in (SimpleRAGSystem(Forbidden(), Writer()), (Forbidden(), Writer())):
        outputs = ask(with_documents(as_system(system), OLD))
        assert outputs.response.text == "YESTERDAY | OLDER"
        assert [(r.doc.doc_id, r.rank, r.score) for r in outputs.retrieved] == [("y1", 1, 0.7), ("y2", 2, 0.2)]
        assert outputs.timings.keys() == {"generation", "end_to_end"}


def test_an_unknown_form_is_learnt_from_the_retriever_once() -> None:
    asked: list[str] = []

    def retrieve(query: str) -> list[str]:
        asked.append(query)
        return ["some text of today"]

    system = as_system((retrieve, lambda query, docs: " + ".join(docs)))
    assert [ask(with_documents(system, OLD)).response.text for _ in range(2)] == ["YESTERDAY + OLDER"] * 2
    assert len(asked) == 1
    nothing = as_system((lambda query: [], lambda query, docs: " + ".join(docs)))
    with pytest.raises(NoGeneratorError, match="no document was retrieved that shows in what form"):
        ask(with_documents(nothing, OLD))


@pytest.mark.parametrize("returned", [tuple, dict, SystemOutputs])
def test_a_function_that_takes_documents_does_not_retrieve(returned: Any) -> None:
    retrievals: list[str] = []

    def rag(query: str, *, documents: list[Any] | None = None) -> Any:
        if documents is None:
            retrievals.append(query)
            documents = [*OLD[:1]] if returned is SystemOutputs else [*find(query, 3)]
        texts = [d.doc.text if isinstance(d, RetrievedDocument) else d["text"] for d in documents]
        answer = " | ".join(texts)
        if returned is SystemOutputs:
            return SystemOutputs(documents, Response(answer))
        return (answer, documents) if returned is tuple else {"answer": answer, "contexts": documents}

    system = as_system(rag)
    ask(system)
    assert ask(with_documents(system, OLD)).response.text == "YESTERDAY | OLDER"
    assert retrievals == ["why?"]


def test_an_asynchronous_system_is_awaited() -> None:
    async def retrieve(query: str) -> list[str]:
        await asyncio.sleep(0)
        return ["some text"]

    async def write(query: str, docs: list[str]) -> str:
        await asyncio.sleep(0)
        return " + ".join(docs)

    async def rag(query: str, documents: list[str] | None = None) -> tuple[str, list[str]]:
        docs = documents if documents is not None else await retrieve(query)
        return await write(query, docs), docs

    for system in (as_system((retrieve, write)), as_system(rag)):
        given = with_documents(system, OLD)
        assert given.is_async
        assert inspect.iscoroutine(coroutine := given.invoke(SAMPLE, 3))
        assert given.as_outputs(asyncio.run(coroutine), None).response.text == "YESTERDAY + OLDER"


def answer(query: str) -> str:
    return query


def with_context(query: str, context: str = "tenant") -> str:
    return query + context


@pytest.mark.parametrize("rag", [answer, with_context, System("own", False, lambda sample, top_k: "x")])
def test_what_cannot_be_called_apart_says_what_to_give(rag: Callable[..., Any]) -> None:
    system = as_system(rag)
    with pytest.raises(NoGeneratorError) as refusal:
        generator_of(system)
    why, give = str(refusal.value).splitlines()
    assert (why.startswith(f"{system.name}: "), why.endswith(system.whole)) == (True, True)
    assert ("(retriever, generator)" in give, "documents=" in give) == (True, True)
    assert isinstance(refusal.value, SystemShapeError)


def test_noise_of_the_case_stands_among_given_documents() -> None:
    sample = EvaluationSample("c", "q", labels={"noise_docs": ["noise"]})
    system = with_documents(as_system((Forbidden(), Writer())), OLD)
    outputs = system.as_outputs(system.invoke(sample, 3), None)
    assert sorted(outputs.response.text.split(" | ")) == ["OLDER", "YESTERDAY", "noise"]
    assert len(outputs.retrieved) == 2


def test_a_retriever_of_ours_gives_documents() -> None:
    system = as_system((Finder(), lambda query, documents: " | ".join(d.text for d in documents)))
    assert ask(with_documents(system, OLD)).response.text == "YESTERDAY | OLDER"


def retrieving(swallow: type[BaseException] | None) -> System:
    """A system that makes another answer of what ends its call."""

    def looking(sample: EvaluationSample, top_k: int, look: Look) -> str:
        try:
            look(OLD)
        except BaseException as exc:
            if swallow is None:
                return "an answer to what went wrong"
            raise swallow(str(exc)) from exc
        raise ValueError("the generator fails")

    return System("own", False, lambda sample, top_k: "x", looking=looking)


@pytest.mark.parametrize("swallow", [None, RuntimeError])
def test_what_serves_is_the_answer_whatever_became_of_the_call(swallow: type[BaseException] | None) -> None:
    invoke = unless_served(retrieving(swallow), lambda sample, documents: len(documents))
    assert invoke(SAMPLE, 5) == 2
    with pytest.raises(ValueError, match="the generator fails"):
        unless_served(retrieving(swallow), lambda sample, documents: None)(SAMPLE, 5)


NOISY = replace(SAMPLE, labels={"noise_docs": [{"id": "n1", "text": "NOISE"}]})


@pytest.mark.parametrize("is_async", [False, True])
def test_noise_reaches_a_generator_that_is_called_apart(is_async: bool) -> None:
    given: list[list[str]] = []

    def answer(query: str, documents: list[Any] | None = None) -> Any:
        documents = [{"id": "right", "text": "RIGHT"}] if documents is None else documents
        given.append([document["text"] for document in documents])
        usage = {"prompt_tokens": 10 * len(documents), "completion_tokens": 1}
        return {"answer": " ".join(given[-1]), "documents": documents, "usage": usage}

    async def later(query: str, documents: list[Any] | None = None) -> Any:
        return answer(query, documents)

    system = as_system(later if is_async else answer)
    raw = ask_case(system, GoldenCase(NOISY))()
    outputs = system.as_outputs(asyncio.run(raw) if is_async else raw, 1.0)
    assert given[0] == ["RIGHT"]
    assert sorted(given[1]) == ["NOISE", "RIGHT"]
    assert "NOISE" in outputs.response.text
    assert [r.doc.doc_id for r in outputs.retrieved] == ["right"], "what was retrieved stays as it is"
    assert outputs.extra["noise_docs"] == ["n1"]
    assert [call["input_tokens"] for call in outputs.extra["usage"]] == [10, 20], "both calls were paid for"
    assert outputs.timings["end_to_end"] < 1.0
