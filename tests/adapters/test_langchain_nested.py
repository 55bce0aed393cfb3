"""Retrievers that ask other retrievers: the outermost counts, once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

import pytest

pytest.importorskip("langchain_core", reason="the extra langchain is not installed")

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda, RunnableParallel
from langchain_core.tools import create_retriever_tool

from pytest_auepora.adapters import langchain
from pytest_auepora.adapters.langchain import from_langchain
from pytest_auepora.core.types import SystemOutputs

from .asking import ask, ids

pytestmark = pytest.mark.filterwarnings(
    "ignore:Accessing the 'model_fields' attribute on the instance:DeprecationWarning"
)


class Clock:
    now = 0.0

    def perf_counter(self) -> float:
        return self.now


CLOCK = Clock()


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(langchain, "time", CLOCK)


class One(BaseRetriever):
    name: str = "a"
    seconds: float = 0.0

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        CLOCK.now += self.seconds
        return [Document(page_content=f"about {self.name}", id=self.name)]


class Broken(One):
    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        raise ConnectionError("the index is down")


class Ensemble(BaseRetriever):
    """As an ensemble, a reranker or a multi-query retriever: it asks others, and passes its callbacks on."""

    others: list[Any]

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        found = [other.invoke(query, config=self._config(run_manager)) for other in self.others]
        return list({doc.id: doc for docs in found for doc in docs}.values())

    def _config(self, run_manager: Any) -> Any:
        return {"callbacks": run_manager.get_child()}


class Threaded(Ensemble):
    """One that asks in threads, which do not know its context."""

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        with ThreadPoolExecutor() as pool:
            return pool.submit(super()._get_relevant_documents, query, run_manager=run_manager).result()


class Silent(Ensemble):
    """One that passes no callbacks, so that LangChain calls those that it asks its siblings."""

    def _config(self, run_manager: Any) -> Any:
        return None


def outputs_of(retriever: Any, **options: Any) -> SystemOutputs:
    """Ask a chain that gives the answer alone, so that the documents are those that were heard of."""
    return ask(from_langchain(retriever | (lambda docs: "Yes."), **options))


@pytest.mark.parametrize(
    ("retriever", "found"),
    [
        (Ensemble(others=[One(), One(name="b"), One()]), ["a", "b"]),
        (Ensemble(others=[Ensemble(others=[One()]), One()]), ["a"]),
        (Ensemble(others=[RunnableLambda(lambda query: query) | One()]), ["a"]),
        (Ensemble(others=[RunnableParallel(x=One()) | (lambda found: found["x"])]), ["a"]),
        (Broken().with_fallbacks([One(name="b")]), ["b"]),
        (Ensemble(others=[Broken().with_fallbacks([One(name="b")])]), ["b"]),
        (Threaded(others=[One(), One(name="b")]), ["a", "b"]),
        (Silent(others=[One(), One(name="b")]), ["a", "b"]),
        (Silent(others=[RunnableLambda(lambda query: query) | One()]), ["a"]),
        (Silent(others=[RunnableParallel(x=One(), y=One(name="b")) | (lambda found: found["x"])]), ["a"]),
    ],
)
@pytest.mark.parametrize("use_async", [False, True])
def test_only_the_outermost_retriever_counts(retriever: Any, found: list[str], use_async: bool) -> None:
    assert ids(outputs_of(retriever, use_async=use_async)) == found


def test_retrievers_one_after_the_other_both_count() -> None:
    chain = RunnableParallel(x=One(), y=One(name="b")) | (lambda found: "Yes.")
    assert sorted(ids(ask(from_langchain(chain)))) == ["a", "b"]


def test_a_retriever_that_a_tool_asks_counts() -> None:
    tool = create_retriever_tool(One(), "search", "finds")
    chain = RunnableLambda(lambda query: tool.invoke({"query": query}))
    assert ids(ask(from_langchain(chain))) == ["a"]


def test_times_of_inner_retrievers_are_not_added() -> None:
    for others in ([One(seconds=8)], [Ensemble(others=[One(seconds=8)])]):
        assert outputs_of(Ensemble(others=others)).timings["retrieval"] == 8


def test_retrievals_side_by_side_take_the_time_until_the_last() -> None:
    listener = langchain._listener_class()()
    for step, run_id in (("start", 1), ("start", 2), ("end", 1), ("end", 2), ("start", 3), ("error", 3)):
        copy_context().run(getattr(listener, f"on_retriever_{step}"), [], run_id=run_id)
        CLOCK.now += 1
    assert (listener.seconds, listener.documents) == (3 + 1, [])
