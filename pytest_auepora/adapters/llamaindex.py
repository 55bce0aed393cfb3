"""LlamaIndex query engines and retrievers as systems.

A query engine is asked with ``query`` and gives a response with its source nodes; a stream is read to its end.  A
retriever is asked with ``retrieve`` and has no answer, which is then empty.  Both are called as they are configured:
how many nodes they fetch is their own matter (``similarity_top_k``), and ``top_k`` does not change it.

A node becomes a document with the node's id; ``metadata["document_id"]`` names the document that the node was cut
from: its file where the metadata say so (``file_path``, ``file_name``, ``url``, ``source``), else its id, which is
mostly random.  So a golden case that names it with ``doc:`` outlives a new chunking, whose node ids are new too.

Where nothing was found, a query engine says "Empty Response" without asking the model: that is a refusal.

A chat engine is refused: what it answers depends on what it was asked before.
"""

from __future__ import annotations

from typing import Any

from ..core.types import Document, EvaluationSample, Response, RetrievedDocument, SystemOutputs
from ..errors import OutputShapeError, SystemShapeError
from .documents import name_of_source
from .shapes import describe, is_instance_of
from .systems import System, name_of, provenance_of, read_result

_ROOT = "llama_index"
_EMPTY = "Empty Response"


def from_llamaindex(engine: Any, *, use_async: bool = False) -> System:
    """Return a LlamaIndex query engine or retriever as a `System`.

    Args:
        engine: the query engine or retriever.
        use_async: call ``aquery`` or ``aretrieve``, which are not always asynchronous more than in name.

    Raises:
        SystemShapeError: *engine* is neither.
    """
    if is_instance_of(engine, _ROOT, "BaseQueryEngine"):
        names = ("query", "aquery")
    elif is_instance_of(engine, _ROOT, "BaseRetriever"):
        names = ("retrieve", "aretrieve")
    else:
        hint = ""
        if is_instance_of(engine, _ROOT, "BaseChatEngine"):
            hint = (
                "; a chat engine answers by what it was asked before: give index.as_query_engine(), a retriever, or a "
                "function of the query that makes a new chat engine and returns its chat(query)"
            )
        raise SystemShapeError(f"neither a LlamaIndex query engine nor a retriever: {describe(engine)}{hint}")
    call = getattr(engine, names[use_async])

    def invoke(sample: EvaluationSample, top_k: int) -> Any:  # noqa: ARG001 - see the module's docstring
        return read_result(call(sample.query), _read_response)

    return System(name_of(engine), use_async, invoke, provenance_of(engine))


def _read_response(raw: Any) -> Any:
    """Return the outputs in a response, or an awaitable of them where it is still streamed."""
    if is_instance_of(raw, _ROOT, "StreamingResponse", "AsyncStreamingResponse"):
        return read_result(raw.get_response(), _read_response)
    if isinstance(raw, list):
        return SystemOutputs(_read_nodes(raw), Response(""))
    if not is_instance_of(raw, _ROOT, "Response", "PydanticResponse"):
        raise OutputShapeError(f"the query engine gave {describe(raw)}, not a Response")
    answer = raw.response
    if answer is None:
        raise OutputShapeError(f"the query engine gave a response of None: {describe(raw)}")
    if isinstance(answer, str):
        refused = answer.strip() == _EMPTY and not raw.source_nodes  # LlamaIndex answered in place of the model
        response = Response(answer, metadata={"refused": True} if refused else {})
    else:  # a pydantic model, from a structured output
        response = Response(answer.model_dump_json(), answer.model_dump(mode="json"))
    return SystemOutputs(_read_nodes(raw.source_nodes), response)


def _read_nodes(nodes: list[Any]) -> list[RetrievedDocument]:
    return [RetrievedDocument(_to_document(n.node), float(n.score or 0.0), rank) for rank, n in enumerate(nodes, 1)]


def _to_document(node: Any) -> Document:
    metadata = dict(node.metadata)
    if (source := node.ref_doc_id) is not None:
        metadata["document_id"] = name_of_source(metadata, source)
        if metadata["document_id"] != source:
            metadata.setdefault("ref_doc_id", source)
    for ours, theirs in (("start", "start_char_idx"), ("end", "end_char_idx")):
        if isinstance(offset := getattr(node, theirs, None), int):
            metadata.setdefault(ours, offset)
    return Document(node.node_id, node.get_content(), metadata)
