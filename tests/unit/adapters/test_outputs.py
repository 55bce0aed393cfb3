"""Whatever a RAG system returned."""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora.adapters.documents import document_notes
from pytest_auepora.adapters.outputs import NOTES, WITHOUT_DOCUMENTS, to_outputs, to_response
from pytest_auepora.adapters.systems import as_system
from pytest_auepora.core.types import Document, EvaluationSample, Response, RetrievedDocument, SystemOutputs
from pytest_auepora.errors import OutputShapeError
from pytest_auepora.metrics.additional import MeanLatency
from pytest_auepora.metrics.service.operational import ErrorRatePer1k, Retries
from pytest_auepora.metrics.service.privacy import SecureFieldBypass

A, B = {"id": "a", "text": "ta"}, {"id": "b", "text": "tb"}
NONE: Any = None


@dataclass
class Answer:
    response: str
    source_nodes: list[Any]
    cost: float = 0.1


class Named(NamedTuple):
    answer: str
    contexts: list[str]


class Plain:
    def __init__(self) -> None:
        self.output = "text"
        self.documents = [A, B]
        self._secret = "no"

    def text(self) -> str:
        return "a method is no answer"


@pytest.mark.parametrize(
    "raw",
    [
        SystemOutputs(
            [RetrievedDocument(Document("a"), 0.0, 3), RetrievedDocument(Document("b"), 0.0, 3)], Response("text")
        ),
        SystemOutputs(cast(Any, [A, B]), Response("text", metadata=NONE), NONE, NONE),
        ("text", [A, B]),
        ([A, B], "text"),
        (Response("text"), (A, B)),
        ({"text": "text"}, [A, B]),
        {"answer": "text", "documents": [A, B]},
        {"response": "text", "contexts": [A, B]},
        {"result": "text", "source_documents": [A, B], "query": "q"},
        {"output": Response("text"), "context": [A, B]},
        {"text": "text", "retrieved": [A, B]},
        {"answer": "text", "sources": [A, B]},
        {"answer": None, "result": "text", "documents": None, "docs": [A, B]},
        {"answer": {"content": "text"}, "hits": [A, B]},
        {"answer": "text", "doc_ids": ["a", "b"]},
        {"answer": "text", "contexts": ["first text", "second"], "context_ids": ["a", "b"]},
        OrderedDict(answer="text", documents=[(A, 0.5), (B, 0.25)]),
        Answer("text", [A, B]),
        Plain(),
    ],
)
def test_each_form_of_an_answer_with_two_documents(raw: Any) -> None:
    out = to_outputs(raw)
    assert out.response.text == "text"
    assert [(r.doc.doc_id, r.rank) for r in out.retrieved] == [("a", 1), ("b", 2)]
    assert NOTES not in out.extra


@pytest.mark.parametrize(
    "raw", ["text", Response("text"), {"answer": "text"}, ("text", None), {"answer": "text", "docs": None}]
)
def test_an_answer_alone_says_so(raw: Any) -> None:
    out = to_outputs(raw)
    assert (out.response.text, out.retrieved) == ("text", [])
    assert out.extra[NOTES] == [WITHOUT_DOCUMENTS]


def test_no_documents_found_is_not_the_same_as_none_given() -> None:
    assert NOTES not in to_outputs(("text", [])).extra
    assert NOTES not in to_outputs({"answer": "", "documents": []}).extra


def test_documents_without_ids_leave_a_note() -> None:
    out = to_outputs(Named("text", ["one text", "another text"]))
    assert [r.doc.text for r in out.retrieved] == ["one text", "another text"]
    assert out.extra[NOTES] == document_notes(out.retrieved) != []
    assert to_outputs(out).extra[NOTES] == out.extra[NOTES], "said once, however often it is converted"


