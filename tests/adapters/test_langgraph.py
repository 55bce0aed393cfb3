"""Graphs of LangGraph: a thread for each call, turns among the messages, streams; from the real package."""

from __future__ import annotations

from typing import Any, TypedDict

import pytest

pytest.importorskip("langgraph", reason="langgraph is not installed")

from langchain_core.documents import Document
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph

from pytest_auepora.adapters.langchain import from_langchain
from pytest_auepora.adapters.streams import FIRST_TOKEN
from pytest_auepora.adapters.systems import as_system
from pytest_auepora.core.conversation import CHAT_HISTORY
from pytest_auepora.core.model_calls import USAGE

from .asking import ask, ids
from .test_langchain_chats import ALONE, CHAT, COUNTED, WAIT, Echo, Search


class State(TypedDict, total=False):
    question: str
    context: list[Document]
    answer: str


def messages_graph() -> Any:
    graph = StateGraph(MessagesState)
    graph.add_node("model", lambda state: {"messages": [Echo().invoke(state["messages"])]})
    graph.add_edge(START, "model")
    graph.add_edge("model", END)
    return graph.compile(checkpointer=InMemorySaver())


def rag_graph() -> Any:
    graph = StateGraph(State)
    graph.add_node("find", lambda state: {"context": Search().invoke(state["question"])})
    graph.add_node("say", lambda state: {"answer": Echo().invoke(state["question"]).content})
    graph.add_edge(START, "find")
    graph.add_edge("find", "say")
    graph.add_edge("say", END)
    return graph.compile()


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("use_async", [False, True])
def test_each_call_has_a_thread_of_its_own(stream: bool, use_async: bool) -> None:
    system = from_langchain(messages_graph(), stream=stream, use_async=use_async)
    assert CHAT_HISTORY in system.takes
    for sample, said in (
        (CHAT, "human:hi / ai:hello / human:Q"),
        (ALONE, "human:Q"),
        (CHAT, "human:hi / ai:hello / hu"),
    ):
        outputs = ask(system, sample)
        assert outputs.response.text.startswith(said)
        assert outputs.extra[USAGE] == [COUNTED]
        assert (FIRST_TOKEN in outputs.timings) == stream


def test_a_state_with_documents_and_an_answer() -> None:
    for system in (as_system(rag_graph()), from_langchain(rag_graph(), stream=True)):
        outputs = ask(system, ALONE)
        assert outputs.response.text.strip() == "human:Q"
        assert ids(outputs) == ["live"]
    assert outputs.timings[FIRST_TOKEN] >= WAIT
