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
from collections.abc import Callable, Generator, Sequence
from functools import cache, partial
from time import perf_counter
from typing import Any

from ..core.conversation import CHAT_HISTORY
from ..core.model_calls import USAGE
from ..core.types import Document, EvaluationSample, Response, RetrievedDocument, SystemOutputs
from ..errors import NoGeneratorError, OutputShapeError, SystemShapeError
from .documents import name_of_source
from .llamaindex_usage import listening
from .pairs import Look, finish
from .reported_usage import has_counts
from .shapes import describe, is_instance_of
from .signatures import name_of, provenance_of
from .streams import StreamedAnswer
from .systems import System

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
        call = _ChatCall(engine, stream=stream)
    elif (kind := next((kind for kind in _METHODS if is_instance_of(engine, _ROOT, kind)), None)) is not None:
        if stream:
            raise SystemShapeError(
                f"{name_of(engine)}.stream: a query engine streams if it is made with streaming=True"
            )
        call = _EngineCall(engine, _METHODS[kind])
    else:
        raise SystemShapeError(f"neither a LlamaIndex query engine, chat engine nor retriever: {describe(engine)}")
    system = System(
        name_of(engine), use_async, call.ainvoke if use_async else call.invoke, provenance_of(engine), call.takes
    )
    if is_instance_of(engine, _ROOT, "BaseRetriever"):
        system.whole = "it is a retriever alone"
    elif isinstance(call, _ChatCall) and not hasattr(engine, "_retriever"):
        system.whole = "this chat engine has no retriever of its own"
    elif not call.has_parts(is_async=use_async):
        system.whole = "its class has no retrieve and synthesize of its own"
    else:
        system.generate = partial(_generate, call, use_async=use_async)
        system.looking = partial(_looking, call, use_async=use_async)
    return system


def _generate(
    call: _EngineCall, sample: EvaluationSample, top_k: int, documents: Sequence[RetrievedDocument], *, use_async: bool
) -> Any:
    """Answer from *documents*: neither a retriever nor a postprocessor runs again."""
    given = call.given([_to_node(document) for document in documents])
    return given.ainvoke(sample, top_k) if use_async else given.invoke(sample, top_k)


def _looking(call: _EngineCall, sample: EvaluationSample, top_k: int, look: Look, *, use_async: bool) -> Any:
    """Answer as ever; *look* sees what the last postprocessor left."""
    watched = call.watched(lambda nodes: look(_read_nodes(nodes)))
    return watched.ainvoke(sample, top_k) if use_async else watched.invoke(sample, top_k)


class _EngineCall:
    """Calls a query engine or a retriever; the names are those of its methods, the async one second."""

    takes: frozenset[str] = frozenset()

    def __init__(self, engine: Any, names: tuple[str, str]) -> None:
        self._engine, self._names = engine, names

    def invoke(self, sample: EvaluationSample, top_k: int) -> SystemOutputs:  # noqa: ARG002 - see the module's docstring
        with listening() as usage:
            start = perf_counter()
            raw = self._ask(sample, is_async=False)
            if not is_instance_of(raw, _ROOT, *_STREAMED) or raw.response_gen is None:
                outputs = _read_response(raw)
            else:
                streamed = StreamedAnswer(start)
                for part in raw.response_gen:
                    streamed.add(part)
                outputs = _read_streamed(raw, streamed)
        return _with_usage(outputs, usage())

    async def ainvoke(self, sample: EvaluationSample, top_k: int) -> SystemOutputs:  # noqa: ARG002 - likewise
        with listening() as usage:
            start = perf_counter()
            raw = await self._ask(sample, is_async=True)
            if not is_instance_of(raw, _ROOT, *_STREAMED):
                outputs = _read_response(raw)
            else:
                streamed = StreamedAnswer(start)
                async for part in raw.async_response_gen():
                    streamed.add(part)
                outputs = _read_streamed(raw, streamed)
        return _with_usage(outputs, usage())

    def given(self, nodes: list[Any]) -> _EngineCall:
        """Return what calls the same engine with *nodes* in the place of those that it retrieves."""
        return _Synthesis(self._engine, nodes=nodes)

    def watched(self, look: _LookAtNodes) -> _EngineCall:
        """Return what calls the same engine, and shows *look* its nodes before an answer is made of them."""
        return _Synthesis(self._engine, look=look)

    def has_parts(self, *, is_async: bool) -> bool:
        """Whether the engine retrieves and answers by methods that can be called one after the other."""
        from llama_index.core.base.base_query_engine import BaseQueryEngine

        names = _Synthesis.NAMES[is_async]
        own, bare = ([getattr(kind, name, None) for name in names] for kind in (type(self._engine), BaseQueryEngine))
        return all(one is not None and one is not other for one, other in zip(own, bare, strict=True))

    def _ask(self, sample: EvaluationSample, *, is_async: bool) -> Any:
        return getattr(self._engine, self._names[is_async])(sample.query)


