"""Given documents before the generator of a Haystack pipeline, whose components are as they were afterwards."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

pytest.importorskip("haystack", reason="the extra haystack is not installed")

from haystack import Document, Pipeline
from haystack.components.builders import AnswerBuilder, PromptBuilder
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

from pytest_auepora.adapters.given_documents import with_documents
from pytest_auepora.adapters.haystack import _to_document, from_haystack
from pytest_auepora.adapters.haystack_given import _to_haystack
from pytest_auepora.adapters.systems import as_system
from pytest_auepora.core.types import RetrievedDocument
from pytest_auepora.errors import NoGeneratorError

from ..asking import SAMPLE, ask, ids
from ..haystack_parts import KeepLast, Prompted, Repeater

SPLIT = Document(content="YESTERDAY", id="y1", meta={"source_id": "s", "file_path": "a.md"}, score=0.7)
OLD = [
    RetrievedDocument(_to_document(SPLIT), 0.7, 1),
    RetrievedDocument(_to_document(Document(content="OLDER", id="y2", meta={"document_id": "own"})), 0.2, 2),
]


def retriever() -> Any:
    store = InMemoryDocumentStore()
    store.write_documents([Document(content="LIVE text about a refund", id="live")])
    return InMemoryBM25Retriever(store)


def pipeline(*, ranked: bool = True) -> Pipeline:
    made = Pipeline()
    made.add_component("retriever", retriever())
    made.add_component("prompt", PromptBuilder(
        "{% for d in documents %}{{ d.content }} [{{ d.meta }}] {% endfor %}Q: {{ query }}", required_variables="*",
    ))  # fmt: skip
    made.add_component("llm", Repeater())
    made.add_component("answers", AnswerBuilder())
    last = "retriever"
    if ranked:
        made.add_component("ranker", KeepLast())
        made.connect("retriever.documents", "ranker.documents")
        last = "ranker"
    made.connect(f"{last}.documents", "prompt.documents")
    made.connect(f"{last}.documents", "answers.documents")
    made.connect("prompt", "llm.prompt")
    made.connect("llm.replies", "answers.replies")
    return made


@pytest.mark.parametrize("ranked", [True, False])
def test_the_generator_reads_given_documents_alone(ranked: bool) -> None:
    made = pipeline(ranked=ranked)
    before, system = made.dumps(), as_system(made)
    outputs = ask(with_documents(system, OLD))
    assert "YESTERDAY" in outputs.response.text
    assert "OLDER [{'document_id': 'own'}]" in outputs.response.text  # the ranker would keep this one alone
    assert "LIVE" not in outputs.response.text
    assert ids(outputs) == ["y1", "y2"]
    assert "LIVE" in ask(system).response.text
    assert made.dumps() == before
    assert "run" not in vars(made.get_component("retriever"))


def test_a_document_comes_back_as_it_was() -> None:
    assert _to_haystack(OLD[0]) == SPLIT
    assert _to_haystack(OLD[1]).meta == {"document_id": "own"}


def test_an_asynchronous_run_is_given_them_as_well() -> None:
    made = pipeline()
    if not hasattr(made, "run_async"):
        pytest.skip("this version has an AsyncPipeline")
    system = from_haystack(made, use_async=True)
    assert "YESTERDAY" in ask(with_documents(system, OLD)).response.text
    assert "LIVE" in ask(system).response.text


def test_calls_side_by_side_get_their_own_documents() -> None:
    system = as_system(pipeline())

    def answer(word: str) -> str:
        document = RetrievedDocument(_to_document(Document(content=word, id=word)), 0.0, 1)
        raw = with_documents(system, [document]).invoke(SAMPLE, 5)
        return str(raw.response.text)

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(answer, "abcdefgh"))
    assert [text[4] for text in answers] == list("abcdefgh")


def alone() -> Pipeline:
    made = Pipeline()
    made.add_component("retriever", retriever())
    return made


def without_documents() -> Pipeline:
    made = Pipeline()
    made.add_component("prompt", PromptBuilder("Q: {{ query }}", required_variables="*"))
    made.add_component("llm", Repeater())
    made.connect("prompt", "llm.prompt")
    return made


def with_a_prompt_beside() -> Pipeline:
    made = Pipeline()
    made.add_component("front", Prompted())
    made.add_component("llm", Repeater())
    made.connect("front.prompt", "llm.prompt")
    return made


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (alone, "it is a retriever alone"),
        (without_documents, "none of its components gives documents"),
        (with_a_prompt_beside, "front.prompt would be missing"),
    ],
)
def test_others_are_refused(make: Any, why: str) -> None:
    with pytest.raises(NoGeneratorError, match=why):
        with_documents(as_system(make()), OLD)
