"""Given documents before the generator of LangChain and LangGraph objects, which stay as they are."""

from __future__ import annotations

import inspect
from concurrent.futures import ThreadPoolExecutor
from operator import add
from typing import Annotated, Any, TypedDict

import pytest

pytest.importorskip("langchain_core", reason="the extra langchain is not installed")

from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import (
    RunnableBinding,
    RunnableBranch,
    RunnableConfig,
    RunnableLambda,
    RunnablePassthrough,
)

from pytest_auepora.adapters.documents import to_retrieved
from pytest_auepora.adapters.langchain import from_langchain
from pytest_auepora.adapters.parts import with_documents
from pytest_auepora.adapters.systems import as_system
from pytest_auepora.errors import NoGeneratorError

from ..asking import SAMPLE, ask, ids
from .looking import check_looking, look_at

OLD = to_retrieved([Document(page_content="YESTERDAY", id="y1", metadata={"source": "a.md"})])
ASKED, GENERATED = list[str](), list[str]()


class Live(BaseRetriever):
    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        ASKED.append(query)
        return [Document(page_content="LIVE", id="live")]


class Echo(BaseChatModel):
    """Answers with its prompt."""

    @property
    def _llm_type(self) -> str:
        return "echo"

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **_: Any) -> ChatResult:
        said = " / ".join(str(message.content) for message in messages)
        GENERATED.append(said)
        return ChatResult(generations=[ChatGeneration(message=AIMessage(said))])


def joined(documents: list[Document]) -> str:
    return "+".join(f"{document.page_content} ({document.metadata.get('source')})" for document in documents)


PROMPT = ChatPromptTemplate.from_template("ctx={context} q={question}")
GENERATION = PROMPT | Echo() | StrOutputParser()


def parallel() -> Any:
    return {"context": Live() | joined, "question": RunnablePassthrough()} | GENERATION


def assigned() -> Any:
    found = RunnablePassthrough.assign(documents=lambda x: x["question"]) | {
        "documents": RunnableLambda(lambda x: x["question"]) | Live(), "question": lambda x: x["question"],
    }  # fmt: skip
    return found | RunnablePassthrough.assign(context=lambda x: joined(x["documents"])) | GENERATION


def branched() -> Any:
    found = RunnableBranch((bool, Live()), Live().with_config(tags=["other"]))
    return {"context": found | joined, "question": RunnablePassthrough()} | GENERATION


def hidden() -> Any:
    live = Live()
    return RunnableLambda(lambda query: {"answer": GENERATION.invoke(
        {"context": joined(live.invoke(query)), "question": query}
    )})  # fmt: skip


def with_fallback() -> Any:
    return parallel().with_retry().with_fallbacks([RunnableLambda(lambda _: "broken")])


@pytest.fixture(autouse=True)
def nothing_asked() -> None:
    ASKED.clear()
    GENERATED.clear()


@pytest.mark.parametrize("make", [parallel, assigned, hidden, with_fallback])
def test_the_generator_reads_given_documents_alone(make: Any) -> None:
    chain = make()
    system = from_langchain(chain, input_key="question") if make is assigned else as_system(chain)
    given = with_documents(system, OLD)
    outputs = ask(given)
    assert outputs.response.text == f"ctx=YESTERDAY (a.md) q={SAMPLE.query}"
    assert (ids(outputs), ASKED) == (["y1"], [])
    assert "ctx=LIVE" in ask(system).response.text, "the user's own is another one now"
    assert len(ASKED) == 1


@pytest.mark.parametrize("make", [parallel, hidden])
def test_an_asynchronous_chain_is_given_them_as_well(make: Any) -> None:
    system = from_langchain(make(), use_async=True)
    assert "YESTERDAY" in ask(with_documents(system, OLD)).response.text
    assert ASKED == []


@pytest.mark.parametrize("use_async", [False, True])
@pytest.mark.parametrize("make", [parallel, assigned, hidden, with_fallback])
def test_what_was_found_is_seen_before_the_generator_is_asked(make: Any, use_async: bool) -> None:
    input_key = "question" if make is assigned else None
    check_looking(from_langchain(make(), input_key=input_key, use_async=use_async), GENERATED)
    assert len(ASKED) == 3


def test_a_retriever_of_retrievers_is_seen_as_one() -> None:
    class Both(BaseRetriever):
        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
            config: Any = {"callbacks": run_manager.get_child()}
            return [*Live().invoke(query, config), *Live().invoke(query, config)]

    for find in (Both(), RunnableLambda(lambda query: Both().invoke(query))):
        chain: Any = {"context": find | joined, "question": RunnablePassthrough()} | GENERATION
        GENERATED.clear()
        check_looking(as_system(chain), GENERATED)


