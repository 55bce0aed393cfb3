"""LangChain: earlier turns, a fresh state for each call, usage, streams; from the real package."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

pytest.importorskip("langchain_core", reason="the extra langchain is not installed")

from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.output_parsers import StrOutputParser
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_core.runnables.history import RunnableWithMessageHistory

from pytest_auepora.adapters.langchain import from_langchain
from pytest_auepora.adapters.streams import FIRST_TOKEN
from pytest_auepora.adapters.systems import as_system
from pytest_auepora.core.conversation import CHAT_HISTORY, PRINCIPAL
from pytest_auepora.core.model_calls import USAGE
from pytest_auepora.core.types import EvaluationSample

from .asking import SAMPLE, ask, ids

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

TURNS = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
CHAT = replace(SAMPLE, query="Q", chat_history=TURNS)
ALONE = replace(SAMPLE, query="Q")
COUNTS = {"input_tokens": 12, "output_tokens": 3, "total_tokens": 15, "input_token_details": {"cache_read": 8}}
COUNTED = {"model": "m-1", "input_tokens": 12, "output_tokens": 3, "cached_tokens": 8}
WAIT = 0.02


class Echo(BaseChatModel):
    """Says what it was told, word by word where it is streamed; counts tokens as the providers' models do."""

    counts: bool = True

    @property
    def _llm_type(self) -> str:
        return "echo"

    def _said(self, messages: Any) -> str:
        return " / ".join(f"{message.type}:{message.content}" for message in messages)

    def _usage(self) -> Any:
        return COUNTS if self.counts else None

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **_: Any) -> ChatResult:
        said = AIMessage(self._said(messages), usage_metadata=self._usage(), response_metadata={"model_name": "m-1"})
        return ChatResult(generations=[ChatGeneration(message=said)])

    def _stream(self, messages: Any, stop: Any = None, run_manager: Any = None, **_: Any) -> Iterator[Any]:
        for word in self._said(messages).split(" "):
            time.sleep(WAIT)
            yield ChatGenerationChunk(message=AIMessageChunk(f"{word} "))
        yield ChatGenerationChunk(
            message=AIMessageChunk("", usage_metadata=self._usage(), response_metadata={"model_name": "m-1"})
        )


class Search(BaseRetriever):
    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return [Document("LIVE", id="live")]


def chat_chain(**options: Any) -> Any:
    prompt = ChatPromptTemplate.from_messages([MessagesPlaceholder("chat_history", optional=True), ("user", "{input}")])
    return prompt | Echo(**options)


def lcel() -> Any:
    prompt = ChatPromptTemplate.from_template("{context} {question}")
    found = Search() | RunnableLambda(lambda docs: "+".join(d.page_content for d in docs))
    return {"context": found, "question": RunnablePassthrough()} | prompt | Echo() | StrOutputParser()


STORE: dict[str, InMemoryChatMessageHistory] = {}


def session(session_id: str) -> InMemoryChatMessageHistory:
    return STORE.setdefault(session_id, InMemoryChatMessageHistory())


def with_memory() -> Any:
    return RunnableWithMessageHistory(
        chat_chain(), session, input_messages_key="input", history_messages_key="chat_history"
    )


@pytest.mark.parametrize("use_async", [False, True])
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    "make",
    [
        chat_chain,
        with_memory,
        lambda: with_memory().with_config(tags=["x"]),
        lambda: RunnableWithMessageHistory(Echo(), session),
        Echo,
    ],
    ids=["chat_history", "memory", "bound", "messages", "model"],
)
def test_turns_come_before_the_query_and_none_are_kept(make: Any, stream: bool, use_async: bool) -> None:
    system = from_langchain(make(), stream=stream, use_async=use_async)
    assert CHAT_HISTORY in system.takes
    for sample, said in ((CHAT, "human:hi / ai:hello / human:Q"), (ALONE, "human:Q"), (CHAT, "human:hi / ai:hello /")):
        assert ask(system, sample).response.text.startswith(said)


def test_another_key_may_take_the_turns() -> None:
    prompt = ChatPromptTemplate.from_messages([MessagesPlaceholder("earlier"), ("user", "{input}")])
    found = as_system(prompt | Echo())
    assert ask(found, CHAT).response.text == "human:hi / ai:hello / human:Q"
    lambdas = RunnableLambda(lambda given: f"{len(given['turns'])} {given['frage']}")
    named = from_langchain(lambdas, input_key="frage", history_key="turns")
    assert ask(named, CHAT).response.text == "2 Q"


def test_a_chain_of_the_query_alone_takes_no_turns() -> None:
    assert as_system(lcel()).takes == {PRINCIPAL}
    assert as_system(Search()).takes == {PRINCIPAL}


def test_who_asks_stands_in_the_configuration() -> None:
    def answer(query: str, config: Any) -> str:
        return f"{config['metadata'].get('principal')} {config['configurable'].get('principal')}"

    system = as_system(RunnableLambda(answer))
    assert ask(system, EvaluationSample("c", "Q", labels={"as": "intern"})).response.text == "intern intern"
    assert ask(system, ALONE).response.text == "None None"


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("use_async", [False, True])
def test_usage_is_that_of_the_models_though_a_parser_drops_it(stream: bool, use_async: bool) -> None:
    outputs = ask(from_langchain(lcel(), stream=stream, use_async=use_async))
    assert outputs.extra[USAGE] == [COUNTED]
    assert ids(outputs) == ["live"]


def test_every_call_of_a_model_counts() -> None:
    two = chat_chain() | RunnableLambda(lambda message: {"input": message.content}) | chat_chain(counts=False)
    assert ask(two, ALONE).extra[USAGE] == [COUNTED, {"model": "m-1"}]


def test_a_streamed_chain_says_when_its_first_token_came() -> None:
    start = time.perf_counter()
    outputs = ask(from_langchain(lcel(), stream=True))
    seconds = time.perf_counter() - start
    assert outputs.response.text.strip() == f"human:LIVE {SAMPLE.query}"
    assert WAIT <= outputs.timings[FIRST_TOKEN] <= seconds - 6 * WAIT, "six more words came later"
    assert FIRST_TOKEN not in ask(from_langchain(lcel())).timings


def test_a_streamed_mapping_is_added_up() -> None:
    answer = RunnablePassthrough.assign(context=lambda given: Search().invoke(given["input"]))
    chain = answer.assign(answer=ChatPromptTemplate.from_template("{input}") | Echo() | StrOutputParser())
    outputs = ask(from_langchain(chain, stream=True), ALONE)
    assert outputs.response.text == "human:Q "
    assert ids(outputs) == ["live"]
    assert outputs.timings[FIRST_TOKEN] >= WAIT


def test_a_function_at_the_end_makes_one_chunk() -> None:
    outputs = ask(from_langchain(lcel() | RunnableLambda(str.upper), stream=True))
    assert outputs.response.text.startswith("HUMAN:LIVE")
    assert outputs.timings[FIRST_TOKEN] >= 7 * WAIT, "all words came before"
