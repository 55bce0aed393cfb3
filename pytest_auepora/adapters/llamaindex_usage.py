"""What the models of one LlamaIndex call counted, heard on its dispatcher.

Handlers are added to the dispatcher once a process, as there is no way to remove them; a tag, which is a context
variable, says which call an event belongs to.  A model whose ``chat`` calls its ``complete`` tells of both: the
outermost span counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any
from uuid import uuid4

from ..core.model_calls import TOKEN_KEYS
from .reported_usage import MODEL_KEYS, USAGE_KEYS
from .shapes import fields_of, first_of

_TAG = "auepora_call"
_calls: dict[str, _Heard] = {}


class _Heard:
    """The spans of one call by their parents, and the answers of its models by their spans."""

    def __init__(self) -> None:
        self.parents: dict[str, str | None] = {}
        self.models: dict[str, str] = {}
        self.answers: dict[str, Any] = {}

    def usage(self) -> list[dict[str, Any]]:
        """Return the usage of each call of a model that no other such call made."""
        kept: list[tuple[str, Any]] = []
        for span, answer in self.answers.items():  # an inner call ends first; in a stream its span may have no parent
            kept = [(inner, said) for inner, said in kept if not _is_same(said, answer)]
            kept.append((span, answer))
        outer = ((s, answer) for s, answer in kept if not any(above in self.answers for above in self._above(s)))
        return [_usage_of(answer, self.models.get(span, "")) for span, answer in outer]

    def _above(self, span: str) -> Iterator[str]:
        seen = {span}
        while (parent := self.parents.get(span)) is not None and parent not in seen:
            yield parent
            seen.add(span := parent)


def _is_same(answer: Any, other: Any) -> bool:
    """Whether both are what the service said once."""
    raw = getattr(answer, "raw", None)
    return answer is other or (raw is not None and raw is getattr(other, "raw", None))


@contextmanager
def listening() -> Iterator[Callable[[], list[dict[str, Any]]]]:
    """Listen to what models count inside the block; yields a function that returns it, one mapping a call."""
    _add_handlers()
    from llama_index.core.instrumentation.dispatcher import instrument_tags

    key = str(uuid4())
    _calls[key] = heard = _Heard()
    try:
        with instrument_tags({_TAG: key}):
            yield heard.usage
    finally:
        del _calls[key]


@cache
def _add_handlers() -> None:
    from llama_index.core.instrumentation import get_dispatcher
    from llama_index.core.instrumentation.event_handlers import BaseEventHandler
    from llama_index.core.instrumentation.events.llm import (
        LLMChatEndEvent,
        LLMChatStartEvent,
        LLMCompletionEndEvent,
        LLMCompletionStartEvent,
    )
    from llama_index.core.instrumentation.span_handlers import BaseSpanHandler

    class Answers(BaseEventHandler):  # type: ignore[misc]
        """Notes what the models answer."""

        def handle(self, event: Any, **_: Any) -> None:
            if (heard := _calls.get(event.tags.get(_TAG, ""))) is None:
                return
            if isinstance(event, (LLMChatStartEvent, LLMCompletionStartEvent)):
                key = first_of(event.model_dict, reversed(MODEL_KEYS))
                heard.models[event.span_id] = str(event.model_dict[key]) if key else ""
            elif isinstance(event, (LLMChatEndEvent, LLMCompletionEndEvent)):
                heard.answers[event.span_id] = event.response

    class Spans(BaseSpanHandler):  # type: ignore[misc]
        """Notes the parent of each span, and keeps none."""

        def new_span(self, id_: str, *_: Any, parent_span_id: Any = None, tags: Any = None, **__: Any) -> None:
            if (heard := _calls.get((tags or {}).get(_TAG, ""))) is not None:
                heard.parents[id_] = parent_span_id

        def prepare_to_exit_span(self, *_: Any, **__: Any) -> None:
            return

        def prepare_to_drop_span(self, *_: Any, **__: Any) -> None:
            return

    dispatcher = get_dispatcher()
    dispatcher.add_event_handler(Answers())
    dispatcher.add_span_handler(Spans())


def _usage_of(answer: Any, model: str) -> dict[str, Any]:
    """Return the usage that stands in what the service gave, or beside the answer, and the model."""
    raw = fields_of(getattr(answer, "raw", None), (*USAGE_KEYS, *MODEL_KEYS)) or {}
    key = first_of(raw, USAGE_KEYS)
    usage = raw[key] if key is not None else {**(getattr(answer, "additional_kwargs", None) or {}), **raw}
    model_key = first_of(raw, MODEL_KEYS)
    model = str(raw[model_key]) if model_key is not None else model
    counts = {key: value for key, value in (fields_of(usage, TOKEN_KEYS) or {}).items() if key in TOKEN_KEYS}
    return {**counts, **({"model": model} if model else {})}