def test_a_streamed_chain_streams_where_nothing_serves() -> None:
    system = from_langchain(parallel(), stream=True)
    assert "first_token" in look_at(system, serves=False).outputs.timings


def test_calls_side_by_side_get_their_own_documents() -> None:
    system = as_system(hidden())
    words = [f"word{i}" for i in range(12)]

    def answer(word: str) -> str:
        if word == "word5":
            return ask(system).response.text
        return ask(with_documents(system, to_retrieved([Document(page_content=word, id=word)]))).response.text

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(answer, words))
    for word, text in zip(words, answers, strict=True):
        assert f"ctx={'LIVE' if word == 'word5' else word} (None)" in text
    assert "invoke" not in vars(Live), "classes are as they were"


@pytest.mark.parametrize(
    ("runnable", "why"),
    [
        (Live(), "it is a retriever alone"),
        (branched(), "it has 2 retrievers"),
        (RunnableLambda(lambda query: f"nothing for {query}"), "without asking a retriever"),
    ],
)
def test_others_are_refused(runnable: Any, why: str) -> None:
    with pytest.raises(NoGeneratorError, match=why):
        ask(with_documents(as_system(runnable), OLD))


class State(TypedDict, total=False):
    question: str
    rewritten: str
    context: list[Document]
    answer: str


class Added(State, total=False):
    context: Annotated[list[Document], add]


def graph(state: Any, find: Any, calls: list[str] | None = None) -> Any:
    langgraph = pytest.importorskip("langgraph.graph")

    def say(state: Any, config: RunnableConfig) -> Any:
        if calls is not None:
            calls.append(state["rewritten"])
        ending = config.get("configurable", {}).get("ending", "")
        return {"answer": f"{state['rewritten']} {joined(state['context'])}{ending}"}

    def found(state: Any) -> Any:
        return {"context": find(state["rewritten"])}

    async def afound(state: Any) -> Any:
        return {"context": await find(state["rewritten"])}

    made = langgraph.StateGraph(state)
    made.add_node("rewrite", lambda state: {"rewritten": state["question"].upper()})
    made.add_node("find", afound if inspect.iscoroutinefunction(find) else found)
    made.add_node("say", say)
    made.add_edge(langgraph.START, "rewrite")
    made.add_edge("rewrite", "find")
    made.add_edge("find", "say")
    made.add_edge("say", langgraph.END)
    return made.compile()


def similar(query: str) -> list[Document]:
    """Find without a retriever of LangChain's, as a vector store's `similarity_search`."""
    ASKED.append(query)
    return [Document(page_content="LIVE", id="live")]


@pytest.mark.parametrize("find", [similar, Live().invoke])
@pytest.mark.parametrize("use_async", [False, True])
def test_a_graph_gets_them_into_its_state(find: Any, use_async: bool) -> None:
    system = from_langchain(graph(State, find), use_async=use_async)
    outputs = ask(with_documents(system, OLD))
    assert outputs.response.text == f"{SAMPLE.query.upper()} YESTERDAY (a.md)"
    assert "LIVE" in ask(system).response.text
    assert ask(with_documents(system, OLD)).response.text == outputs.response.text


@pytest.mark.parametrize("find", [similar, Live().invoke])
@pytest.mark.parametrize("use_async", [False, True])
def test_a_graph_is_looked_at_where_documents_are_found(find: Any, use_async: bool) -> None:
    calls: list[str] = []
    system = from_langchain(graph(State, find, calls), use_async=use_async)
    check_looking(system, calls)
    assert "LIVE" in ask(system).response.text


def test_what_a_graph_is_configured_with_holds_as_ever() -> None:
    calls: list[str] = []
    bound = RunnableBinding(bound=graph(State, similar, calls), config={"configurable": {"ending": "!"}})
    system = as_system(bound)
    assert ask(with_documents(system, OLD)).response.text.endswith("YESTERDAY (a.md)!")
    calls.clear()
    check_looking(system, calls)


def test_a_state_that_adds_documents_up_is_refused() -> None:
    with pytest.raises(NoGeneratorError, match="its state adds to 'context'"):
        ask(with_documents(as_system(graph(Added, similar)), OLD))


def test_a_graph_of_coroutines_is_given_them_and_looked_at() -> None:
    calls: list[str] = []

    async def find(query: str) -> list[Document]:
        return similar(query)

    made = graph(State, find, calls)
    system = from_langchain(made, use_async=True)
    assert "YESTERDAY" in ask(with_documents(system, OLD)).response.text
    calls.clear()
    check_looking(system, calls)
