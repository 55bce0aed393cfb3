"""Haystack: earlier turns, usage, streams; from the real package."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest

pytest.importorskip("haystack", reason="the extra haystack is not installed")

import haystack
from haystack import Pipeline
from haystack.components.builders import AnswerBuilder, ChatPromptBuilder, PromptBuilder
from haystack.dataclasses import ChatMessage

from pytest_auepora.adapters.haystack import from_haystack, input_maker
from pytest_auepora.adapters.streams import FIRST_TOKEN
from pytest_auepora.adapters.systems import as_system
from pytest_auepora.core.conversation import CHAT_HISTORY, PRINCIPAL
from pytest_auepora.core.model_calls import USAGE
from pytest_auepora.core.types import EvaluationSample
from pytest_auepora.errors import SystemShapeError

from .asking import SAMPLE, ask, ids
from .haystack_parts import WORD_SECONDS, PlainHistory, Teller
from .test_haystack import both, pipeline

TURNS = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
CHAT, ALONE = replace(SAMPLE, query="Q", chat_history=TURNS), replace(SAMPLE, query="Q")
COUNTED = {"model": "m-1", "input_tokens": 6, "output_tokens": 2}
ASYNC: Any = getattr(haystack, "AsyncPipeline", Pipeline)
"""A pipeline of Haystack 3 runs both ways."""

HISTORY_TEMPLATE = (
    '{% for m in history %}{% message role=m.role.value %}{{ m.text }}{% endmessage %}{% endfor %}'
    '{% message role="user" %}{{ query }}{% endmessage %}'
)  # fmt: skip


def of_messages() -> Pipeline:
    return pipeline(("llm", Teller()))


def of_a_variable() -> Pipeline:
    prompt = ChatPromptBuilder(HISTORY_TEMPLATE, required_variables=["query"])
    return pipeline(("prompt", prompt), ("llm", Teller()), connect=(("prompt.prompt", "llm.messages"),))


def rag(make: Any = Pipeline) -> Any:
    prompt = ChatPromptBuilder(
        [ChatMessage.from_user("{% for d in documents %}{{ d.content }} {% endfor %}{{ query }}")],
        required_variables="*",
    )
    made = make()
    for name, part in (("retriever", both()), ("prompt", prompt), ("llm", Teller()), ("answers", AnswerBuilder())):
        made.add_component(name, part)
    for sender, receiver in (
        ("retriever", "prompt.documents"), ("retriever", "answers.documents"), ("prompt", "llm.messages"),
        ("llm.replies", "answers.replies"),
    ):  # fmt: skip
        made.connect(sender, receiver)
    return made


@pytest.mark.parametrize("make", [of_messages, of_a_variable])
def test_turns_come_before_the_query(make: Any) -> None:
    system = as_system(make())
    assert CHAT_HISTORY in system.takes
    for sample, said in ((CHAT, "user:hi / assistant:hello / user:Q"), (ALONE, "user:Q")):
        assert ask(system, sample).response.text == said


def test_turns_may_be_plain_mappings() -> None:
    system = as_system(pipeline(("own", PlainHistory())))
    assert ask(system, CHAT).response.text == "2 hello Q"
    assert ask(system, ALONE).response.text == "0 - Q"


def test_turns_and_who_asks_may_stand_in_inputs_given_by_hand() -> None:
    prompt = ChatPromptBuilder([ChatMessage.from_user("{{ query }} by {{ who }}")], required_variables="*")
    made = pipeline(("prompt", prompt), ("llm", Teller()))
    given = {"prompt": {"query": "{query}", "who": "<{principal}>"}, "llm": {"messages": "{messages}"}}
    system = from_haystack(made, inputs=given)
    assert system.takes == {CHAT_HISTORY, PRINCIPAL}
    assert ask(system, CHAT).response.text == "user:hi / assistant:hello / user:Q"
    filters = {"retriever": {"filters": {"field": "meta.role", "operator": "==", "value": "{principal}"}}}
    assert PRINCIPAL in from_haystack(rag(), inputs=filters).takes
    intern = from_haystack(made, inputs=given).invoke(EvaluationSample("c", "Q", labels={"as": "intern"}), 5)
    assert intern.response.text == "user:Q"


def test_turns_inside_of_a_text_are_written_out() -> None:
    make_inputs = input_maker(
        pipeline(("prompt", PromptBuilder("{{ text }}"))), {"prompt": {"text": "{chat_history}\n{query}"}}
    )
    assert make_inputs.takes == {CHAT_HISTORY}
    assert make_inputs(CHAT) == {"prompt": {"text": "user: hi\nassistant: hello\nQ"}}


def test_a_pipeline_without_a_place_for_turns_takes_none() -> None:
    assert as_system(rag()).takes == frozenset()


def test_usage_and_model_are_those_of_the_replies() -> None:
    outputs = ask(rag())
    assert outputs.extra[USAGE] == [COUNTED]
    assert ids(outputs) == ["policy", "parcels"]
    assert FIRST_TOKEN not in outputs.timings


@pytest.mark.parametrize("is_async", [False, True])
def test_a_streamed_pipeline_says_when_its_first_token_came(is_async: bool) -> None:
    system = from_haystack(rag(ASYNC if is_async else Pipeline), stream=True, use_async=is_async)
    assert system.is_async == is_async
    start = time.perf_counter()
    outputs = ask(system)
    assert outputs.response.text.endswith(SAMPLE.query)
    assert WORD_SECONDS <= outputs.timings[FIRST_TOKEN] <= time.perf_counter() - start - WORD_SECONDS
    assert outputs.extra[USAGE] == [COUNTED]


def test_a_pipeline_that_cannot_stream_says_so() -> None:
    with pytest.raises(SystemShapeError, match="takes a streaming_callback"):
        from_haystack(pipeline(("own", PlainHistory())), stream=True)


def test_an_agent_gets_the_turns_among_its_messages() -> None:
    generators = pytest.importorskip("haystack.components.generators.chat")
    if not hasattr(generators, "MockChatGenerator"):
        pytest.skip("Haystack before 3 has no model that stands in for one with tools")
    from haystack.components.agents import Agent

    said = generators.MockChatGenerator(response_fn=lambda messages: " / ".join(m.text for m in messages))
    outputs = ask(as_system(pipeline(("agent", Agent(chat_generator=said, tools=[])))), CHAT)
    assert outputs.response.text == "hi / hello / Q"
    assert [call["model"] for call in outputs.extra[USAGE]] == ["mock-model"]
