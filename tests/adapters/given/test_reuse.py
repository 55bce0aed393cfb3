"""Accepted answers serve systems of real frameworks: their retrievers run, and their generators where that differs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.api.evaluation import evaluate

from ...unit.cause.accepting import accept_system

PROVENANCE = {"model": "m", "prompt": "p"}
NAMES = ("refund", "parcel", "ticket", "garage")
Build = Callable[[dict[str, str], list[Any]], Any]
"""Makes a system of texts by the word that finds them; it notes the calls of its generator."""


def langchain(texts: dict[str, str], calls: list[Any]) -> Any:
    pytest.importorskip("langchain_core", reason="the extra langchain is not installed")
    from langchain_core.documents import Document
    from langchain_core.language_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.prompts import ChatPromptTemplate
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables import RunnablePassthrough

    class Search(BaseRetriever):
        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
            return [Document(page_content=text, id=name) for name, text in texts.items() if name in query]

    def answers() -> Any:
        while True:
            calls.append("llm")
            yield AIMessage("It takes days.")

    prompt = ChatPromptTemplate.from_template("{context} {question}")
    model = GenericFakeChatModel(messages=answers())
    return {"context": Search(), "question": RunnablePassthrough()} | prompt | model


def llamaindex(texts: dict[str, str], calls: list[Any]) -> Any:
    pytest.importorskip("llama_index.core", reason="the extra llamaindex is not installed")
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.llms import MockLLM
    from llama_index.core.query_engine import RetrieverQueryEngine
    from llama_index.core.schema import NodeWithScore, TextNode

    class Search(BaseRetriever):
        def _retrieve(self, query_bundle: Any) -> Any:
            found = (name for name in texts if name in query_bundle.query_str)
            return [NodeWithScore(node=TextNode(text=texts[name], id_=name), score=1.0) for name in found]

    class Model(MockLLM):
        def complete(self, *args: Any, **kwargs: Any) -> Any:
            calls.append(args)
            return super().complete(*args, **kwargs)

    return RetrieverQueryEngine.from_args(Search(), llm=Model())


def haystack(texts: dict[str, str], calls: list[Any]) -> Any:
    pytest.importorskip("haystack", reason="the extra haystack is not installed")
    from haystack import Document, Pipeline
    from haystack.components.builders import PromptBuilder

    from ..haystack_parts import Repeater, Search, counted

    made = Pipeline()
    made.add_component("search", Search())
    made.add_component("prompt", PromptBuilder("{{ documents }} {{ query }}", required_variables="*"))
    made.add_component("llm", Repeater())
    made.connect("search.documents", "prompt.documents")
    made.connect("prompt", "llm.prompt")
    search: Any = made.get_component("search")
    model: Any = made.get_component("llm")
    search.run = lambda query: {
        "documents": [Document(content=text, id=name) for name, text in texts.items() if name in query]
    }
    model.run = counted(model.run, calls)
    return made


@pytest.mark.parametrize("build", [langchain, llamaindex, haystack])
def test_a_generator_is_asked_where_its_documents_changed(build: Build, tmp_path: Path) -> None:
    path, calls = tmp_path / "shop.golden.yaml", list[Any]()
    texts = {name: f"Every {name} takes days." for name in NAMES}
    cases = [{"id": name, "query": f"How long is a {name}?", "relevant_docs": [name]} for name in NAMES]
    golden = {"suite": "shop", "metrics": ["recall@3"], "regression": {"reuse": "generator"}, "cases": cases}
    path.write_text(json.dumps(golden), encoding="utf-8")
    accept_system(path, build(texts, calls), provenance=PROVENANCE)
    assert len(calls) == 2 * len(NAMES)
    for changed in ((), ("parcel",)):
        calls.clear()
        now = texts | {name: f"Every {name} takes weeks." for name in changed}
        run = evaluate(path, build(now, calls), provenance=PROVENANCE).run
        assert {name for name, case in run.cases.items() if not case.reused} == {*changed}
        assert len(calls) == len(changed)
        assert all(case.state == "passed" for case in run.cases.values())
