"""What a LangChain runnable wants to be given, read from its input schema."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_origin, get_type_hints

from ..core.types import EvaluationSample
from ..errors import SystemShapeError
from .systems import kind_of

INPUT_KEYS = (
    "input",
    "query",
    "question",
    "user_input",
    "user_query",
    "user_question",
    "prompt",
    "message",
    "text",
    "q",
)
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
    if kind_of(runnable, "langchain_core", "BaseRetriever"):
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