def test_unknown_keys_of_an_answer_go_to_extra() -> None:
    out = to_outputs(
        {
            "answer": "no",
            "documents": [A],
            "timings": {"retrieval": 1, "generation": "0.5", "odd": math.nan},
            "refused": True,
            "citations": ["a"],
            "metadata": {"model": "m"},
            "structured": {"x": 1},
            "trace": {"tokens": 3},
            "extra": {"seed": 1},
        }
    )
    assert out.response.metadata == {"model": "m", "refused": True, "citations": ["a"]}
    assert out.response.structured == {"x": 1}
    assert out.timings == {"retrieval": 1.0, "generation": 0.5}
    assert ["timings['odd']" in note for note in out.extra.pop(NOTES)] == [True]
    assert out.extra == {"trace": {"tokens": 3}, "seed": 1}


ORCHESTRATED = {
    "answer": "no",
    "request_id": "r-1",
    "adapter": "web",
    "surface": "chat",
    "timings": {"parse_ms": 5, "retrieval_ms": 120, "synthesis_ms": 80.5, "total_ms": 220, "rerank_ms": None},
    "retry": {"attempts": 2, "last_reason": "429"},
    "privacy": {"mode": "bypass", "redacted": 0, "blocked": False},
    "status": 200,
}


def test_the_fields_of_an_orchestration_layer_are_read() -> None:
    out = as_system(lambda query: ORCHESTRATED).as_outputs(ORCHESTRATED, 0.00001)
    stages = {"parse": 0.005, "retrieval": 0.12, "synthesis": 0.0805, "generation": 0.0805}
    assert out.timings == {**stages, "end_to_end": 0.22}, "what the system says of itself, not the time of the call"
    kept = {key: out.extra[key] for key in ("request_id", "adapter", "surface", "retry", "privacy", "status")}
    assert kept == {key: ORCHESTRATED[key] for key in kept}
    sample = EvaluationSample("s", "q", labels={"secure_field": True})
    metrics = (MeanLatency(), Retries(), ErrorRatePer1k(), SecureFieldBypass())
    assert [m.compute([sample], [out]).value for m in metrics] == [0.22, 1.0, 0.0, 1.0]


def test_the_fields_of_an_object_that_nobody_knows_go_to_extra() -> None:
    assert to_outputs(Answer("text", [A])).extra == {"cost": 0.1}
    assert to_outputs(Plain()).extra == {}


def test_ids_that_do_not_fit_the_documents_stay_where_they_were() -> None:
    out = to_outputs({"answer": "text", "contexts": ["first text", "second"], "ids": ["a"]})
    assert out.extra["ids"] == ["a"]
    assert out.retrieved[0].doc.metadata["id_source"] == "text"
    assert to_outputs({"answer": "text", "documents": [A, B], "ids": ["x", "y"]}).retrieved[0].doc.doc_id == "a"


class Subclass(SystemOutputs):
    pass


def test_outputs_are_fresh_and_what_came_is_untouched() -> None:
    raw = Subclass([RetrievedDocument(Document("a"), 1.0, 5)], Response("text"), {"end_to_end": 1.0}, {"x": 1})
    raw.memo["cached"] = 1
    out = to_outputs(raw)
    out.timings["more"] = 1.0
    out.extra["more"] = 1
    out.response.metadata["more"] = 1
    assert type(out) is Subclass
    assert out.memo == {}
    assert (raw.timings, raw.extra, raw.response.metadata, raw.retrieved[0].rank) == (
        {"end_to_end": 1.0},
        {"x": 1},
        {},
        5,
    )


def test_sloppy_system_outputs_are_put_right() -> None:
    out = to_outputs(SystemOutputs([A, "policy-4"], "text"))  # type: ignore[list-item, arg-type]
    assert out.response == Response("text")
    assert [r.doc.doc_id for r in out.retrieved] == ["a", "policy-4"]


async def coroutine() -> str:
    return "never awaited"


async def stream() -> Any:
    yield "part"


