"""Haystack pipelines, from the real package."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("haystack", reason="the extra haystack is not installed")

from haystack import Document, Pipeline
from haystack.components.builders import AnswerBuilder, ChatPromptBuilder, PromptBuilder
from haystack.components.joiners import DocumentJoiner
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore

from pytest_auepora.adapters.haystack import from_haystack
from pytest_auepora.adapters.outputs import WITHOUT_DOCUMENTS
from pytest_auepora.adapters.systems import as_system
from pytest_auepora.errors import OutputShapeError, SystemShapeError

from .asking import SAMPLE, ask, ids
from .haystack_parts import ChatRepeater, KeepLast, Odd, Picky, Repeater

TEMPLATE = "{% for d in documents %}{{ d.content }} {% endfor %}{{ question }}"


def search(*texts: str, top_k: int = 5) -> InMemoryBM25Retriever:
    store = InMemoryDocumentStore()
    store.write_documents([
        Document(id=text.split()[0], content=text, meta={"source_id": f"{text.split()[0]}.md"}) for text in texts
    ])  # fmt: skip
    return InMemoryBM25Retriever(store, top_k=top_k)


def both() -> InMemoryBM25Retriever:
    return search("policy ask for a refund within 30 days", "parcels ask for nothing")


def pipeline(*parts: tuple[str, Any], connect: tuple[tuple[str, str], ...] = ()) -> Pipeline:
    made = Pipeline()
    for name, part in parts:
        made.add_component(name, part)
    for sender, receiver in connect:
        made.connect(sender, receiver)
    return made


def rag(*more: tuple[str, Any], connect: tuple[tuple[str, str], ...] = ()) -> Pipeline:
    return pipeline(
        ("retriever", both()),
        ("prompt", PromptBuilder(TEMPLATE)),
        ("llm", Repeater()),
        *more,
        connect=(("retriever", "prompt.documents"), ("prompt", "llm"), *connect),
    )


def test_rag_pipeline() -> None:
    system = as_system(rag())
    assert (system.name, system.is_async) == ("Pipeline", False)
    outputs = ask(system)
    assert outputs.response.text.startswith("re: policy ask for a refund")
    assert outputs.response.text.endswith(SAMPLE.query)
    assert ids(outputs) == ["policy", "parcels"]
    first = outputs.retrieved[0]
    assert first.score > outputs.retrieved[1].score > 0
    assert first.doc.metadata["document_id"] == "policy.md"


def test_answer_builder_wins_over_the_replies_alone() -> None:
    builder = AnswerBuilder(pattern=r"re: (policy)")
    made = rag(("answers", builder), connect=(("llm.replies", "answers.replies"),))
    outputs = ask(made)
    assert outputs.response.text == "policy"
    assert ids(outputs) == ["policy", "parcels"]


def test_documents_come_from_the_last_component_with_some() -> None:
    made = pipeline(
        ("ranker", KeepLast()), ("retriever", both()), connect=(("retriever.documents", "ranker.documents"),)
    )
    outputs = ask(made)
    assert ids(outputs) == ["parcels"]
    assert outputs.response.text == ""


def test_two_retrievers_give_both_and_joined_ones_the_joint() -> None:
    def pair() -> tuple[tuple[str, Any], ...]:
        return ("a", search("one refund")), ("b", search("two refund"))

    assert sorted(ids(ask(pipeline(*pair())))) == ["one", "two"]
    joined = pipeline(
        ("joiner", DocumentJoiner(top_k=1)),
        *pair(),
        connect=(("a.documents", "joiner.documents"), ("b.documents", "joiner.documents")),
    )
    assert len(ids(ask(joined))) == 1


def test_nothing_found_is_an_empty_list_and_no_note() -> None:
    outputs = ask(pipeline(("retriever", search())))
    assert outputs.retrieved == []
    assert "auepora_notes" not in outputs.extra


def test_chat_pipeline() -> None:
    prompt = ChatPromptBuilder([ChatMessage.from_user("{{question}}")], required_variables="*")
    outputs = ask(pipeline(("prompt", prompt), ("llm", ChatRepeater()), connect=(("prompt.prompt", "llm.messages"),)))
    assert outputs.response.text == f"re: {SAMPLE.query}"
    assert outputs.extra["auepora_notes"] == [WITHOUT_DOCUMENTS]


def test_optional_variables_of_a_prompt_get_the_query_too() -> None:
    prompt = PromptBuilder("{{ question }} {{ tone }}", required_variables=[])
    made = pipeline(("prompt", prompt), ("llm", Repeater()), connect=(("prompt", "llm"),))
    assert ask(made).response.text == f"re: {SAMPLE.query} "


def test_generator_alone_is_given_the_query() -> None:
    assert ask(pipeline(("llm", Repeater()))).response.text == f"re: {SAMPLE.query}"
    assert ask(pipeline(("llm", ChatRepeater()))).response.text == f"re: {SAMPLE.query}"


def test_one_mandatory_text_can_only_be_the_query() -> None:
    with pytest.raises(OutputShapeError, match="neither documents, answers, replies nor a text under answer"):
        ask(pipeline(("odd", Odd())))


def test_input_that_no_case_has() -> None:
    with pytest.raises(SystemShapeError, match=r"wants picky\.language, .*inputs=\{\"picky\": \{\"language\": …\}\}"):
        as_system(pipeline(("picky", Picky())))


def test_inputs_given_by_hand() -> None:
    made = from_haystack(pipeline(("picky", Picky())), inputs={"picky": {"language": "en"}})
    assert ask(made).response.text == f"{SAMPLE.query} en"
    placed = from_haystack(pipeline(("picky", Picky())), inputs={"picky": {"language": "{query}", "query": "no"}})
    assert ask(placed).response.text == f"no {SAMPLE.query}"


def test_component_that_is_not_there() -> None:
    with pytest.raises(SystemShapeError, match=r"no component 'pickey' \(did you mean 'picky'\?\)"):
        from_haystack(pipeline(("picky", Picky())), inputs={"pickey": {}})


def test_pipeline_without_an_input_for_the_query() -> None:
    prompt = PromptBuilder("{{ tone }}", required_variables=[])
    made = pipeline(("prompt", prompt), ("llm", Repeater()), connect=(("prompt", "llm"),))
    with pytest.raises(SystemShapeError, match=r"has no input for the query; available: prompt\.tone, "):
        as_system(made)


def test_only_a_pipeline_is_taken() -> None:
    with pytest.raises(SystemShapeError, match="no Haystack pipeline: "):
        from_haystack(both())


def test_async_on_request_or_by_kind() -> None:
    import haystack

    if not hasattr(haystack, "AsyncPipeline") and not hasattr(Pipeline, "run_async"):
        pytest.skip("this version of Haystack has no asynchronous pipelines")
    made = getattr(haystack, "AsyncPipeline", Pipeline)()
    made.add_component("retriever", both())
    system = from_haystack(made, use_async=True)
    assert system.is_async
    assert ids(ask(system)) == ["policy", "parcels"]
    assert as_system(made).is_async == hasattr(haystack, "AsyncPipeline")
