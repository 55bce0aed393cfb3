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
change it.  Every runnable has an ``ainvoke``, which is a thread more often than not, so it is used where asked for.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Any, get_origin, get_type_hints

from ..core.types import EvaluationSample, SystemOutputs
from ..errors import OutputShapeError, SystemShapeError
from .messages import message_text
from .outputs import ANSWER_KEYS, DOCUMENT_KEYS, to_outputs
from .shapes import describe, is_instance_of
from .systems import System, name_of, provenance_of, read_result

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
    if not is_instance_of(runnable, _ROOT, "Runnable"):
        raise SystemShapeError(f"no LangChain runnable: {describe(runnable)}")
    input_of = make_input or input_maker(runnable, input_key)
    calls_async = _only_async(runnable) if use_async is None else use_async
    call = runnable.ainvoke if calls_async else runnable.invoke

    def invoke(sample: EvaluationSample, top_k: int) -> Any:  # noqa: ARG001 - see the module's docstring
        listener = _listener_class()()
        result = call(input_of(sample), config={"callbacks": [listener]})
        return read_result(result, lambda raw: _read_output(raw, listener))

    return System(name_of(runnable), calls_async, invoke, provenance_of(runnable))


@cache
def _listener_class() -> Any:
    """Return the class that listens to the retrievers of one call; the first call imports LangChain."""
    from langchain_core.callbacks import BaseCallbackHandler

    class Listener(BaseCallbackHandler):  # type: ignore[misc]
        """Collects the documents of the retrievers of one call (None without a retrieval), and the time they took.

        A retriever may ask others (an ensemble, a reranker), directly or in chains of its own: the outermost counts.
        """

        run_inline = True  # otherwise the end of a retrieval is noted after the answer

        def __init__(self) -> None:
            self.documents: list[Any] | None = None
            self.seconds = 0.0
            self._retrieving: set[Any] = set()
            """The outermost retrievals that have not ended."""
            self._started = 0.0
            self._inside: set[Any] = set()
            """The runs that are retrievals, or inside one."""

        def on_retriever_start(self, *_: Any, run_id: Any = None, parent_run_id: Any = None, **__: Any) -> None:
            if parent_run_id not in self._inside:
                if not self._retrieving:
                    self._started = time.perf_counter()
                self._retrieving.add(run_id)
            self._inside.add(run_id)

        def on_chain_start(self, *_: Any, run_id: Any = None, parent_run_id: Any = None, **__: Any) -> None:
            if parent_run_id in self._inside:
                self._inside.add(run_id)

        on_tool_start = on_chain_start

        def on_retriever_end(self, documents: Any, *, run_id: Any = None, **_: Any) -> None:
            if run_id in self._retrieving:
                self._end(run_id)
                self.documents = [*(self.documents or ()), *documents]

        def on_retriever_error(self, *_: Any, run_id: Any = None, **__: Any) -> None:
            if run_id in self._retrieving:
                self._end(run_id)

        def _end(self, run_id: Any) -> None:
            self._retrieving.remove(run_id)
            if not self._retrieving:  # of retrievals side by side, the time until the last has ended
                self.seconds += time.perf_counter() - self._started

    return Listener


def _read_output(raw: Any, listener: Any) -> SystemOutputs:
    answer, documents, rest = _split_output(raw)
    found = listener.documents if documents is None else documents
    outputs = to_outputs({**rest, "answer": answer, "documents": found})
    if listener.documents is not None:
        outputs.timings.setdefault("retrieval", listener.seconds)
    return outputs


def _split_output(raw: Any) -> tuple[Any, list[Any] | None, dict[str, Any]]:
    """Return the answer, the documents if there are any in *raw*, and what else it holds."""
    if _is_documents(raw):
        return "", list(raw), {}
    if not isinstance(raw, Mapping):
        return _answer_text(raw), None, {}
    documents_key = next((k for k in DOCUMENT_KEYS if _is_documents(raw.get(k))), None)
    documents = None if documents_key is None else list(raw[documents_key])
    messages = raw.get("messages")
    if isinstance(messages, Sequence) and messages and all(map(_is_message, messages)):
        return _answer_text(messages[-1]), _tool_documents(messages) if documents is None else documents, {}
    answer_key = next((k for k in ANSWER_KEYS if raw.get(k) is not None and not _is_documents(raw[k])), None)
    if answer_key is None and documents is None:
        keys = ", ".join(ANSWER_KEYS)
        raise OutputShapeError(f"the runnable gave {describe(raw)}; the answer is looked for under {keys}")
    used = {documents_key, answer_key, *INPUT_KEYS, *DOCUMENT_KEYS}
    rest = {k: v for k, v in raw.items() if k not in used}
    return "" if answer_key is None else _answer_text(raw[answer_key]), documents, rest


def _is_documents(value: Any) -> bool:
    """Whether *value* is a list of LangChain documents; an empty list is one too."""
    return isinstance(value, (list, tuple)) and all(is_instance_of(v, _ROOT, "BaseMedia", "Document") for v in value)


def _is_message(value: Any) -> bool:
    return is_instance_of(value, _ROOT, "BaseMessage")


def _answer_text(value: Any) -> Any:
    """Return the text of a message; any other value itself."""
    return message_text(value) if _is_message(value) else value


def _tool_documents(messages: Sequence[Any]) -> list[Any] | None:
    """Return the documents that retrieval tools left in their messages; None where no tool did."""
    artifacts = [getattr(message, "artifact", None) for message in messages]
    results = [found for found in artifacts if isinstance(found, list) and _is_documents(found)]
    return list(chain.from_iterable(results)) if results else None


