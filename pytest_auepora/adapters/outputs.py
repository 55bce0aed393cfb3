"""Whatever a RAG system returned → `SystemOutputs`.

The answer is looked for under `ANSWER_KEYS`, the documents under `DOCUMENT_KEYS`, in this order; ``timings`` are
seconds, or milliseconds where a name ends in ``_ms`` (`core.telemetry.TIMINGS`); ids that come in a list of their own
(`_ID_LIST_KEYS`) go to the documents; ``refused``, ``citations`` and ``metadata`` go to ``response.metadata``; every
other key to ``extra``, ``usage`` in the form of `core.model_calls`.  A chat completion of OpenAI's form is an answer.
"""

from __future__ import annotations

import copy
import inspect
import math
from collections.abc import Iterator, Mapping
from typing import Any

from ..base.text import did_you_mean
from ..core.telemetry import seconds_by_name
from ..core.types import Document, Response, RetrievedDocument, SystemOutputs
from ..errors import OutputShapeError
from .completions import CHOICES, completion_text
from .documents import assign_ids, document_notes, to_retrieved
from .reported_usage import MODEL_KEYS, USAGE_KEYS, note_usage
from .shapes import describe, fields_of, first_of

ANSWER_KEYS = (
    "answer", "response", "result", "output", "generated_answer", "final_answer", "output_text", "completion", "text",
    "content", "message",
)  # fmt: skip
DOCUMENT_KEYS = (
    "documents", "retrieved", "retrieved_documents", "retrieved_docs", "source_documents", "source_nodes", "docs",
    "contexts", "retrieved_contexts", "context", "chunks", "passages", "sources", "hits",
)  # fmt: skip
_ID_LIST_KEYS = (
    "doc_ids", "document_ids", "chunk_ids", "context_ids", "retrieved_ids", "retrieved_doc_ids",
    "retrieved_context_ids", "source_ids", "ids",
)  # fmt: skip
NOTES = "auepora_notes"
"""The key of ``SystemOutputs.extra`` that holds what a report should say about the outputs' shape."""
WITHOUT_DOCUMENTS = "the answer came without documents"
"""One of these notes."""

ACCEPTED = (
    "SystemOutputs; Response; a string; (answer, documents); or a mapping or object with an answer "
    "(answer, response, result, output, text) and optionally documents (documents, contexts, source_documents, "
    "retrieved, …), timings, refused, citations, metadata"
)
_TEXT_KEYS = ("text", "content", "answer", "response")
_ANSWER_METADATA_KEYS = ("refused", "citations")
_FLAGS = ("refused", "grounded")
_OTHER_KEYS = ("timings", "metadata", "structured", "extra", *_ANSWER_METADATA_KEYS)
_KNOWN_KEYS = (*ANSWER_KEYS, *DOCUMENT_KEYS, *_ID_LIST_KEYS, *_OTHER_KEYS, *USAGE_KEYS, *MODEL_KEYS, CHOICES)


def to_outputs(raw: Any) -> SystemOutputs:
    """Return *raw* as fresh `SystemOutputs` with ranks 1..n; raises `OutputShapeError` where it is no answer."""
    outputs = _read(raw)
    _read_flags(outputs.response.metadata)
    if problem := note_usage(outputs):
        _add_notes(outputs, [problem])
    return outputs


def _read(raw: Any) -> SystemOutputs:
    if isinstance(raw, SystemOutputs):
        return _fresh_copy(raw)
    if isinstance(raw, (str, Response)):
        return _build(raw, None)
    if isinstance(raw, tuple) and not hasattr(raw, "_fields"):
        return _build(*_split_pair(raw))
    fields = None if isinstance(raw, (Document, RetrievedDocument)) else fields_of(raw, _KNOWN_KEYS)
    if fields is None or _is_stream(raw):
        raise _shape_error(raw)
    return _from_fields(raw, fields)