class _Synthesis(_EngineCall):
    """Has a query engine retrieve, unless it is given *nodes*, and make an answer of that."""

    NAMES = (("retrieve", "synthesize"), ("aretrieve", "asynthesize"))

    def __init__(self, engine: Any, *, nodes: list[Any] | None = None, look: _LookAtNodes | None = None) -> None:
        super().__init__(engine, ("query", "aquery"))
        self._nodes, self._look = nodes, look

    def _ask(self, sample: EvaluationSample, *, is_async: bool) -> Any:
        return finish(self._steps(sample, is_async=is_async))

    def _steps(self, sample: EvaluationSample, *, is_async: bool) -> Generator[Any, Any, Any]:
        from llama_index.core.schema import QueryBundle

        retrieve, synthesize = (getattr(self._engine, name) for name in self.NAMES[is_async])
        query, nodes = QueryBundle(sample.query), self._nodes
        if nodes is None:
            nodes = yield retrieve(query)
        if self._look is not None:
            self._look(nodes)
        try:
            return (yield synthesize(query, nodes))
        except NotImplementedError as exc:
            raise NoGeneratorError(name_of(self._engine), str(exc)) from None


class _ChatCall(_EngineCall):
    """Calls a copy of a chat engine with the turns of the case."""

    takes = frozenset({CHAT_HISTORY})

    def __init__(self, engine: Any, *, stream: bool) -> None:
        super().__init__(engine, ("stream_chat", "astream_chat") if stream else ("chat", "achat"))
        self._nodes: list[Any] | None = None
        self._look: _LookAtNodes | None = None
        if not hasattr(engine, "_memory"):
            raise SystemShapeError(
                f"{name_of(engine)} keeps its turns where they cannot be told apart by case: give a function of query "
                "and chat_history that makes a new engine and returns its chat(query, chat_history)"
            )

    def given(self, nodes: list[Any]) -> _EngineCall:
        made = copy.copy(self)
        made._nodes = nodes
        return made

    def watched(self, look: _LookAtNodes) -> _EngineCall:
        made = copy.copy(self)
        made._look = look
        return made

    def has_parts(self, *, is_async: bool) -> bool:  # noqa: ARG002 - it has
        return True

    def _ask(self, sample: EvaluationSample, *, is_async: bool) -> Any:
        from llama_index.core.llms import ChatMessage

        engine: Any = copy.copy(self._engine)
        if self._nodes is not None:
            engine._retriever, engine._node_postprocessors = _given_retriever()(self._nodes), []  # no public names
        if self._look is not None:
            engine._node_postprocessors = [*engine._node_postprocessors, _watching_postprocessor()(look=self._look)]
        engine._memory = _empty_memory(self._engine._memory)  # there is no public name for it
        turns = [ChatMessage(**turn) for turn in sample.chat_history]
        return getattr(engine, self._names[is_async])(sample.query, chat_history=turns)


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


def _with_usage(outputs: SystemOutputs, calls: list[dict[str, Any]]) -> SystemOutputs:
    if has_counts(calls):
        outputs.extra[USAGE] = calls
    return outputs


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
