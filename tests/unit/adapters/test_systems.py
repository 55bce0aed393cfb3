"""Whatever a fixture returned as a RAG system."""

from __future__ import annotations

import functools
import math
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_auepora.adapters import llamaindex
from pytest_auepora.adapters.systems import as_system
from pytest_auepora.errors import AueporaError, OutputShapeError, SystemShapeError
from pytest_auepora.metrics.ranking.gold import source_of, sources_of

from .asking import Finder, Writer, ask, by_query, find

# -- callables


class Bot:
    def ask(self, question: str, k: int = 1) -> str:
        return f"{question} {k}"

    async def aask(self, question: str, k: int = 1) -> str:
        return f"{question} {k}"

    @staticmethod
    def static(question: str) -> str:
        return f"{question} 3"

    @classmethod
    def of_class(cls, question: str) -> str:
        return f"{question} 3"


def test_a_system_passes_through() -> None:
    system = as_system(by_query)
    assert as_system(system) is system


# -- what is none


async def never_awaited() -> None:
    pass


class Index:
    def as_retriever(self) -> None:
        pass


class Only:
    def retrieve(self, query: str) -> list[Any]:
        return []


@pytest.mark.parametrize(
    ("obj", "messages"),
    [
        (None, ["NoneType: None", "is there a return missing?"]),
        (Bot, ["the class itself: return an instance, Bot(…)"]),
        (Bot(), ["Bot"]),
        (Index(), ["Index", "did you mean .as_retriever()?"]),
        (3, ["int: 3"]),
        ("why?", ["str: 'why?'", "return the function that answers, not its answer"]),
        ((c for c in "ab"), ["a generator is not a system"]),
        (math, ["module", "return one of its functions"]),
        ({"retriever": find}, ["a mapping needs the keys 'retriever' and 'generator'"]),
        ({}, ["dict without any key", "a mapping needs the keys"]),
        ((find,), ["a pair is (retriever, generator)"]),
        ((find, 3), ["the generator is int: 3, without .generate and not callable"]),
        ((Finder, Writer()), ["the retriever is", "the class itself: make an instance"]),
        (Only(), ["it has .retrieve but no .generate", "'' as the answer of a retriever alone"]),
        (Writer(), ["it has .generate but no .retrieve"]),
        ((find, lambda q: "x"), ["takes no documents"]),
    ],
)
def test_what_is_no_system_is_an_error_that_shows_it(obj: Any, messages: list[str]) -> None:
    with pytest.raises(SystemShapeError) as caught:
        as_system(obj)
    assert isinstance(caught.value, AueporaError)
    for message in messages:
        assert message in str(caught.value)


def test_what_nobody_awaited_is_named_and_closed() -> None:
    with pytest.raises(SystemShapeError, match="your rag fixture is async and nobody awaited it"):
        as_system(never_awaited())  # a warning that it was never awaited would fail this test


def test_what_is_accepted_is_listed() -> None:
    with pytest.raises(SystemShapeError, match=r"(?s)accepted: a RAGSystem.*f\(sample, top_k\)"):
        as_system(3)


# -- outputs


def test_the_systems_own_end_to_end_time_is_kept() -> None:
    system = as_system(lambda q: {"answer": "x", "timings": {"end_to_end": 0.25}})
    assert ask(system).timings == {"end_to_end": 0.25}


class Silent:
    def __call__(self, query: str) -> None:
        pass


def test_a_wrong_answer_names_the_system() -> None:
    with pytest.raises(OutputShapeError, match=r"^Silent: the RAG returned no answer"):
        ask(as_system(Silent()))


# -- provenance and names


class Told:
    auepora_name = "the bot"

    def auepora_provenance(self) -> dict[str, str]:
        return {"model": "m"}

    def ask(self, query: str) -> str:
        return query

    def __call__(self, query: str) -> str:
        return query


def test_provenance_is_what_the_object_says() -> None:
    told = Told()
    assert as_system(told).provenance == {"model": "m"}
    assert as_system(told).name == "the bot"
    assert as_system(told.ask).provenance == {"model": "m"}
    assert as_system(functools.partial(told.ask)).provenance == {"model": "m"}
    assert as_system((Finder(), Writer())).provenance == {"index": "v1"}
    assert as_system(by_query).provenance == {}


def test_provenance_that_is_no_mapping_is_refused() -> None:
    told: Any = Told()
    told.auepora_provenance = "v1"
    with pytest.raises(SystemShapeError, match=r"auepora_provenance of .*Told gave str: 'v1', not a mapping"):
        as_system(told)

    async def late() -> dict[str, str]:
        return {}

    told.auepora_provenance = late
    with pytest.raises(SystemShapeError, match="gave coroutine"):
        as_system(told)


# -- LlamaIndex, without the package


def of_llama_index(kind: str, **methods: Any) -> Any:
    return type(kind, (), {"__module__": "llama_index.core", **methods})()


def test_a_chat_engine_without_a_memory_is_refused() -> None:
    engine = of_llama_index("BaseChatEngine", chat=lambda self, message: message)
    with pytest.raises(SystemShapeError, match="give a function of query and chat_history that makes a new engine"):
        as_system(engine)


@pytest.mark.parametrize(
    ("metadata", "named"),
    [
        ({"file_path": "/data/policy.md", "file_name": "policy.md"}, "/data/policy.md"),
        ({"url": "https://docs.example/policy"}, "https://docs.example/policy"),
        ({"page": 4}, "a1b2"),
    ],
)
def test_a_node_of_llamaindex_names_its_file(
    monkeypatch: pytest.MonkeyPatch, metadata: dict[str, Any], named: str
) -> None:
    monkeypatch.setattr(llamaindex, "listening", lambda: nullcontext(list))  # nothing tells what models take
    node = SimpleNamespace(metadata=metadata, ref_doc_id="a1b2", node_id="n1", get_content=lambda: "text")
    found = [SimpleNamespace(node=node, score=0.5)]
    (hit,) = ask(as_system(of_llama_index("BaseRetriever", retrieve=lambda self, query: found))).retrieved
    assert source_of(hit.doc) == named
    assert "a1b2" in sources_of(hit.doc), "labels that name the id still meet"
