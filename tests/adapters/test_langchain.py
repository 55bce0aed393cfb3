"""LangChain runnables, from the real package."""

from __future__ import annotations

import time
from operator import itemgetter
from typing import Any, TypedDict

import pytest

pytest.importorskip("langchain_core", reason="the extra langchain is not installed")

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate, PromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import (
    RunnableGenerator,
    RunnableLambda,
    RunnableParallel,
    RunnablePassthrough,
)

from pytest_auepora.adapters.langchain import from_langchain
from pytest_auepora.adapters.outputs import WITHOUT_DOCUMENTS
from pytest_auepora.adapters.systems import as_system
from pytest_auepora.errors import OutputShapeError, SystemShapeError
from tests.unit.adapters.asking import by_query

from .asking import SAMPLE, ask, ids

pytestmark = pytest.mark.filterwarnings(  # the oldest version we take, with the newest pydantic
    "ignore:Accessing the 'model_fields' attribute on the instance:DeprecationWarning"
)

REFUNDS = Document(page_content="Within 30 days.", metadata={"source": "policy.md", "page": 4}, id="policy-4")
SHIPPING = Document(page_content="Two working days.", metadata={"doc_id": "shipping-1"})


class Search(BaseRetriever):
    seconds: float = 0.0

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        assert query == SAMPLE.query, f"the retriever was asked {query!r}"
        time.sleep(self.seconds)
        return [REFUNDS, SHIPPING]


class AsyncOnly(Search):
    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        raise NotImplementedError

    async def _aget_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return [SHIPPING]


def joined(documents: list[Document]) -> str:
    return "\n".join(d.page_content for d in documents)


def model() -> FakeListChatModel:
    return FakeListChatModel(responses=["Within 30 days of purchase."])


def lcel(**retriever: Any) -> Any:
    """The chain of most tutorials: a string in, a string out, the documents gone on the way."""
    prompt = ChatPromptTemplate.from_template("{context}\n{question}")
    search = Search(**retriever) | joined
    return {"context": search, "question": RunnablePassthrough()} | prompt | model() | StrOutputParser()


def retrieval_chain() -> Any:
    """What ``create_retrieval_chain`` builds: a mapping in, and out with ``context`` and ``answer``."""
    prompt = ChatPromptTemplate.from_messages([("system", "{context}"), ("placeholder", "{chat_history}"), ("human", "{input}")])  # fmt: skip  # noqa: E501
    combine = RunnablePassthrough.assign(context=lambda x: joined(x["context"])) | prompt | model() | StrOutputParser()
    search = (lambda x: x["input"]) | Search()
    return RunnablePassthrough.assign(context=search).assign(answer=combine).with_config(run_name="retrieval_chain")


# -- what is adapted


def test_recognised_without_help_and_named_after_the_class() -> None:
    system = as_system(lcel())
    assert system.name == "RunnableSequence"
    assert not system.is_async


def test_only_a_runnable_is_taken() -> None:
    with pytest.raises(SystemShapeError, match="no LangChain runnable: "):
        from_langchain(by_query)


# -- what comes out


def test_retriever_alone_has_documents_and_an_empty_answer() -> None:
    outputs = ask(Search())
    assert outputs.response.text == ""
    assert ids(outputs) == ["policy-4", "shipping-1"]
    assert [r.rank for r in outputs.retrieved] == [1, 2]
    first = outputs.retrieved[0].doc
    assert (first.text, first.metadata["page"], first.metadata["document_id"]) == ("Within 30 days.", 4, "policy.md")


def test_chain_that_drops_its_documents_still_shows_them() -> None:
    outputs = ask(lcel())
    assert outputs.response.text == "Within 30 days of purchase."
    assert ids(outputs) == ["policy-4", "shipping-1"]
    assert "auepora_notes" not in outputs.extra


def test_retrieval_is_timed_by_itself() -> None:
    outputs = ask(lcel(seconds=0.05))
    assert 0.05 <= outputs.timings["retrieval"] != 1.5
    assert outputs.timings["end_to_end"] == 1.5


def test_retrieval_chain() -> None:
    outputs = ask(retrieval_chain())
    assert outputs.response.text == "Within 30 days of purchase."
    assert ids(outputs) == ["policy-4", "shipping-1"]
    assert "input" not in outputs.extra


def test_chain_with_message_and_source_documents() -> None:
    chain = RunnableLambda(lambda q: {"result": AIMessage(content=[{"type": "text", "text": f"re {q}"}]),
                                      "source_documents": [SHIPPING], "cost": 2})  # fmt: skip
    outputs = ask(chain)
    assert outputs.response.text == f"re {SAMPLE.query}"
    assert ids(outputs) == ["shipping-1"]
    assert outputs.extra["cost"] == 2


def test_keys_that_a_schema_does_not_tell_are_guessed() -> None:
    answer = RunnableLambda(lambda given: f"{len(given['context'])} documents")
    chain = RunnablePassthrough.assign(context=itemgetter("input") | Search()).assign(answer=answer)
    outputs = ask(chain)
    assert outputs.response.text == "2 documents"
    assert ids(outputs) == ["policy-4", "shipping-1"]


def test_context_of_text_is_no_document() -> None:
    chain = RunnablePassthrough.assign(answer=lambda x: "yes", context=lambda x: "some text")
    outputs = ask(from_langchain(chain, input_key="question"))
    assert outputs.retrieved == []
    assert outputs.extra["auepora_notes"] == [WITHOUT_DOCUMENTS]


