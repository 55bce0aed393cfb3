"""LlamaIndex query engines, chat engines and retrievers as systems.

A query engine is asked with ``query`` and gives a response with its source nodes; a stream is read to its end.  A
retriever is asked with ``retrieve`` and has no answer, which is then empty.  A chat engine is asked with ``chat``, or
``stream_chat``, and the turns of the case: each call gets a copy of it with a memory of its own, so that cases do not
see each other's turns, and the user's memory stays as it is.  All are called as they are configured: how many nodes
they fetch is their own matter (``similarity_top_k``), and ``top_k`` does not change it.

A node becomes a document with the node's id; ``metadata["document_id"]`` names the document that the node was cut
from: its file where the metadata say so (``file_path``, ``file_name``, ``url``, ``source``), else its id, which is
mostly random.  So a golden case that names it with ``doc:`` outlives a new chunking, whose node ids are new too.

Where nothing was found, a query engine says "Empty Response" without asking the model: that is a refusal.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cache
from time import perf_counter
from typing import Any

from ..core.conversation import CHAT_HISTORY
from ..core.model_calls import USAGE
from ..core.types import Document, EvaluationSample, Response, RetrievedDocument, SystemOutputs
from ..errors import NoGeneratorError, OutputShapeError, SystemShapeError
from .between import NOTHING, Between
from .documents import name_of_source
from .llamaindex_usage import listening
from .reported_usage import has_counts
from .shapes import describe, is_instance_of
from .signatures import name_of, provenance_of
from .steps import Steps
from .streams import StreamedAnswer, feed
from .systems import System, stepwise

_ROOT = "llama_index"
_EMPTY = "Empty Response"
_METHODS = {"BaseQueryEngine": ("query", "aquery"), "BaseRetriever": ("retrieve", "aretrieve")}
_STREAMED = ("StreamingResponse", "AsyncStreamingResponse", "StreamingAgentChatResponse")
_WHOLE = ("Response", "PydanticResponse", "AgentChatResponse")

_LookAtNodes = Callable[[list[Any]], None]


def from_llamaindex(engine: Any, *, use_async: bool = False, stream: bool = False) -> System:
    """Return a LlamaIndex query engine, chat engine or retriever as a `System`.

    Args:
        engine: what is asked.
        use_async: call ``aquery``, ``achat`` or ``aretrieve``, which are not always asynchronous more than in name.
        stream: call ``stream_chat`` of a chat engine, and time the first token; a query engine streams if it was made
            with ``streaming=True``.

    Raises:
        SystemShapeError: *engine* is none of them, or cannot be streamed or copied.
    """
    call: _EngineCall
    if is_instance_of(engine, _ROOT, "BaseChatEngine"):
        call = _ChatCall(engine, is_async=use_async, stream=stream)
    elif (kind := next((kind for kind in _METHODS if is_instance_of(engine, _ROOT, kind)), None)) is not None:
        if stream:
            raise SystemShapeError(
                f"{name_of(engine)}.stream: a query engine streams if it is made with streaming=True"
            )
        call = _EngineCall(engine, _METHODS[kind], is_async=use_async)
    else:
        raise SystemShapeError(f"neither a LlamaIndex query engine, chat engine nor retriever: {describe(engine)}")
    return stepwise(
        name_of(engine), call.steps, is_async=use_async, provenance=provenance_of(engine), takes=call.takes,
        whole=call.whole(),
    )  # fmt: skip


class _EngineCall:
    """Calls a query engine or a retriever; the names are those of its methods, the async one second."""

    takes: frozenset[str] = frozenset()

    def __init__(self, engine: Any, names: tuple[str, str], *, is_async: bool) -> None:
        self._engine, self._is_async = engine, is_async
        self._name = names[is_async]

    def steps(self, sample: EvaluationSample, top_k: int, between: Between = NOTHING) -> Steps[SystemOutputs]:  # noqa: ARG002
        """Ask the engine; with documents, no postprocessor runs again either."""
        documents, look = between
        nodes = None if documents is None else [_to_node(document) for document in documents]
        see = None if look is None else lambda found: look(_read_nodes(found))
        with listening() as usage:
            start = perf_counter()
            raw = yield from self._ask(sample, nodes, see)
            is_streamed = is_instance_of(raw, _ROOT, *_STREAMED)
            if not is_streamed or (not self._is_async and raw.response_gen is None):
                outputs = _read_response(raw)
            else:
                streamed = StreamedAnswer(start)
                yield feed(raw.async_response_gen() if self._is_async else raw.response_gen, streamed.add)
                outputs = _read_streamed(raw, streamed)
        if has_counts(calls := usage()):
            outputs.extra[USAGE] = calls
        return outputs

    def whole(self) -> str:
        """Return why retrieval and answer cannot be called one after the other; nothing where they can."""
        if is_instance_of(self._engine, _ROOT, "BaseRetriever"):
            return "it is a retriever alone"
        from llama_index.core.base.base_query_engine import BaseQueryEngine

        own, bare = (
            [getattr(kind, name, None) for name in self._parts] for kind in (type(self._engine), BaseQueryEngine)
        )
        apart = all(one is not None and one is not other for one, other in zip(own, bare, strict=True))
        return "" if apart else "its class has no retrieve and synthesize of its own"

    @property
    def _parts(self) -> tuple[str, str]:
        return ("aretrieve", "asynthesize") if self._is_async else ("retrieve", "synthesize")

    def _ask(self, sample: EvaluationSample, nodes: list[Any] | None, look: _LookAtNodes | None) -> Steps[Any]:
        """Return the raw answer, made of *nodes* if they are given; *look* sees those that it is made of."""
        if nodes is None and look is None:
            return (yield getattr(self._engine, self._name)(sample.query))
        from llama_index.core.schema import QueryBundle

        retrieve, synthesize = (getattr(self._engine, name) for name in self._parts)
        query = QueryBundle(sample.query)
        if nodes is None:
            nodes = yield retrieve(query)
        if look is not None:
            look(nodes)
        try:
            return (yield synthesize(query, nodes))
        except NotImplementedError as exc:
            raise NoGeneratorError(name_of(self._engine), str(exc)) from None


class _ChatCall(_EngineCall):
    """Calls a copy of a chat engine with the turns of the case."""

    takes = frozenset({CHAT_HISTORY})

    def __init__(self, engine: Any, *, is_async: bool, stream: bool) -> None:
        super().__init__(engine, ("stream_chat", "astream_chat") if stream else ("chat", "achat"), is_async=is_async)
        if not hasattr(engine, "_memory"):
            raise SystemShapeError(
                f"{name_of(engine)} keeps its turns where they cannot be told apart by case: give a function of query "
                "and chat_history that makes a new engine and returns its chat(query, chat_history)"
            )

    def whole(self) -> str:
        return "" if hasattr(self._engine, "_retriever") else "this chat engine has no retriever of its own"

    def _ask(self, sample: EvaluationSample, nodes: list[Any] | None, look: _LookAtNodes | None) -> Steps[Any]:
        from llama_index.core.llms import ChatMessage

        engine: Any = copy.copy(self._engine)
        if nodes is not None:
            engine._retriever, engine._node_postprocessors = _given_retriever()(nodes), []  # no public names
        if look is not None:
            engine._node_postprocessors = [*engine._node_postprocessors, _watching_postprocessor()(look=look)]
        engine._memory = _empty_memory(self._engine._memory)  # there is no public name for it
        turns = [ChatMessage(**turn) for turn in sample.chat_history]
        return (yield getattr(engine, self._name)(sample.query, chat_history=turns))


def _empty_memory(memory: Any) -> Any:
    """Return a memory of turns that holds as many tokens as *memory*, and nothing yet."""
    from llama_index.core.memory import ChatMemoryBuffer

    options = {name: getattr(memory, name, None) for name in ("token_limit", "tokenizer_fn")}
    return ChatMemoryBuffer.from_defaults(**{name: value for name, value in options.items() if value is not None})


def _read_streamed(raw: Any, streamed: StreamedAnswer) -> SystemOutputs:
    outputs = streamed.outputs()
    nodes = raw.source_nodes or [  # an async engine that condenses the question leaves them in its tool's output
        node for source in getattr(raw, "sources", ()) for node in getattr(source.raw_output, "source_nodes", ())
    ]
    answered = SystemOutputs(_read_nodes(nodes), _response_of(outputs["answer"], nodes))
    answered.timings = outputs.get("timings", {})
    return answered


def _read_response(raw: Any) -> SystemOutputs:
    if isinstance(raw, list):
        return SystemOutputs(_read_nodes(raw), Response(""))
    if is_instance_of(raw, _ROOT, "StreamingResponse"):  # without a stream
        raw = raw.get_response()
    if not is_instance_of(raw, _ROOT, *_WHOLE):
        raise OutputShapeError(f"the query engine gave {describe(raw)}, not a Response")
    answer = raw.response
    if answer is None:
        raise OutputShapeError(f"the query engine gave a response of None: {describe(raw)}")
    if isinstance(answer, str):
        response = _response_of(answer, raw.source_nodes)
    else:  # a pydantic model, from a structured output
        response = Response(answer.model_dump_json(), answer.model_dump(mode="json"))
    return SystemOutputs(_read_nodes(raw.source_nodes), response)


def _response_of(answer: str, nodes: list[Any]) -> Response:
    refused = answer.strip() == _EMPTY and not nodes  # LlamaIndex answered in place of the model
    return Response(answer, metadata={"refused": True} if refused else {})


def _read_nodes(nodes: list[Any]) -> list[RetrievedDocument]:
    return [RetrievedDocument(_to_document(n.node), float(n.score or 0.0), rank) for rank, n in enumerate(nodes, 1)]


@cache
def _given_retriever() -> Any:
    """Return the class of retrievers that give what they are told; the first call imports LlamaIndex."""
    from llama_index.core.base.base_retriever import BaseRetriever

    class GivenRetriever(BaseRetriever):  # type: ignore[misc]
        """A retriever that gives the same nodes, whatever the question."""

        def __init__(self, nodes: list[Any]) -> None:
            self._nodes = nodes
            super().__init__()

        def _retrieve(self, query_bundle: Any) -> list[Any]:  # noqa: ARG002 - whatever the question
            return list(self._nodes)

    return GivenRetriever


@cache
def _watching_postprocessor() -> Any:
    """Return the class of postprocessors that show nodes and change nothing; the first call imports LlamaIndex."""
    from llama_index.core.postprocessor.types import BaseNodePostprocessor

    class WatchingPostprocessor(BaseNodePostprocessor):  # type: ignore[misc]
        """A postprocessor that shows what it is given."""

        look: Any

        def _postprocess_nodes(self, nodes: list[Any], query_bundle: Any = None) -> list[Any]:  # noqa: ARG002
            self.look(nodes)
            return nodes

    return WatchingPostprocessor


_READ_BY_MODELS = ("excluded_llm_metadata_keys", "metadata_template", "metadata_separator", "text_template")
"""What of a node decides, beside its text and metadata, what a model reads of it."""
_NODE = "llama_index"
"""Key of metadata that has these, where they are not as usual, and what a node itself has under `_ADDED`."""
_ADDED = ("document_id", "ref_doc_id", "start", "end")
"""Keys that are put into the metadata of a document."""


def _to_node(given: RetrievedDocument) -> Any:
    """Return the node that *given* was."""
    from llama_index.core.schema import NodeWithScore, TextNode

    kept = given.doc.metadata.get(_NODE, {})
    metadata = {key: value for key, value in given.doc.metadata.items() if key not in (*_ADDED, _NODE)}
    metadata |= kept.get("own", {})
    settings = {name: kept[name] for name in _READ_BY_MODELS if name in kept}
    node = TextNode(id_=given.doc.doc_id, text=given.doc.text, metadata=metadata, **settings)
    return NodeWithScore(node=node, score=given.score)


def _settings(node: Any) -> dict[str, Any]:
    """Return what of *node* models read beside text and metadata, where it is not as usual."""
    fields = getattr(type(node), "model_fields", {})
    return {
        name: value
        for name in _READ_BY_MODELS
        if name in fields and (value := getattr(node, name)) != fields[name].get_default(call_default_factory=True)
    }


def _to_document(node: Any) -> Document:
    metadata = dict(node.metadata)
    if (source := node.ref_doc_id) is not None:
        metadata["document_id"] = name_of_source(metadata, source)
        if metadata["document_id"] != source:
            metadata.setdefault("ref_doc_id", source)
    for ours, theirs in (("start", "start_char_idx"), ("end", "end_char_idx")):
        if isinstance(offset := getattr(node, theirs, None), int):
            metadata.setdefault(ours, offset)
    own = {key: node.metadata[key] for key in _ADDED if key in node.metadata}
    if whole := _settings(node) | ({"own": own} if own else {}):
        metadata[_NODE] = whole
    return Document(node.node_id, node.get_content(), metadata)