def documents_in(raw: Any) -> Any:
    """Return the documents of *raw* as the system has them; None where there are none, or it is no answer."""
    if isinstance(raw, SystemOutputs):
        return raw.retrieved
    if isinstance(raw, tuple) and not hasattr(raw, "_fields"):
        return next((part for part in raw if not isinstance(part, (str, Response))), None) if len(raw) == 2 else None
    fields = fields_of(raw, DOCUMENT_KEYS) or {}
    return None if (key := first_of(fields, DOCUMENT_KEYS)) is None else fields[key]


def to_response(raw: Any) -> Response:
    """Return a string, or what holds one, as a fresh `Response`; raises `OutputShapeError` where there is no text."""
    if isinstance(raw, Response):
        if not isinstance(raw.text, str):
            raise OutputShapeError(f"the text of the Response is {describe(raw.text)}, not a string", ACCEPTED)
        return Response(raw.text, raw.structured, _as_dict(raw.metadata))
    if isinstance(raw, str):
        return Response(str(raw))
    if not isinstance(raw, (Document, RetrievedDocument)) and not _is_stream(raw):
        fields = fields_of(raw, (*_TEXT_KEYS, "metadata")) or {}
        key = first_of(fields, _TEXT_KEYS)
        if key and isinstance(fields[key], str):
            return Response(str(fields[key]), metadata=_as_dict(fields.get("metadata")))
    raise OutputShapeError(f"the answer is {describe(raw)}, not a text{_mistake_hint(raw)}", ACCEPTED)


def _fresh_copy(raw: SystemOutputs) -> SystemOutputs:
    outputs = copy.copy(raw)  # a subclass stays what it is
    outputs.retrieved = to_retrieved(raw.retrieved)
    outputs.response = to_response(raw.response)
    outputs.timings, dropped = _read_timings(raw.timings)
    outputs.extra = _as_dict(raw.extra)
    outputs.memo = {}
    _add_notes(outputs, [*document_notes(outputs.retrieved), *dropped])
    return outputs


def _build(answer: Any, documents: Any) -> SystemOutputs:
    outputs = SystemOutputs(to_retrieved(documents), to_response(answer))
    _add_notes(outputs, document_notes(outputs.retrieved) if documents is not None else [WITHOUT_DOCUMENTS])
    return outputs


def _split_pair(raw: tuple[Any, ...]) -> tuple[Any, Any]:
    """Return the answer and the documents of a pair, in whichever order it has them."""
    if len(raw) == 2:
        for answer, documents in (raw, raw[::-1]):
            if _is_answer(answer) and not _is_answer(documents):
                return answer, documents
    raise _shape_error(raw)


def _is_answer(value: Any) -> bool:
    if isinstance(value, (str, Response)):
        return True
    if isinstance(value, (list, Document, RetrievedDocument)) or _is_stream(value):
        return False
    fields = fields_of(value, _TEXT_KEYS) or {}
    return any(isinstance(fields.get(key), str) for key in _TEXT_KEYS)


def _from_fields(raw: Any, fields: dict[str, Any]) -> SystemOutputs:
    answer_key = first_of(fields, ANSWER_KEYS)
    if answer_key is None and (text := completion_text(fields.get(CHOICES))) is not None:
        answer_key, fields = "answer", {**{k: fields.get(k) for k in (*USAGE_KEYS, *MODEL_KEYS)}, "answer": text}
    if answer_key is None:
        raise _shape_error(raw, fields)
    documents_key = first_of(fields, DOCUMENT_KEYS)
    try:
        outputs = _build(fields[answer_key], fields.get(documents_key) if documents_key else None)
    except OutputShapeError as exc:
        raise exc.at(f"in what the RAG returned, {describe(raw)}") from None
    ids_key = first_of(fields, _ID_LIST_KEYS)
    if ids_key and (with_given_ids := assign_ids(outputs.retrieved, fields[ids_key])) is not None:
        outputs.retrieved = with_given_ids
        outputs.extra.pop(NOTES, None)
    else:
        ids_key = None
    outputs.timings, dropped = _read_timings(fields.get("timings"))
    metadata = {**_as_dict(fields.get("metadata")), **{k: fields[k] for k in _ANSWER_METADATA_KEYS if k in fields}}
    outputs.response.metadata.update(metadata)
    if isinstance(structured := fields.get("structured"), dict):
        outputs.response.structured = structured
    used = {answer_key, documents_key, ids_key, *_OTHER_KEYS}
    outputs.extra = {
        **{k: v for k, v in fields.items() if k not in used},
        **_as_dict(fields.get("extra")),
        **outputs.extra,
    }
    _add_notes(outputs, dropped)
    return outputs