def test_parallel_of_documents_and_answer() -> None:
    outputs = ask(RunnableParallel(documents=Search(), answer=RunnableLambda(by_query)))
    assert outputs.response.text == f"{SAMPLE.query} 3"
    assert ids(outputs) == ["policy-4", "shipping-1"]


def test_agent_state_with_a_tool_that_kept_its_documents() -> None:
    class State(TypedDict):
        messages: list[HumanMessage]

    def agent(state: State) -> dict[str, Any]:
        (asked,) = state["messages"]
        tool = ToolMessage(content="found", tool_call_id="1", artifact=[SHIPPING])
        return {"messages": [asked, tool, AIMessage(content=f"re {asked.content}")]}

    outputs = ask(RunnableLambda(agent).with_types(input_type=State))
    assert outputs.response.text == f"re {SAMPLE.query}"
    assert ids(outputs) == ["shipping-1"]


def test_output_without_an_answer_says_where_it_was_looked_for() -> None:
    with pytest.raises(OutputShapeError, match="the answer is looked for under answer, response, result"):
        ask(RunnableLambda(lambda q: {"reply": q}))


# -- what goes in


def echo(*keys: str) -> Any:
    return PromptTemplate.from_template(" ".join(f"{{{k}}}" for k in keys)) | (lambda prompt: prompt.to_string())


@pytest.mark.parametrize("key", ["input", "query", "question", "user_input", "topic"])
def test_query_goes_under_the_one_key_there_is(key: str) -> None:
    assert ask(echo(key)).response.text == SAMPLE.query


def test_every_required_query_key_gets_it() -> None:
    assert ask(echo("query", "question")).response.text == f"{SAMPLE.query} {SAMPLE.query}"


def test_mapping_of_unknown_keys_gets_the_usual_ones() -> None:
    def answer(asked: dict[str, str]) -> str:
        return ",".join(sorted(asked))

    assert ask(RunnableLambda(answer)).response.text == "input,query,question"


def test_required_history_is_given_empty() -> None:
    class Asked(TypedDict):
        question: str
        chat_history: list[str]

    chain = RunnableLambda(lambda x: f"{x['question']} {x['chat_history']}").with_types(input_type=Asked)
    assert ask(chain).response.text == f"{SAMPLE.query} []"


def test_key_that_no_case_has() -> None:
    with pytest.raises(SystemShapeError, match=r"RunnableSequence wants 'language'; .*make_input=lambda sample"):
        as_system(echo("question", "language"))


def test_input_made_by_hand() -> None:
    system = from_langchain(echo("question", "language"), make_input=lambda s: {"question": s.query, "language": "en"})
    assert ask(system).response.text == f"{SAMPLE.query} en"


def test_model_alone_is_given_a_text() -> None:
    assert ask(model()).response.text == "Within 30 days of purchase."


# -- asynchronous


async def answer_later(query: str) -> str:
    return f"{query} later"


async def pieces(parts: Any) -> Any:
    async for part in parts:
        yield part


@pytest.mark.parametrize(
    "chain",
    [
        RunnableLambda(answer_later),
        RunnableLambda(answer_later) | StrOutputParser(),
        RunnableLambda(answer_later).with_config(run_name="z"),
        RunnablePassthrough() | RunnableLambda(answer_later),
        RunnableParallel(answer=RunnableLambda(answer_later)),
    ],
)
def test_chain_with_a_coroutine_function_only_is_async(chain: Any) -> None:
    assert as_system(chain).is_async
    assert ask(chain).response.text == f"{SAMPLE.query} later"


def test_other_parts_that_are_coroutine_functions_only() -> None:
    assigned = RunnablePassthrough.assign(answer=RunnableLambda(answer_later))
    assert from_langchain(assigned, input_key="question").is_async
    assert as_system(RunnableGenerator(pieces)).is_async
    assert ask(RunnableGenerator(pieces)).response.text == SAMPLE.query


def test_function_with_both_halves_is_called_plainly() -> None:
    system = as_system(RunnableLambda(by_query, afunc=answer_later))
    assert not system.is_async
    assert ask(system).response.text == f"{SAMPLE.query} 3"


def test_async_on_request_hears_its_retriever_too() -> None:
    outputs = ask(from_langchain(lcel(seconds=0.02), use_async=True))
    assert outputs.response.text == "Within 30 days of purchase."
    assert ids(outputs) == ["policy-4", "shipping-1"]
    assert outputs.timings["retrieval"] >= 0.02


def test_async_retriever_on_request() -> None:
    assert ids(ask(from_langchain(AsyncOnly(), use_async=True))) == ["shipping-1"]


def test_calls_at_the_same_time_keep_their_documents_apart() -> None:
    from concurrent.futures import ThreadPoolExecutor

    system = as_system(lcel(seconds=0.01))
    with ThreadPoolExecutor(4) as pool:
        every = list(pool.map(lambda _: ids(ask(system)), range(8)))
    assert every == [["policy-4", "shipping-1"]] * 8


def test_errors_of_the_chain_come_through() -> None:
    def broken(query: str) -> str:
        raise ConnectionError("index is down")

    with pytest.raises(ConnectionError, match="index is down"):
        ask(RunnableLambda(broken))