@pytest.mark.parametrize(
    ("raw", "messages"),
    [
        (None, ["NoneType: None", "is there a return missing?"]),
        (3, ["int: 3"]),
        (True, ["bool: True"]),
        (b"answer", ["bytes of 6: b'answer'", "decode it"]),
        ([], ["list of 0: []", "documents are not an answer"]),
        ([A], ["list of 1", "documents are not an answer"]),
        ({"a"}, ["set of 1: {'a'}"]),
        ({}, ["dict without any key: {}"]),
        ({"anwser": "x"}, ["dict with the keys 'anwser'", "'anwser' (did you mean 'answer'?)"]),
        ({"documents": [A]}, ["with the keys 'documents'"]),
        ({"answer": None}, ["an answer of None"]),
        ({"answer": 42}, ["the answer is int: 42, not a text"]),
        ({"answer": ["x"]}, ["the answer is list of 1: ['x'], not a text"]),
        ({"answer": (p for p in "ab")}, ["the answer is generator", "''.join(stream)"]),
        (Response(None), ["the text of the Response is NoneType"]),  # type: ignore[arg-type]
        (SystemOutputs([], None), ["the answer is NoneType", "return missing"]),  # type: ignore[arg-type]
        (("a", "b"), ["which one is the answer?"]),
        (([A], [B]), ["which one is the answer?"]),
        ((None, [A]), ["which one is the answer?"]),
        (("text", [A], 3), ["tuple of 3", "which one is the answer?"]),
        (("text", {"id": "a"}), ["the documents came as dict with the keys 'id'"]),
        (("text", (d for d in [A])), ["has not run yet; accepted: a list"]),
        (Document("a", "t"), ["Document"]),
        (object, ["type: <class 'object'>"]),
        (len, ["builtin_function_or_method"]),
        ((p for p in "ab"), ["generator", "''.join(stream)"]),
        (iter("ab"), ["''.join(stream)"]),
        (stream(), ["async_generator", "async for part in stream"]),
        ({"answer": "x", "timings": 3}, ["timings are int: 3"]),
        ({"answer": "x", "timings": {"retrieval": "fast"}}, ["timings['retrieval'] is str: 'fast'"]),
        ({"answer": "x", "timings": {"retrieval": 10**400}}, ["timings['retrieval'] is int: 1000"]),
        ({"answer": "x", "documents": [{}]}, ["in what the RAG returned", "document 1 has neither an id nor a text"]),
    ],
)
def test_what_is_no_answer_is_an_error_that_shows_it(raw: Any, messages: list[str]) -> None:
    with pytest.raises(OutputShapeError) as caught:
        to_outputs(raw)
    for message in [*messages, "accepted:"]:
        assert message in str(caught.value)


def test_a_coroutine_is_named_and_closed() -> None:
    with pytest.raises(OutputShapeError, match="nobody awaited it"):
        to_outputs(coroutine())  # a warning that it was never awaited would fail this test


def test_large_answers_are_shown_in_short() -> None:
    with pytest.raises(OutputShapeError) as caught:
        to_outputs([{"id": str(i), "text": "x" * 10_000} for i in range(1000)])
    assert len(str(caught.value)) < 900


class Rude:
    def __repr__(self) -> str:
        raise RuntimeError("no")

    def __len__(self) -> int:
        raise RuntimeError("no")


def test_an_object_without_repr_is_an_error_like_others() -> None:
    with pytest.raises(OutputShapeError, match="<Rude instance"):
        to_outputs(Rude())


def test_answers_one_by_one() -> None:
    assert to_response("text") == Response("text")
    assert to_response({"content": "text", "metadata": {"m": 1}}) == Response("text", metadata={"m": 1})
    given_response = Response("text", {"x": 1}, {"refused": True})
    assert to_response(given_response) == given_response
    assert to_response(given_response) is not given_response


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.binary(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(
            st.sampled_from(
                ["answer", "result", "text", "documents", "contexts", "ids", "timings", "metadata", "id", "anwser"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)


@given(values)
def test_anything_is_an_answer_or_a_clear_error(raw: Any) -> None:
    try:
        out = to_outputs(raw)
    except OutputShapeError:
        return
    assert type(out.response.text) is str
    assert [r.rank for r in out.retrieved] == list(range(1, len(out.retrieved) + 1))
    assert all(math.isfinite(s) and s >= 0 for s in out.timings.values())
    again = to_outputs(out)
    assert (again.response, again.retrieved) == (out.response, out.retrieved)
    assert (again.timings, again.extra) == (out.timings, out.extra)
