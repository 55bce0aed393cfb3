"""LangChain runnables, chains and retrievers as systems.

What a runnable is given is read from its input schema, once, when it is adapted:

* a schema of type ``string``, or one that says nothing: the query itself;
* a mapping: the query under the first of `INPUT_KEYS` there is, and under every other one that is required; a
  required list (a chat history) is given empty; ``messages`` becomes one message of the user's.  A mapping whose
  keys are not said gets the query as ``input``, ``query`` and ``question``;
* a list of messages: one message of the user's.

What it gives: a string or a message is the answer, a mapping holds it under one of `outputs.ANSWER_KEYS` (or as the
last of its ``messages``), a list of documents has no answer, which is then empty.  Where the output holds no
documents, those that the retrievers inside the runnable found are taken, by LangChain's own callbacks.

A runnable is called as it is configured: how many documents it fetches is its own matter, and ``top_k`` does not
change it.  It is called with ``invoke``, unless only the asynchronous half of it is written; every runnable has an
``ainvoke``, which is a thread more often than not, so asynchronous calls are asked for: ``from_langchain(chain,
use_async=True)``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..core.types import EvaluationSample, SystemOutputs
from ..errors import OutputShapeError, SystemShapeError
from .langchain_inputs import INPUT_KEYS, input_maker
from .outputs import ANSWER_KEYS, DOCUMENT_KEYS, to_outputs
from .shapes import describe
from .systems import System, kind_of, name_of, provenance_of

_ROOT = "langchain_core"


def from_langchain(
    runnable: Any,
    *,
    input_key: str | None = None,
    make_input: Callable[[EvaluationSample], Any] | None = None,
    use_async: bool | None = None,
) -> System:
    """Return a LangChain runnable as a `System`, for when the fixture has to say more than the runnable does.

    Args:
        runnable: a chain, a retriever or any other ``Runnable``.
        input_key: the key that the query is given under.
        make_input: makes the whole input from the sample; wins over *input_key*.
        use_async: call ``ainvoke``; by default only where there is nothing else.

    Raises:
        SystemShapeError: *runnable* is no runnable, or wants something that no case has.
    """
    if not kind_of(runnable, _ROOT, "Runnable"):
        raise SystemShapeError(f"no LangChain runnable: {describe(runnable)}")
    if make_input is None:
        make_input = input_maker(runnable, input_key)
    calls_async = _only_async(runnable) if use_async is None else use_async
    call = _Call(runnable, make_input)
    return System(name_of(runnable), calls_async, call.ainvoke if calls_async else call.invoke, provenance_of(runnable))


class _Call:
    """Calls a runnable and listens to its retrievers."""

    def __init__(self, runnable: Any, make_input: Callable[[EvaluationSample], Any]) -> None:
        self._runnable = runnable
        self._make_input = make_input

    def invoke(self, sample: EvaluationSample, top_k: int) -> SystemOutputs:  # noqa: ARG002 - see the module's docstring
        found = _Found()
        raw = self._runnable.invoke(self._make_input(sample), config={"callbacks": [found.handler()]})
        return _outputs(raw, found)

    async def ainvoke(self, sample: EvaluationSample, top_k: int) -> SystemOutputs:  # noqa: ARG002 - as above
        found = _Found()
        raw = await self._runnable.ainvoke(self._make_input(sample), config={"callbacks": [found.handler()]})
        return _outputs(raw, found)


class _Found:
    """What the retrievers of one call found, and how long they took."""

    def __init__(self) -> None:
        self.documents: list[Any] = []
        self.seconds = 0.0
        self.searches = 0
        self._started: dict[Any, float] = {}

    def start(self, run_id: Any) -> None:
        self._started[run_id] = time.perf_counter()

    def end(self, run_id: Any, documents: Any) -> None:
        if (start := self._started.pop(run_id, None)) is not None:
            self.seconds += time.perf_counter() - start
        self.documents.extend(documents)
        self.searches += 1

    def handler(self) -> Any:
        """Return a callback handler that reports here."""
        from langchain_core.callbacks import BaseCallbackHandler

        found = self

        class Listener(BaseCallbackHandler):  # type: ignore[misc]
            run_inline = True  # or the end of a retrieval would be noted after the answer is there

            def on_retriever_start(self, *_: Any, run_id: Any = None, **__: Any) -> None:
                found.start(run_id)

            def on_retriever_end(self, documents: Any, *, run_id: Any = None, **_: Any) -> None:
                found.end(run_id, documents)

        return Listener()


def _outputs(raw: Any, found: _Found) -> SystemOutputs:
    answer, documents, rest = _parts(raw)
    outputs = to_outputs({**rest, "answer": answer, "documents": found.documents if documents is None else documents})
    if documents is None and not found.searches:
        outputs.extra["auepora_notes"] = ["the answer came without documents"]
    if found.searches:
        outputs.timings.setdefault("retrieval", found.seconds)
    return outputs


def _parts(raw: Any) -> tuple[Any, list[Any] | None, dict[str, Any]]:
    """Return the answer, the documents if there are any in *raw*, and what else it holds."""
    if _is_documents(raw):
        return "", list(raw), {}
    if isinstance(raw, str):
        return raw, None, {}
    if _is_message(raw):
        return _text(raw), None, {}
    if not isinstance(raw, Mapping):
        return _answer(raw), None, {}
    key = next((k for k in DOCUMENT_KEYS if _is_documents(raw.get(k))), None)
    documents = None if key is None else list(raw[key])
    messages = raw.get("messages")
    if isinstance(messages, Sequence) and messages and all(map(_is_message, messages)):
        return _text(messages[-1]), _artifacts(messages) if documents is None else documents, {}
    answer = next((k for k in ANSWER_KEYS if raw.get(k) is not None and not _is_documents(raw[k])), None)
    rest = {k: v for k, v in raw.items() if k not in (key, answer) and k not in (*INPUT_KEYS, *DOCUMENT_KEYS)}
    if answer is None and documents is not None:
        return "", documents, rest
    if answer is None:
        raise OutputShapeError(
            f"the runnable gave {describe(raw)}; the answer is looked for under {', '.join(ANSWER_KEYS)}"
        )
    return _answer(raw[answer]), documents, rest


def _answer(value: Any) -> Any:
    return _text(value) if _is_message(value) else value


def _is_documents(value: Any) -> bool:
    """Whether *value* is a list of LangChain documents; an empty list is one too."""
    return isinstance(value, (list, tuple)) and all(kind_of(v, _ROOT, "BaseMedia", "Document") for v in value)


def _is_message(value: Any) -> bool:
    return kind_of(value, _ROOT, "BaseMessage")


def _text(message: Any) -> str:
    """The text of a message, whose content may be a list of blocks."""
    content = message.content
    if isinstance(content, str):
        return content
    parts = [b if isinstance(b, str) else b.get("text", "") for b in content if isinstance(b, (str, Mapping))]
    return "".join(p for p in parts if isinstance(p, str))


def _artifacts(messages: Sequence[Any]) -> list[Any] | None:
    """The documents that retrieval tools left in their messages, or None where no tool did."""
    lists = [m.artifact for m in messages if isinstance(getattr(m, "artifact", None), list)]
    found = [documents for documents in lists if _is_documents(documents)]
    return [d for documents in found for d in documents] if found else None


def _only_async(runnable: Any) -> bool:
    """Whether some part of *runnable* is a coroutine function without a plain one beside it."""
    inside = vars(runnable) if hasattr(runnable, "__dict__") else {}
    if kind_of(runnable, _ROOT, "RunnableLambda"):
        return "func" not in inside and "afunc" in inside
    if kind_of(runnable, _ROOT, "RunnableGenerator"):
        return "_transform" not in inside and "_atransform" in inside
    parts: list[Any] = []
    if kind_of(runnable, _ROOT, "RunnableSequence"):
        parts = list(runnable.steps)
    elif kind_of(runnable, _ROOT, "RunnableParallel"):
        parts = list(runnable.steps__.values())
    elif kind_of(runnable, _ROOT, "RunnableAssign"):
        parts = [runnable.mapper]
    elif kind_of(runnable, _ROOT, "RunnableBindingBase"):
        parts = [runnable.bound]
    return any(map(_only_async, parts))
