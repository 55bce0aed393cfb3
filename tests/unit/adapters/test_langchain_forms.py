"""What a runnable is given, by what its input schema says; no LangChain is needed to read one."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any, TypedDict

import pytest

from pytest_auepora.adapters.langchain_forms import input_maker
from pytest_auepora.adapters.signatures import QUERY_NAMES
from pytest_auepora.core.types import EvaluationSample
from pytest_auepora.errors import SystemShapeError

SAMPLE = EvaluationSample("c", "When?")


class Chain:
    """A runnable whose input has *schema*; an exception is raised instead."""

    def __init__(self, schema: Any, input_type: Any = None) -> None:
        self.schema = schema
        self.InputType = input_type

    def get_input_jsonschema(self) -> Any:
        if isinstance(self.schema, Exception):
            raise self.schema
        return self.schema


def keys(*required: str, **properties: Any) -> Chain:
    given = {key: {"type": "string"} for key in required}
    return Chain({"type": "object", "properties": {**given, **properties}, "required": list(required)})


def given(runnable: Any, input_key: str | None = None) -> Any:
    return input_maker(runnable, input_key)(SAMPLE)


@pytest.fixture
def message(monkeypatch: pytest.MonkeyPatch) -> Any:
    """What stands for LangChain's message of a person."""
    package, messages = ModuleType("langchain_core"), ModuleType("langchain_core.messages")
    messages.HumanMessage = lambda content: ("human", content)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "langchain_core", package)
    monkeypatch.setitem(sys.modules, "langchain_core.messages", messages)
    return ("human", "When?")


@pytest.mark.parametrize("schema", [{"type": "string"}, {}, None, {"anyOf": [{"type": "string"}]}, ValueError("none")])
def test_a_text_where_no_mapping_is_asked_for(schema: Any) -> None:
    assert given(Chain(schema)) == "When?"
    assert given(SimpleNamespace()) == "When?"


def test_a_key_that_the_user_names_counts_alone() -> None:
    assert given(keys("language", "topic"), "topic") == {"topic": "When?"}


def test_a_retriever_is_given_the_query_whatever_its_schema() -> None:
    kind = type("BaseRetriever", (Chain,), {"__module__": "langchain_core.retrievers"})
    assert given(kind({"type": "object", "properties": {"language": {}}, "required": ["language"]})) == "When?"


@pytest.mark.parametrize("schema", [{"type": "object"}, {"type": "object", "properties": {"root": {}}}])
def test_keys_that_are_not_told_are_guessed(schema: Any) -> None:
    assert given(Chain(schema)) == dict.fromkeys(("input", "query", "question"), "When?")


@pytest.mark.parametrize("key", [*QUERY_NAMES, "topic"])
def test_the_one_required_key_gets_the_query(key: str) -> None:
    assert given(keys(key, extra={"type": "string"})) == {key: "When?"}


def test_every_required_key_of_a_query_gets_it() -> None:
    assert given(keys("question", "text", input={})) == dict.fromkeys(("question", "text"), "When?")


def test_of_keys_that_are_optional_the_most_usual_gets_it() -> None:
    assert given(keys(question={}, query={}, k={"type": "integer"})) == {"query": "When?"}


@pytest.mark.parametrize("history", [{"type": "array"}, {"anyOf": [{"type": "null"}, {"type": "array"}]}])
def test_lists_that_are_required_are_empty(history: Any) -> None:
    chain = Chain({"type": "object", "properties": {"q": {}, "history": history}, "required": ["q", "history"]})
    first, second = given(chain), given(chain)
    assert first == {"q": "When?", "history": []}
    assert first["history"] is not second["history"]


@pytest.mark.parametrize(
    ("chain", "wants"),
    [
        (keys("question", "language"), "'language'"),
        (keys("language", "country"), "'language', 'country'"),
        (keys(language={}, country={}), "'language', 'country'"),
        (keys("history", history={"type": "array"}), "'history'"),
        (keys("question", "anything", anything=True), "'anything'"),  # a schema may be no more than that
    ],
)
def test_a_key_that_no_case_has(chain: Chain, wants: str) -> None:
    with pytest.raises(SystemShapeError, match=f"^Chain wants {wants}; the query is given under query, .*input_key="):
        input_maker(chain, None)


def test_chains_of_old_name_their_keys() -> None:
    assert given(SimpleNamespace(input_keys=["question"])) == {"question": "When?"}
    with pytest.raises(SystemShapeError, match="SimpleNamespace wants 'language'"):
        input_maker(SimpleNamespace(input_keys=["question", "language"]), None)


def test_a_schema_may_be_defined_elsewhere() -> None:
    inside = {"type": "object", "properties": {"topic": {}}, "required": ["topic"]}
    defs = {"A": {"$ref": "#/$defs/B", "$defs": {"B": inside}}}
    assert given(Chain({"$ref": "#/$defs/A", "$defs": defs})) == {"topic": "When?"}
    assert given(Chain({"$ref": "#/$defs/lost", "$defs": {}})) == "When?"


class Asked(TypedDict):
    question: str
    history: list[str]


class Unknown(TypedDict):
    question: "NameOfElsewhere"  # type: ignore[name-defined]  # noqa: F821, UP037


def test_a_typed_dict_that_has_no_schema_is_read_itself() -> None:
    assert given(Chain(TypeError("typing.TypedDict"), Asked)) == {"question": "When?", "history": []}
    assert given(Chain(TypeError("typing.TypedDict"), Unknown)) == {"question": "When?"}


def test_a_conversation_is_one_message(message: Any) -> None:
    assert given(Chain({"type": "array", "items": {}})) == [message]
    assert given(keys(messages={"type": "array"})) == {"messages": [message]}
    assert given(keys("messages", "question")) == {"question": "When?", "messages": [message]}
    assert given(keys("question", messages={"type": "array"})) == {"question": "When?"}
