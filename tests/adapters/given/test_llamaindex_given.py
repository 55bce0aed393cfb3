"""Given nodes before the generator of LlamaIndex engines, as they were when they were recorded."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("llama_index.core", reason="the extra llamaindex is not installed")

from llama_index.core import Document, MockEmbedding, VectorStoreIndex
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms import MockLLM
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import MetadataMode, NodeWithScore, TextNode

from pytest_auepora.adapters.llamaindex import _read_nodes, _to_node, from_llamaindex
from pytest_auepora.adapters.parts import with_documents
from pytest_auepora.adapters.systems import as_system
from pytest_auepora.core.types import EvaluationSample
from pytest_auepora.errors import NoGeneratorError

from ..asking import ask, ids
from ..test_llamaindex import Engine
from .looking import check_looking

OLD_NODE = TextNode(
    text="YESTERDAY", id_="y1", metadata={"file_name": "a.md", "secret": "x", "start": 3},
    excluded_llm_metadata_keys=["secret"], metadata_template="{key}={value}", start_char_idx=7, end_char_idx=16,
)  # fmt: skip
MEMORY = ChatMemoryBuffer.from_defaults()  # the default one opens a database
OLD = _read_nodes([NodeWithScore(node=OLD_NODE, score=0.7)])


class Mark(BaseNodePostprocessor):
    """Stands for a reranker: it marks what it saw."""

    def _postprocess_nodes(self, nodes: Any, query_bundle: Any = None) -> Any:
        return [NodeWithScore(node=TextNode(text=f"{n.text} (again)", id_=n.node_id), score=1.0) for n in nodes]


class Counted(MockLLM):
    """Counts its calls."""

    calls: list[Any] = []  # noqa: RUF012 - pydantic copies it

    def complete(self, *args: Any, **kwargs: Any) -> Any:
        self.calls.append(args)
        return super().complete(*args, **kwargs)

    async def acomplete(self, *args: Any, **kwargs: Any) -> Any:
        return self.complete(*args, **kwargs)

    def chat(self, *args: Any, **kwargs: Any) -> Any:
        self.calls.append(args)
        return super().chat(*args, **kwargs)

    async def achat(self, *args: Any, **kwargs: Any) -> Any:
        return self.chat(*args, **kwargs)


def index() -> VectorStoreIndex:
    return VectorStoreIndex.from_documents([Document(text="LIVE text")], embed_model=MockEmbedding(4))


def test_a_node_comes_back_as_models_read_it() -> None:
    node = _to_node(OLD[0]).node
    for mode in MetadataMode:
        if mode is not MetadataMode.EMBED:
            assert node.get_content(mode) == OLD_NODE.get_content(mode)
    assert node.metadata == OLD_NODE.metadata
    plain = NodeWithScore(node=TextNode(text="t", id_="p", metadata={"page": 4}), score=1.0)
    assert _read_nodes([plain])[0].doc.metadata == {"page": 4}


@pytest.mark.parametrize("use_async", [False, True])
def test_a_query_engine_synthesizes_and_nothing_runs_again(use_async: bool) -> None:
    engine = index().as_query_engine(llm=MockLLM(), node_postprocessors=[Mark()])
    system = from_llamaindex(engine, use_async=use_async)
    outputs = ask(with_documents(system, OLD))
    assert "file_name=a.md" in outputs.response.text
    assert "YESTERDAY" in outputs.response.text
    assert not {"LIVE", "again", "secret"} & set(outputs.response.text.replace("=", " ").split())
    assert ids(outputs) == ["y1"]
    assert "LIVE text (again)" in ask(system).response.text


@pytest.mark.parametrize("mode", ["context", "condense_plus_context"])
def test_a_chat_engine_answers_from_a_copy(mode: Any) -> None:
    engine = index().as_chat_engine(chat_mode=mode, llm=MockLLM(), memory=MEMORY, node_postprocessors=[Mark()])
    system = as_system(engine)
    sample = EvaluationSample("c", "And then?", chat_history=[{"role": "user", "content": "hi"}])
    outputs = ask(with_documents(system, OLD), sample)
    assert "YESTERDAY" in outputs.response.text
    assert "LIVE" not in outputs.response.text
    assert "LIVE" in ask(system, sample).response.text
    assert engine.chat_history == []


@pytest.mark.parametrize("use_async", [False, True])
def test_nodes_of_a_query_engine_are_seen_before_it_answers(use_async: bool) -> None:
    llm = Counted()
    engine = index().as_query_engine(llm=llm, node_postprocessors=[Mark()])
    check_looking(from_llamaindex(engine, use_async=use_async), llm.calls)


@pytest.mark.parametrize("use_async", [False, True])
@pytest.mark.parametrize("mode", ["context", "condense_plus_context"])
def test_nodes_of_a_chat_engine_are_seen_before_it_answers(mode: Any, use_async: bool) -> None:
    llm = Counted()
    engine = index().as_chat_engine(chat_mode=mode, llm=llm, memory=MEMORY, node_postprocessors=[Mark()])
    check_looking(from_llamaindex(engine, use_async=use_async), llm.calls)
    assert engine.chat_history == []


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: index().as_retriever(), "it is a retriever alone"),
        (
            lambda: SimpleChatEngine.from_defaults(llm=MockLLM(), memory=ChatMemoryBuffer.from_defaults()),
            "no retriever of its own",
        ),
        (lambda: Engine("own"), "cannot be called apart"),
    ],
)
def test_others_are_refused(make: Any, why: str) -> None:
    with pytest.raises(NoGeneratorError, match=why):
        ask(with_documents(as_system(make()), OLD))
