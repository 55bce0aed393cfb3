"""One RAG call a trace: what was asked, found and said, whatever instrumentation wrote its spans.

Read are the attributes of OpenInference, those of OpenTelemetry for generative AI (``gen_ai.*``), and the inputs and
outputs that OpenLLMetry keeps as JSON (``traceloop.entity.*``), in this order of belief.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..adapters.documents import to_document
from ..adapters.outputs import ANSWER_KEYS, DOCUMENT_KEYS
from ..errors import OutputShapeError
from ..io.importers.chats import HISTORY_KEYS, is_messages, last_exchange
from ..io.importers.imported import Dropped
from ..metrics.ranking.gold import SOURCE_KEYS
from .spans import Span

_QUERY_KEYS = ("query", "question", "user_input", "input", "inputs", "prompt", "message", "query_str", "text",
               "str_or_query_bundle", "query_bundle", "q", "data")  # fmt: skip
_INPUTS = ("input.value", "gen_ai.task.input", "traceloop.entity.input")
_OUTPUTS = ("output.value", "gen_ai.task.output", "traceloop.entity.output")
_OUTPUT_KEYS = (*ANSWER_KEYS, "outputs", "data")
_FOUND_KEYS = (*DOCUMENT_KEYS, "outputs", "nodes")
_CONVERSATIONS = (
    "session.id", "gen_ai.conversation.id",
    *(f"traceloop.association.properties.{name}" for name in ("session_id", "conversation_id", "thread_id")),
)  # fmt: skip
_MODELS = ("gen_ai.response.model", "llm.model_name", "gen_ai.request.model")
_TOKENS = (("llm.token_count.prompt", "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
           ("llm.token_count.completion", "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"))  # fmt: skip
_OPERATIONS = {
    **dict.fromkeys(("retrieval", "vector_db_retrieve"), "RETRIEVER"),
    **dict.fromkeys(("chat", "text_completion", "generate_content"), "LLM"),
    "invoke_agent": "AGENT", "execute_tool": "TOOL", "embeddings": "EMBEDDING",
}  # fmt: skip
_PARTS = ("LLM", "RETRIEVER", "RERANKER", "TOOL", "EMBEDDING")
"""Kinds of spans that are no whole call: what they are asked was made from the question."""
_MESSAGE = re.compile(
    r"(?:llm\.(input|output)_messages|gen_ai\.(prompt|completion))\.(\d+)\.(?:message\.)?"
    r"(role|content|contents\.\d+\.message_content\.text)"
)
_DOCUMENT = re.compile(r"(?:retrieval\.documents|reranker\.output_documents)\.(\d+)\.document\.(\w+)")
_FEEDBACK = re.compile(r"(?:(?:trace|session|span)\.)?(?:annotations|evaluations)\.\d+\.\w+\.name")
_RETRIEVES = re.compile(r"retrieve(?!rqueryengine)", re.IGNORECASE)
_OF_DOCUMENTS = {"page_content", "id_"}
"""Keys of the documents and nodes of frameworks, and of nothing else that they write."""
_UNKNOWN = ("unknown", "None", "")
_DEEPEST = 6


@dataclass(slots=True)
class TraceDocument:
    """A document that was found: its id, if it had one, the document that it was cut from, and its text."""

    id: str
    doc: str
    text: str


@dataclass(slots=True)
class TraceCall:
    """One call of a RAG system: ``said`` is what it answered, right or wrong."""

    trace: str
    query: str = ""
    said: str = ""
    history: list[dict[str, str]] = field(default_factory=list)
    documents: list[TraceDocument] = field(default_factory=list)
    conversation: str = ""
    model: str = ""
    tags: list[str] = field(default_factory=list)
    feedback: dict[str, str] = field(default_factory=dict)
    input_tokens: int = 0
    output_tokens: int = 0
    attributes: dict[str, Any] = field(default_factory=dict)
    """Those of the span of the whole call, and of the root that it may be in."""


def calls_of(traces: Mapping[str, Sequence[Span]]) -> list[TraceCall]:
    """Return a call for each trace, in their order; a later turn of a conversation has the earlier ones before it."""
    calls = [call_of(trace, spans) for trace, spans in traces.items()]
    turns: dict[str, list[dict[str, str]]] = {}
    for call in calls:
        if not call.conversation or not call.query:
            continue
        earlier = turns.setdefault(call.conversation, [])
        call.history = call.history or list(earlier)
        earlier += [{"user": call.query}, *([{"assistant": call.said}] if call.said else [])]
    return calls


def call_of(trace: str, spans: Sequence[Span]) -> TraceCall:
    """Return the call of one trace, whose *spans* are in the order they began."""
    ids = {span.id for span in spans}
    root = next((span for span in spans if span.parent not in ids), spans[0])
    kinds = {span.id: _kind_of(span) for span in spans}
    models = [span for span in spans if kinds[span.id] in ("LLM", "AGENT")]
    finders = _outermost(spans, kinds)
    asked = [(span, *_asked(span)) for span in (root, *spans) if span is root or kinds[span.id] not in _PARTS]
    whole, query, history = next((found for found in asked if found[1]), (root, "", []))
    call = TraceCall(trace, query, attributes={**whole.attributes, **root.attributes})
    # a chain around another that knows the turns is asked the same
    call.history = max((turns for _, same, turns in asked if same == query), key=len, default=history)
    if not query:
        call.query = next((found for span in finders if (found := _query_of(span))), "")
    if not call.query:  # all that is left is what the model was given
        given = map(_asked, reversed(models))
        call.query, call.history = next((asked for asked in given if asked[0]), ("", []))
    call.said = _said(whole) or next((said for span in reversed(models) if (said := _said(span))), "")
    call.documents = _documents_of((whole, *spans), finders, kinds)
    call.conversation = _first_of((root, *spans), _CONVERSATIONS)
    call.model = _first_of(models[::-1], _MODELS)
    call.input_tokens, call.output_tokens = _tokens_of(spans, kinds)
    call.tags = [str(tag) for tag in call.attributes.get("tag.tags") or ()]
    call.feedback = dict(_feedback_in(spans))
    return call


def _first_of(spans: Iterable[Span], names: Sequence[str]) -> str:
    values = (str(span.attributes.get(name, "")) for span in spans for name in names)
    return next((value for value in values if value not in _UNKNOWN), "")


def _kind_of(span: Span) -> str:
    a = span.attributes
    kind = a.get("openinference.span.kind") or _OPERATIONS.get(str(a.get("gen_ai.operation.name", "")))
    if kind is None and _RETRIEVES.search(span.name):  # nothing else says so
        kind = "RETRIEVER"
    return str(kind or "").upper()


def _ancestors(span: Span, by_id: Mapping[str, Span]) -> Iterator[Span]:
    seen = {span.id}
    while (parent := by_id.get(span.parent)) is not None and parent.id not in seen:
        yield parent
        seen.add(parent.id)
        span = parent


def _outermost(spans: Sequence[Span], kinds: Mapping[str, str]) -> list[Span]:
    """Return the spans that found or sorted documents, without those inside another of their kind."""
    by_id = {span.id: span for span in spans}
    return [
        span
        for span in spans
        if kinds[span.id] in ("RETRIEVER", "RERANKER")
        and all(kinds[above.id] != kinds[span.id] for above in _ancestors(span, by_id))
    ]


def _loaded(text: Any) -> Any:
    """Return the JSON in an attribute, the text itself where it is none; None for what only begins like JSON."""
    if not isinstance(text, str) or not text.lstrip().startswith(("{", "[", '"')):
        return text
    try:
        return json.loads(text, object_hook=_unwrapped)
    except (ValueError, RecursionError):
        return None


def _unwrapped(value: dict[str, Any]) -> dict[str, Any]:
    """Return what LangChain wraps when it writes its objects: ``{lc, kwargs}``, and ``{type, data}`` of messages."""
    if "lc" in value and isinstance(kwargs := value.get("kwargs"), dict):
        return kwargs
    if value.keys() == {"type", "data"} and isinstance(data := value["data"], dict):
        return {**data, "type": value["type"]}
    return value


def _asked(span: Span) -> tuple[str, list[dict[str, str]]]:
    """Return the question of a span, and the turns before it where the input has them.

    Of inputs written several times the longest conversation counts: an instrumentation may tell of its first message.
    """
    found: list[tuple[str, list[dict[str, str]]]] = []
    told = [_flat_messages(span, ("input", "prompt"))]
    for value in (*told, *(_loaded(span.attributes.get(key)) for key in ("gen_ai.input.messages", *_INPUTS))):
        if (messages := _messages_in(value)) is not None:
            query, history, *_ = last_exchange(messages, Dropped())
            found += [(query, history)] if query else []
        elif query := _text_at(value, _QUERY_KEYS):
            found.append((query, _history_in(value)))
    return max(found, key=lambda asked: len(asked[1]), default=("", []))


def _flat_messages(span: Span, sides: Sequence[str]) -> list[dict[str, str]]:
    """Return the messages that a model was given, or said, as attributes of their own."""
    messages: dict[int, dict[str, str]] = {}
    for key, value in span.attributes.items():
        if (match := _MESSAGE.fullmatch(key)) and (side := match[1] or match[2]) in sides:
            role = "user" if side in ("input", "prompt") else "assistant"
            message = messages.setdefault(int(match[3]), {"role": role, "content": ""})
            if match[4] == "role":
                message["role"] = str(value)
            else:
                message["content"] += str(value)
    return [messages[i] for i in sorted(messages)]


def _messages_in(value: Any) -> Any:
    """Return the messages that *value* is, or has instead of a question."""
    if isinstance(value, list):
        value = value[0] if len(value) == 1 and isinstance(value[0], list) else value  # of a batch of one
        messages = [_as_message(message) for message in value]
        return messages if is_messages(messages) else None
    if not isinstance(value, Mapping):
        return None
    inner = value.get("messages")
    if isinstance(inner, str):
        return [{"role": "user", "content": inner}]
    return _messages_in(inner if isinstance(inner, list) else value.get("inputs"))


def _as_message(raw: Any) -> Any:
    """Return a message of ``gen_ai.*``, whose content are parts, or LangChain's pair, as one with its content."""
    if isinstance(raw, list) and len(raw) == 2:
        return dict(zip(("role", "content"), raw, strict=True))
    if isinstance(raw, Mapping) and isinstance(parts := raw.get("parts"), list):
        texts = [{"text": p.get("content")} for p in parts if isinstance(p, Mapping) and p.get("type") != "tool_call"]
        return {"role": raw.get("role"), "content": texts}
    return raw


