"""Given documents before the generator of a Haystack pipeline, whose components are as they were afterwards."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

pytest.importorskip("haystack", reason="the extra haystack is not installed")

from haystack import Document, Pipeline
from haystack.components.builders import AnswerBuilder, PromptBuilder
from haystack.components.joiners import BranchJoiner
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

from pytest_auepora.adapters.haystack import _to_document, _to_haystack, from_haystack
from pytest_auepora.adapters.parts import with_documents
from pytest_auepora.adapters.systems import as_system
from pytest_auepora.core.types import RetrievedDocument
from pytest_auepora.errors import NoGeneratorError

from ..asking import SAMPLE, ask, ids
from ..haystack_parts import Grader, KeepLast, Prompted, Repeater, Search, counted
from .looking import check_looking

SPLIT = Document(content="YESTERDAY", id="y1", meta={"source_id": "s", "file_path": "a.md"}, score=0.7)
OLD = [
    RetrievedDocument(_to_document(SPLIT), 0.7, 1),
    RetrievedDocument(_to_document(Document(content="OLDER", id="y2", meta={"document_id": "own"})), 0.2, 2),
]


INPUTS = {"joined": {"value": "{query}"}}


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


@pytest.mark.parametrize("use_async", [False, True])
@pytest.mark.parametrize("ranked", [True, False])
def test_what_was_found_is_seen_before_the_generator_is_asked(ranked: bool, use_async: bool) -> None:
    made, calls = pipeline(ranked=ranked), list[Any]()
    if use_async and not hasattr(made, "run_async"):
        pytest.skip("this version has an AsyncPipeline")
    generator: Any = made.get_component("llm")
    generator.run = counted(generator.run, calls)
    check_looking(from_haystack(made, use_async=use_async), calls)
    assert "run" not in vars(made.get_component("retriever"))


def test_a_fake_of_the_users_stays() -> None:
    made = pipeline(ranked=False)
    retriever: Any = made.get_component("retriever")
    retriever.run = fake = lambda **_: {"documents": [Document(content="FAKE", id="f")]}
    system = as_system(made)
    assert "YESTERDAY" in ask(with_documents(system, OLD)).response.text
    assert retriever.run is fake
    assert "FAKE" in ask(system).response.text


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


def in_a_loop() -> Pipeline:
    made = Pipeline()
    made.add_component("joined", BranchJoiner(str))
    made.add_component("search", Search())
    made.add_component("grader", Grader())
    made.add_component("prompt", PromptBuilder("{{ documents }}", required_variables="*"))
    made.connect("joined", "search.query")
    made.connect("search.documents", "grader.documents")
    made.connect("grader.again", "joined.value")
    made.connect("grader.documents", "prompt.documents")
    return made


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (in_a_loop, "search and grader go round in a loop"),
        (alone, "it is a retriever alone"),
        (without_documents, "none of its components gives documents"),
        (with_a_prompt_beside, "front.prompt would be missing"),
    ],
)
def test_others_are_refused(make: Any, why: str) -> None:
    with pytest.raises(NoGeneratorError, match=why):
        with_documents(from_haystack(make(), inputs=INPUTS if make is in_a_loop else None), OLD)
