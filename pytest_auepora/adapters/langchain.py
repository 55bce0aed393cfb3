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
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, get_origin, get_type_hints

from ..core.types import EvaluationSample, SystemOutputs
from ..errors import OutputShapeError, SystemShapeError
from .outputs import ANSWER_KEYS, DOCUMENT_KEYS, NOTES, to_outputs
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

    def invoke(sample: EvaluationSample, top_k: int) -> SystemOutputs:  # noqa: ARG001 - see the module's docstring
        found = _listener()()
        return _outputs(runnable.invoke(make_input(sample), config={"callbacks": [found]}), found)

    async def ainvoke(sample: EvaluationSample, top_k: int) -> SystemOutputs:  # noqa: ARG001 - as above
        found = _listener()()
        return _outputs(await runnable.ainvoke(make_input(sample), config={"callbacks": [found]}), found)

    return System(name_of(runnable), calls_async, ainvoke if calls_async else invoke, provenance_of(runnable))


@cache
def _listener() -> Any:
    """Return the class of what listens to the retrievers of one call; LangChain is imported when it is first called."""
    from langchain_core.callbacks import BaseCallbackHandler

    class Listener(BaseCallbackHandler):  # type: ignore[misc]
        """What the retrievers of one call found, and how long they took."""

        run_inline = True  # or the end of a retrieval would be noted after the answer is there

        def __init__(self) -> None:
            self.documents: list[Any] = []
            self.seconds = 0.0
            self.searches = 0
            self._started: dict[Any, float] = {}

        def on_retriever_start(self, *_: Any, run_id: Any = None, **__: Any) -> None:
            self._started[run_id] = time.perf_counter()

        def on_retriever_end(self, documents: Any, *, run_id: Any = None, **_: Any) -> None:
            if (start := self._started.pop(run_id, None)) is not None:
                self.seconds += time.perf_counter() - start
            self.documents.extend(documents)
            self.searches += 1

    return Listener


def _outputs(raw: Any, found: Any) -> SystemOutputs:
    answer, documents, rest = _parts(raw)
    outputs = to_outputs({**rest, "answer": answer, "documents": found.documents if documents is None else documents})
    if documents is None and not found.searches:
        outputs.extra[NOTES] = ["the answer came without documents"]
    if found.searches:
        outputs.timings.setdefault("retrieval", found.seconds)
    return outputs


def _parts(raw: Any) -> tuple[Any, list[Any] | None, dict[str, Any]]:
    """Return the answer, the documents if there are any in *raw*, and what else it holds."""
    if _is_documents(raw):
        return "", list(raw), {}
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


INPUT_KEYS = (
    "input", "query", "question", "user_input", "user_query", "user_question", "prompt", "message", "text", "q",
)  # fmt: skip
"""Keys that the query goes under, in this order."""

_GUESSED = ("input", "query", "question")
_MESSAGES = "messages"


def input_maker(runnable: Any, input_key: str | None) -> Callable[[EvaluationSample], Any]:
    """Return what makes the input of *runnable* from a sample.

    Raises:
        SystemShapeError: the runnable requires a key that no case has a value for.
    """
    if input_key is not None:
        return _mapping((input_key,), ())
    if kind_of(runnable, _ROOT, "BaseRetriever"):
        return _query
    if keys := getattr(runnable, "input_keys", None):  # the chains of old say it themselves
        return _of_keys(runnable, {str(k): {} for k in keys}, [str(k) for k in keys])
    schema = _schema(runnable)
    if schema.get("type") == "object":
        properties = schema.get("properties")
        if not properties or set(properties) == {"root"}:  # pydantic's name for a mapping whose keys are not known
            return _mapping(_GUESSED, ())
        return _of_keys(runnable, properties, schema.get("required", ()))
    if schema.get("type") == "array":
        return lambda sample: [_message(sample)]
    return _query


def _schema(runnable: Any) -> Mapping[str, Any]:
    """The JSON Schema of the input, or an empty one: not every type that people annotate with has one."""
    try:
        with warnings.catch_warnings():  # looking is our doing: a deprecation in there is nothing to tell the user
            warnings.simplefilter("ignore")
            made = runnable.get_input_jsonschema()
        while isinstance(made, Mapping) and "$ref" in made and "type" not in made:
            made = made["$defs"][made["$ref"].rpartition("/")[2]]
    except Exception:  # pydantic's many ways to refuse, a typing.TypedDict before Python 3.12 among them
        return _of_typed_dict(runnable)
    return made if isinstance(made, Mapping) else {}


def _of_typed_dict(runnable: Any) -> Mapping[str, Any]:
    kind = getattr(runnable, "InputType", None)
    required = getattr(kind, "__required_keys__", None)
    if required is None:
        return {}
    try:
        hints = get_type_hints(kind)
    except Exception:  # a name that is known only where the type was written
        hints = dict(getattr(kind, "__annotations__", {}))
    properties = {k: {"type": "array"} if get_origin(hint) in (list, Sequence) else {} for k, hint in hints.items()}
    return {"type": "object", "properties": properties, "required": [k for k in hints if k in required]}


def _of_keys(
    runnable: Any, properties: Mapping[str, Any], required: Any
) -> Callable[[EvaluationSample], dict[str, Any]]:
    known = [k for k in INPUT_KEYS if k in properties]
    queries = [k for k in known if k in required] or known[:1]
    empty = [k for k in required if k not in known and k != _MESSAGES and _is_list(properties.get(k))]
    missing = [k for k in required if k not in queries and k not in empty and k != _MESSAGES]
    strange = not queries and _MESSAGES not in properties
    if strange and len(missing) == 1:  # one key alone can be nothing else
        queries, missing, strange = missing, [], False
    if strange or missing:
        wants = ", ".join(map(repr, missing or properties))
        raise SystemShapeError(
            f"{type(runnable).__name__} wants {wants}; the query is given under {', '.join(INPUT_KEYS)}. Name its key "
            "with from_langchain(chain, input_key=…), make the input with from_langchain(chain, make_input=lambda "
            "sample: {…}), or put RunnableLambda(lambda query: {…}) before the chain"
        )
    return _mapping(tuple(queries), tuple(empty), messages=_MESSAGES in required or not queries)


def _is_list(schema: Any) -> bool:
    if not isinstance(schema, Mapping):
        return False
    return schema.get("type") == "array" or any(map(_is_list, schema.get("anyOf", ())))


def _mapping(
    queries: tuple[str, ...], empty: tuple[str, ...], *, messages: bool = False
) -> Callable[[EvaluationSample], dict[str, Any]]:
    def make(sample: EvaluationSample) -> dict[str, Any]:
        made: dict[str, Any] = dict.fromkeys(queries, sample.query)
        made.update({key: [] for key in empty})
        if messages:
            made[_MESSAGES] = [_message(sample)]
        return made

    return make


def _query(sample: EvaluationSample) -> str:
    return sample.query


def _message(sample: EvaluationSample) -> Any:
    from langchain_core.messages import HumanMessage

    return HumanMessage(content=sample.query)