def _only_async(runnable: Any) -> bool:
    """Whether some part of *runnable* has a coroutine function only."""
    attributes = vars(runnable) if hasattr(runnable, "__dict__") else {}
    if is_instance_of(runnable, _ROOT, "RunnableLambda"):
        return "func" not in attributes and "afunc" in attributes
    if is_instance_of(runnable, _ROOT, "RunnableGenerator"):
        return "_transform" not in attributes and "_atransform" in attributes
    parts: Iterable[Any] = ()
    if is_instance_of(runnable, _ROOT, "RunnableSequence"):
        parts = runnable.steps
    elif is_instance_of(runnable, _ROOT, "RunnableParallel"):
        parts = runnable.steps__.values()
    elif is_instance_of(runnable, _ROOT, "RunnableAssign"):
        parts = [runnable.mapper]
    elif is_instance_of(runnable, _ROOT, "RunnableBindingBase"):
        parts = [runnable.bound]
    return any(map(_only_async, parts))


INPUT_KEYS = (
    "input", "query", "question", "user_input", "user_query", "user_question", "prompt", "message", "text", "q",
)  # fmt: skip
_GUESSED_KEYS = ("input", "query", "question")
_MESSAGES_KEY = "messages"


def input_maker(runnable: Any, input_key: str | None) -> Callable[[EvaluationSample], Any]:
    """Return a function that makes the input of *runnable* from a sample; raises as `from_langchain` does."""
    if input_key is not None:
        return _mapping_input([input_key])
    if is_instance_of(runnable, _ROOT, "BaseRetriever"):
        return lambda sample: sample.query
    if keys := getattr(runnable, "input_keys", None):  # the chains of older versions name them
        return _input_from_keys(runnable, {str(k): {} for k in keys}, [str(k) for k in keys])
    schema = _input_schema(runnable)
    if schema.get("type") == "object":
        properties = schema.get("properties")
        if not properties or set(properties) == {"root"}:  # pydantic's name for a mapping whose keys are not known
            return _mapping_input(_GUESSED_KEYS)
        return _input_from_keys(runnable, properties, schema.get("required", ()))
    if schema.get("type") == "array":
        return lambda sample: [_user_message(sample)]
    return lambda sample: sample.query


def _input_schema(runnable: Any) -> Mapping[str, Any]:
    """Return the JSON Schema of the input; an empty one where its type has none."""
    try:
        with warnings.catch_warnings():  # a deprecation that this look-up triggers does not concern the user
            warnings.simplefilter("ignore")
            schema = runnable.get_input_jsonschema()
        while isinstance(schema, Mapping) and "$ref" in schema and "type" not in schema:
            schema = schema["$defs"][schema["$ref"].rpartition("/")[2]]
    except Exception:  # pydantic's many ways to refuse, a typing.TypedDict before Python 3.12 among them
        return _typed_dict_schema(runnable)
    return schema if isinstance(schema, Mapping) else {}


def _typed_dict_schema(runnable: Any) -> Mapping[str, Any]:
    input_type = getattr(runnable, "InputType", None)
    required = getattr(input_type, "__required_keys__", None)
    if required is None:
        return {}
    try:
        hints = get_type_hints(input_type)
    except Exception:  # a name that is known only where the type was written
        hints = dict(getattr(input_type, "__annotations__", {}))
    properties = {k: {"type": "array"} if get_origin(hint) in (list, Sequence) else {} for k, hint in hints.items()}
    return {"type": "object", "properties": properties, "required": [k for k in hints if k in required]}


def _input_from_keys(
    runnable: Any, properties: Mapping[str, Any], required: Any
) -> Callable[[EvaluationSample], dict[str, Any]]:
    query_keys = [k for k in INPUT_KEYS if k in properties]
    filled = [k for k in query_keys if k in required] or query_keys[:1]
    empty = [k for k in required if k not in query_keys and k != _MESSAGES_KEY and _is_list(properties.get(k))]
    missing = [k for k in required if k not in filled and k not in empty and k != _MESSAGES_KEY]
    has_no_query = not filled and _MESSAGES_KEY not in properties
    if has_no_query and len(missing) == 1:  # one key alone can be nothing else
        filled, missing, has_no_query = missing, [], False
    if has_no_query or missing:
        wants = ", ".join(map(repr, missing or properties))
        raise SystemShapeError(
            f"{type(runnable).__name__} wants {wants}; the query is given under {', '.join(INPUT_KEYS)}. Name its key "
            "with from_langchain(chain, input_key=…), make the input with from_langchain(chain, make_input=lambda "
            "sample: {…}), or put RunnableLambda(lambda query: {…}) before the chain"
        )
    return _mapping_input(filled, empty, messages=_MESSAGES_KEY in required or not filled)


def _is_list(schema: Any) -> bool:
    if not isinstance(schema, Mapping):
        return False
    return schema.get("type") == "array" or any(map(_is_list, schema.get("anyOf", ())))


def _mapping_input(
    query_keys: Iterable[str], empty_keys: Iterable[str] = (), *, messages: bool = False
) -> Callable[[EvaluationSample], dict[str, Any]]:
    return lambda sample: {
        **dict.fromkeys(query_keys, sample.query),
        **{key: [] for key in empty_keys},
        **({_MESSAGES_KEY: [_user_message(sample)]} if messages else {}),
    }


def _user_message(sample: EvaluationSample) -> Any:
    from langchain_core.messages import HumanMessage

    return HumanMessage(content=sample.query)