def _turns_in(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Return all that was said, as the turns before a question."""
    return last_exchange(messages, Dropped(), "?").history


def _history_in(value: Any) -> list[dict[str, str]]:
    """Return the turns that stand beside a question."""
    if not isinstance(value, Mapping):
        return []
    for key in HISTORY_KEYS:
        if (messages := _messages_in(value.get(key))) is not None:
            return _turns_in(messages)
    return next((found for key in _QUERY_KEYS if (found := _history_in(value.get(key)))), [])


def _text_at(value: Any, keys: Sequence[str], depth: int = 0) -> str:
    """Return the text that *value* is, or has under one of *keys*, however deep."""
    if isinstance(value, str):
        return value.strip()
    if not isinstance(value, Mapping) or depth > _DEEPEST:
        return ""
    for key in keys:
        if key in value and (text := _text_at(value[key], keys, depth + 1)):
            return text
    # of inputs by component, as Haystack has them, if all say the same
    inner = {text for part in value.values() if isinstance(part, Mapping) and (text := _text_at(part, keys, depth + 1))}
    return inner.pop() if len(inner) == 1 else ""


def _query_of(span: Span) -> str:
    if text := str(span.attributes.get("gen_ai.retrieval.query.text", "")):
        return text
    return next((q for key in _INPUTS if (q := _text_at(_loaded(span.attributes.get(key)), _QUERY_KEYS))), "")


def _said(span: Span) -> str:
    """Return the answer in the output of a span."""
    told = [_flat_messages(span, ("output", "completion"))]
    for value in (*told, *(_loaded(span.attributes.get(key)) for key in ("gen_ai.output.messages", *_OUTPUTS))):
        if (messages := _messages_in(value)) is not None:
            turns = _turns_in(messages)
            if turns and "assistant" in turns[-1]:
                return turns[-1]["assistant"]
        elif text := _text_at(value, _OUTPUT_KEYS):
            return text
    return ""


def _documents_of(spans: Sequence[Span], finders: Sequence[Span], kinds: Mapping[str, str]) -> list[TraceDocument]:
    """Return what was found; where documents were sorted anew, what came of that; else what the first span gave."""
    rerankers = [span for span in finders if kinds[span.id] == "RERANKER"]
    told = [document for span in rerankers[-1:] or finders for document in _documents_in(span)]
    if not told:
        told = next((found for span in spans if (found := _documents_given(span))), [])
    return list({(document.id, document.text): document for document in told}.values())


def _documents_in(span: Span) -> Iterator[TraceDocument]:
    found: dict[int, dict[str, Any]] = {}
    for key, value in span.attributes.items():
        if match := _DOCUMENT.fullmatch(key):
            found.setdefault(int(match[1]), {})[match[2]] = value
    told: list[Any] = [found[i] for i in sorted(found)]
    told = told or _as_list(_loaded(span.attributes.get("gen_ai.retrieval.documents")))
    outputs = (_loaded(span.attributes.get(key)) for key in _OUTPUTS)
    kept = next((rows for value in outputs if (rows := _kept_documents(value))), [])
    pairs = zip(told, kept, strict=True) if len(told) == len(kept) else ((row, {}) for row in told or kept)
    for row, beside in pairs:  # LangChain's ids stand only in the output
        if (document := _document(row, beside)) is not None:
            yield document


def _documents_given(span: Span) -> list[TraceDocument]:
    """Return the documents of the frameworks in the output of a span that is not said to find any."""
    rows = (row for key in _OUTPUTS for row in _kept_documents(_loaded(span.attributes.get(key))))
    return [found for row in rows if row.keys() & _OF_DOCUMENTS and (found := _document(row, {})) is not None]


def _kept_documents(value: Any, depth: int = 0) -> list[Any]:
    """Return the documents in an output that was kept as JSON."""
    if isinstance(value, Mapping):
        inner = (_kept_documents(value.get(key), depth + 1) for key in _FOUND_KEYS if depth <= _DEEPEST)
        return next((rows for rows in inner if rows), [])
    rows = [row for raw in _as_list(value) if isinstance(row := _loaded(raw), Mapping)]
    return [{**row["node"], "score": row.get("score")} if isinstance(row.get("node"), Mapping) else row for row in rows]


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _document(row: Any, beside: Any) -> TraceDocument | None:
    """Return the document of *row*, with the id that stands *beside* it; None where it is none."""
    if isinstance(row, Mapping):
        row = {key: _loaded(value) if key == "metadata" else value for key, value in row.items()}
        if not row.get("id") and isinstance(beside, Mapping):
            row["id"] = beside.get("id") or beside.get("id_")
    try:
        document = to_document(row)
    except OutputShapeError:
        return None
    doc = next((str(document.metadata[k]) for k in SOURCE_KEYS if document.metadata.get(k)), "")
    return TraceDocument("" if "id_source" in document.metadata else document.doc_id, doc, document.text)


def _tokens_of(spans: Sequence[Span], kinds: Mapping[str, str]) -> tuple[int, int]:
    """Return the tokens in and out; a span around another that counts tells nothing new."""
    by_id = {span.id: span for span in spans}
    names = [name for of_kind in _TOKENS for name in of_kind]
    counting = [
        span for span in spans
        if kinds[span.id] != "EMBEDDING" and any(isinstance(span.attributes.get(name), int) for name in names)
    ]  # fmt: skip
    outer = {above.id for span in counting for above in _ancestors(span, by_id)}
    inner = [span.attributes for span in counting if span.id not in outer]
    tokens_in, tokens_out = (
        sum(next((n for name in of_kind if isinstance(n := a.get(name), int)), 0) for a in inner) for of_kind in _TOKENS
    )
    return tokens_in, tokens_out


def _feedback_in(spans: Sequence[Span]) -> Iterator[tuple[str, str]]:
    """Yield what people, or programs, said of the call: by name, the label or the score."""
    for span in spans:
        for key, name in span.attributes.items():
            if _FEEDBACK.fullmatch(key):
                stem = key.removesuffix("name")
                value = span.attributes.get(f"{stem}label", span.attributes.get(f"{stem}score"))
                yield str(name), str(value)
        for event, attributes in span.events:
            if event == "gen_ai.evaluation.result" and "gen_ai.evaluation.name" in attributes:
                stem = "gen_ai.evaluation.score."
                value = attributes.get(f"{stem}label", attributes.get(f"{stem}value"))
                yield str(attributes["gen_ai.evaluation.name"]), str(value)