def _read_timings(raw: Any) -> tuple[dict[str, float], list[str]]:
    """Return the usable timings and a note for each that is not."""
    if raw is None:
        return {}, []
    if not isinstance(raw, Mapping):
        raise OutputShapeError(f"timings are {describe(raw)}; accepted: a mapping of names to seconds")
    timings: dict[str, float] = {}
    notes = []
    for name, value in raw.items():
        if value is None:
            continue
        try:
            seconds = float(value)
        except (TypeError, ValueError, OverflowError):
            raise OutputShapeError(f"timings[{name!r}] is {describe(value)}; accepted: seconds") from None
        if math.isfinite(seconds) and seconds >= 0:
            timings |= seconds_by_name(str(name), seconds)
        else:
            notes.append(f"timings[{name!r}] was {seconds} and is left out")
    return timings, notes


def _read_flags(metadata: dict[str, Any]) -> None:
    """Make what an answer says of itself True or False; the text "false" would be true."""
    for name in _FLAGS:
        if (value := metadata.get(name)) is None:
            continue
        try:
            is_flag = value in (0, 1)  # numpy has booleans of its own
        except (TypeError, ValueError):
            is_flag = False
        if not is_flag:
            raise OutputShapeError(f"{name} is {describe(value)}; accepted: true, false")
        metadata[name] = bool(value)


def _as_dict(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}


def _add_notes(outputs: SystemOutputs, notes: list[str]) -> None:
    if notes and (new_notes := [n for n in notes if n not in outputs.extra.get(NOTES, ())]):
        outputs.extra[NOTES] = [*outputs.extra.get(NOTES, ()), *new_notes]


def _is_stream(raw: Any) -> bool:
    return isinstance(raw, Iterator) or inspect.isawaitable(raw) or hasattr(raw, "__anext__")


def _shape_error(raw: Any, fields: Mapping[str, Any] | None = None) -> OutputShapeError:
    hint = _mistake_hint(raw)
    if inspect.iscoroutine(raw):
        raw.close()  # it is never awaited
    known = (*ANSWER_KEYS, *DOCUMENT_KEYS)
    close_keys = [f"{k!r}{m}" for k in fields or () if k not in known and (m := did_you_mean(k, known, most=1))]
    suggestions = f"; {', '.join(close_keys)}" if close_keys else ""
    has_none = any(key in ANSWER_KEYS for key in fields or ())
    message = "the RAG returned an answer of None" if has_none else "the RAG returned no answer"
    return OutputShapeError(f"{message}; it gave {describe(raw)}{suggestions}{hint}", ACCEPTED)


def _mistake_hint(raw: Any) -> str:
    """Return what probably went wrong, as the end of a message."""
    if raw is None:
        return "; is there a return missing?"
    if inspect.iscoroutine(raw):
        return "; nobody awaited it"
    if inspect.isawaitable(raw):
        return "; it has not finished"
    if hasattr(raw, "__anext__"):
        return "; it streams: collect the parts first, ''.join([part async for part in stream])"
    if isinstance(raw, Iterator):
        return "; it streams: collect the parts first, ''.join(stream)"
    if isinstance(raw, (bytes, bytearray)):
        return "; decode it: answer.decode()"
    if isinstance(raw, (list, set, frozenset)):
        return "; documents are not an answer: return (answer, documents), with '' as the answer of a retriever alone"
    if isinstance(raw, tuple):
        return "; which one is the answer? One of two must be a text, the other a list of documents"
    return ""
