"""What a LangChain runnable is given, read from its input schema, once, when it is adapted; and what it gives.

* A schema of type ``string``, or one that says nothing: the query itself.
* A mapping: the query under the first there is of the names of a query, and under every other one that is required; the
  turns before it under ``chat_history`` or ``history``, or under the first list of messages; any other list that is
  required is empty; ``messages`` have the turns, where nothing else has them, and the query.  A mapping whose keys are
  not said gets the query as ``input``, ``query`` and ``question``.
* A list of messages: the turns, and the query as a message of the user's.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, get_origin, get_type_hints

from ..core.conversation import CHAT_HISTORY, turns_of
from ..core.types import EvaluationSample
from ..errors import OutputShapeError, SystemShapeError
from .completions import message_text
from .outputs import ANSWER_KEYS, DOCUMENT_KEYS
from .shapes import describe, is_instance_of, is_list_of
from .signatures import NAMES, QUERY_NAMES

_ROOT = "langchain_core"

_GUESSED_KEYS = ("input", "query", "question")
_MESSAGES_KEY = "messages"


@dataclass(frozen=True)
class ChainInput:
    """Makes the input of a runnable from a sample; ``has_turns`` says whether earlier turns are in it."""

    make: Callable[[EvaluationSample], Any]
    has_turns: bool = False

    def __call__(self, sample: EvaluationSample) -> Any:
        """Return the input."""
        return self.make(sample)


_QUERY = ChainInput(lambda sample: sample.query)


def input_maker(runnable: Any, input_key: str | None, history_key: str | None = None) -> ChainInput:
    """Return what makes the input of *runnable* from a sample; the keys are those that the user names.

    Raises `SystemShapeError` as `from_langchain` does.
    """
    if input_key is not None:
        return _mapping_input([input_key], [history_key] if history_key else [])
    if is_instance_of(runnable, _ROOT, "BaseRetriever"):
        return _QUERY
    if keys := getattr(runnable, "input_keys", None):  # the chains of older versions name them
        return _input_from_keys(runnable, {str(k): {} for k in keys}, [str(k) for k in keys], history_key)
    schema = _input_schema(runnable)
    if schema.get("type") == "object":
        properties = schema.get("properties")
        if not properties or set(properties) == {"root"}:  # pydantic's name for a mapping whose keys are not known
            return _mapping_input(_GUESSED_KEYS, [history_key] if history_key else [])
        return _input_from_keys(runnable, properties, schema.get("required", ()), history_key)
    if schema.get("type") == "array":
        return ChainInput(_all_messages, has_turns=True)
    if _holds_messages(schema):  # or a text, as a chat model alone
        return ChainInput(lambda sample: _all_messages(sample) if sample.chat_history else sample.query, has_turns=True)
    return _QUERY


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
    runnable: Any, properties: Mapping[str, Any], required: Any, history_key: str | None
) -> ChainInput:
    query_keys = [k for k in QUERY_NAMES if k in properties]
    filled = [k for k in query_keys if k in required] or query_keys[:1]
    lists = [k for k in required if k not in query_keys and k != _MESSAGES_KEY and _is_list(properties.get(k))]
    named = [k for k in NAMES[CHAT_HISTORY] if k in properties]
    others = (
        k for k, schema in properties.items() if k not in (*query_keys, _MESSAGES_KEY) and _holds_messages(schema)
    )
    history_keys = [history_key] if history_key else named or [*others][:1]
    empty = [k for k in lists if k not in history_keys]
    given = {*filled, *lists, *history_keys, _MESSAGES_KEY}
    missing = [k for k in required if k not in given]
    has_no_query = not filled and _MESSAGES_KEY not in properties
    if has_no_query and len(missing) == 1:  # one key alone can be nothing else
        filled, missing, has_no_query = missing, [], False
    if has_no_query or missing:
        wants = ", ".join(map(repr, missing or properties))
        raise SystemShapeError(
            f"{type(runnable).__name__} wants {wants}; the query is given under {', '.join(QUERY_NAMES)}. Name its key "
            "with from_langchain(chain, input_key=…), make the input with from_langchain(chain, make_input=lambda "
            "sample: {…}), or put RunnableLambda(lambda query: {…}) before the chain"
        )
    return _mapping_input(filled, history_keys, empty, messages=_MESSAGES_KEY in required or not filled)


def _is_list(schema: Any) -> bool:
    if not isinstance(schema, Mapping):
        return False
    return schema.get("type") == "array" or any(map(_is_list, schema.get("anyOf", ())))


def _holds_messages(schema: Any) -> bool:
    """Whether *schema* is one of a list of messages, which are known by their classes."""
    return _is_list(schema) and "Message" in str([part.get("items") for part in (schema, *schema.get("anyOf", ()))])


def _mapping_input(
    query_keys: Iterable[str], history_keys: Iterable[str], empty_keys: Iterable[str] = (), *, messages: bool = False
) -> ChainInput:
    """Return the input of a mapping; ``messages`` have the turns where no other key has them, and then the query."""
    history_keys = [*history_keys]
    turns_in_messages = messages and not history_keys

    def make(sample: EvaluationSample) -> dict[str, Any]:
        made = {**dict.fromkeys(query_keys, sample.query), **{key: [] for key in empty_keys}}
        made |= {key: chat_messages(sample) for key in history_keys}
        if messages:
            made[_MESSAGES_KEY] = _all_messages(sample) if turns_in_messages else [_user_message(sample)]
        return made

    return ChainInput(make, has_turns=bool(history_keys) or turns_in_messages)


def chat_messages(sample: EvaluationSample) -> list[Any]:
    """Return the turns before the query as messages of LangChain."""
    if not sample.chat_history:
        return []
    from langchain_core.messages import convert_to_messages

    return list(convert_to_messages(turns_of(sample)))


def _all_messages(sample: EvaluationSample) -> list[Any]:
    return [*chat_messages(sample), _user_message(sample)]


def _user_message(sample: EvaluationSample) -> Any:
    from langchain_core.messages import HumanMessage

    return HumanMessage(content=sample.query)


def split_output(raw: Any) -> tuple[Any, list[Any] | None, dict[str, Any]]:
    """Return the answer, the documents if there are any in *raw*, and what else it holds."""
    if is_documents(raw):
        return "", list(raw), {}
    if not isinstance(raw, Mapping):
        return answer_text(raw), None, {}
    documents_key = next((k for k in DOCUMENT_KEYS if is_documents(raw.get(k))), None)
    documents = None if documents_key is None else list(raw[documents_key])
    messages = raw.get("messages")
    if isinstance(messages, Sequence) and messages and all(map(_is_message, messages)):
        return answer_text(messages[-1]), _tool_documents(messages) if documents is None else documents, {}
    answer_key = next((k for k in ANSWER_KEYS if raw.get(k) is not None and not is_documents(raw[k])), None)
    if answer_key is None and documents is None:
        keys = ", ".join(ANSWER_KEYS)
        raise OutputShapeError(f"the runnable gave {describe(raw)}; the answer is looked for under {keys}")
    used = {documents_key, answer_key, *QUERY_NAMES, *DOCUMENT_KEYS}
    rest = {k: v for k, v in raw.items() if k not in used}
    return "" if answer_key is None else answer_text(raw[answer_key]), documents, rest


def is_documents(value: Any) -> bool:
    """Whether *value* is a list of LangChain documents; an empty list is one too."""
    return is_list_of(value, _ROOT, "BaseMedia", "Document")


def _is_message(value: Any) -> bool:
    return is_instance_of(value, _ROOT, "BaseMessage")


def answer_text(value: Any) -> Any:
    """Return the text of a message; any other value itself."""
    return message_text(value) if _is_message(value) else value


def _tool_documents(messages: Sequence[Any]) -> list[Any] | None:
    """Return the documents that retrieval tools left in their messages; None where no tool did."""
    artifacts = [getattr(message, "artifact", None) for message in messages]
    results = [found for found in artifacts if isinstance(found, list) and is_documents(found)]
    return list(chain.from_iterable(results)) if results else None
