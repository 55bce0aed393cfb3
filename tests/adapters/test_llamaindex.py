"""LlamaIndex query engines and retrievers, from the real package."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("llama_index.core", reason="the extra llamaindex is not installed")

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.response.schema import (
    AsyncStreamingResponse,
    PydanticResponse,
    Response,
    StreamingResponse,
)
from llama_index.core.callbacks import CallbackManager
from llama_index.core.llms import MockLLM
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.schema import Document, NodeRelationship, NodeWithScore, RelatedNodeInfo, TextNode
from pydantic import BaseModel

from pytest_auepora.adapters.llamaindex import from_llamaindex
from pytest_auepora.adapters.systems import as_system
from pytest_auepora.errors import OutputShapeError, SystemShapeError
from pytest_auepora.metrics.refusal import is_refusal

from .asking import SAMPLE, ask, ids

REFUNDS = TextNode(
    id_="chunk-1",
    text="Within 30 days.",
    metadata={"page": 4},
    relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id="policy.md")},
    start_char_idx=10,
    end_char_idx=25,
)
SHIPPING = TextNode(id_="chunk-2", text="Two working days.")
FOUND = [NodeWithScore(node=REFUNDS, score=0.9), NodeWithScore(node=SHIPPING)]


class Search(BaseRetriever):
    def _retrieve(self, query_bundle: Any) -> list[NodeWithScore]:
        assert query_bundle.query_str == SAMPLE.query
        return FOUND

    async def _aretrieve(self, query_bundle: Any) -> list[NodeWithScore]:
        return FOUND[:1]


class Engine(BaseQueryEngine):
    """Answers with whatever it was made with."""

    def __init__(self, plain: Any, late: Any = None) -> None:
        self.plain, self.late = plain, late
        super().__init__(CallbackManager([]))

    def _query(self, query_bundle: Any) -> Any:
        assert query_bundle.query_str == SAMPLE.query
        return self.plain

    async def _aquery(self, query_bundle: Any) -> Any:
        return self.late

    def _get_prompt_modules(self) -> dict[str, Any]:
        return {}


class Refund(BaseModel):
    days: int


def real_engine() -> RetrieverQueryEngine:
    """Retrieves, then has a model that repeats its prompt make the answer."""
    llm = MockLLM()
    return RetrieverQueryEngine(Search(), get_response_synthesizer(llm=llm))


def test_query_engine() -> None:
    system = as_system(real_engine())
    assert (system.name, system.is_async) == ("RetrieverQueryEngine", False)
    outputs = ask(system)
    assert SAMPLE.query in outputs.response.text
    assert "Within 30 days." in outputs.response.text
    assert ids(outputs) == ["chunk-1", "chunk-2"]
    assert [r.score for r in outputs.retrieved] == [0.9, 0.0]
    assert outputs.timings == {"end_to_end": 1.5}


def test_node_names_the_document_it_was_cut_from() -> None:
    document = ask(Search()).retrieved[0].doc
    assert document.text == "Within 30 days."
    assert document.metadata == {"page": 4, "document_id": "policy.md", "start": 10, "end": 25}


def test_chunks_of_a_splitter_keep_their_document_and_place() -> None:
    text = " ".join(f"Sentence number {n} is here." for n in range(40))
    nodes = SentenceSplitter(chunk_size=60, chunk_overlap=0).get_nodes_from_documents([Document(text=text, id_="d.md")])
    assert len(nodes) > 2
    engine = Engine(Response("yes", [NodeWithScore(node=n, score=1.0) for n in nodes]))
    for retrieved in ask(engine).retrieved:
        place = retrieved.doc.metadata
        assert place["document_id"] == "d.md"
        assert text[place["start"] : place["end"]] == retrieved.doc.text


def test_retriever_alone_has_documents_and_an_empty_answer() -> None:
    outputs = ask(Search())
    assert outputs.response.text == ""
    assert ids(outputs) == ["chunk-1", "chunk-2"]


def test_empty_response_is_a_refusal() -> None:
    class Nothing(BaseRetriever):
        def _retrieve(self, query_bundle: Any) -> list[NodeWithScore]:
            return []

    engine = RetrieverQueryEngine(Nothing(), get_response_synthesizer(llm=MockLLM()))
    outputs = ask(as_system(engine))
    assert (outputs.response.text, is_refusal(outputs), outputs.retrieved) == ("Empty Response", True, [])
    said = ask(as_system(Engine(Response("Empty Response", source_nodes=FOUND))))
    assert not is_refusal(said)


def test_stream_is_read_to_its_end() -> None:
    outputs = ask(Engine(StreamingResponse((part for part in ("Within ", "30 days")), FOUND)))
    assert outputs.response.text == "Within 30 days"
    assert ids(outputs) == ["chunk-1", "chunk-2"]


def test_structured_answer() -> None:
    outputs = ask(Engine(PydanticResponse(Refund(days=30), FOUND[:1])))
    assert outputs.response.text == '{"days":30}'
    assert outputs.response.structured == {"days": 30}


def test_response_without_an_answer() -> None:
    with pytest.raises(OutputShapeError, match="a response of None"):
        ask(Engine(Response(None)))


def test_something_that_is_no_response() -> None:
    class Unusual(Engine):
        def query(self, str_or_query_bundle: Any) -> Any:  # the package itself checks what the usual one gives
            return {"a": 1}

    with pytest.raises(OutputShapeError, match=r"the query engine gave dict with the keys 'a': .*, not a Response"):
        ask(Unusual(None))


def test_async_on_request() -> None:
    system = from_llamaindex(real_engine(), use_async=True)
    assert system.is_async
    outputs = ask(system)
    assert SAMPLE.query in outputs.response.text
    assert ids(outputs) == ["chunk-1"]
    assert ids(ask(from_llamaindex(Search(), use_async=True))) == ["chunk-1"]


def test_async_stream() -> None:
    async def parts() -> Any:
        yield "Within "
        yield "30 days"

    outputs = ask(from_llamaindex(Engine(None, AsyncStreamingResponse(parts(), FOUND)), use_async=True))
    assert outputs.response.text == "Within 30 days"
    assert ids(outputs) == ["chunk-1", "chunk-2"]


def test_only_engines_and_retrievers_are_taken() -> None:
    with pytest.raises(SystemShapeError, match="neither a LlamaIndex query engine, chat engine nor retriever: "):
        from_llamaindex(REFUNDS)
