"""Whatever a retriever calls a document."""

from __future__ import annotations

import hashlib
import math
from collections import namedtuple
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora.adapters.documents import document_notes, to_document, to_retrieved
from pytest_auepora.core.types import Document, Response, RetrievedDocument
from pytest_auepora.errors import OutputShapeError


@dataclass
class Chunk:
    """Shaped like the documents of frameworks."""

    page_content: str
    metadata: dict[str, Any] = field(default_factory=dict)
    id: str | None = None


@dataclass
class WithScore:
    node: Any
    score: float


class Slotted:
    __slots__ = ("content", "id", "meta", "score")

    def __init__(self) -> None:
        self.id, self.content, self.meta, self.score = "h1", "hay", {"lang": "en"}, 0.7

    @property
    def text(self) -> str:
        raise RuntimeError("a property that fails is no field")


class Declared:
    """Shaped like a pydantic model."""

    model_fields = {"doc_id": None, "text": None}  # noqa: RUF012

    def __init__(self) -> None:
        self.doc_id, self.text = "p1", "pydantic"


class Attribute:
    name = "uuid"


class Defined:
    """Shaped like an attrs class."""

    __attrs_attrs__ = (Attribute,)
    __slots__ = ("uuid",)

    def __init__(self) -> None:
        self.uuid = "u1"


class Bare:
    def __init__(self) -> None:
        self.id = 7
        self.body = "bare"
        self._hidden = "no"

    def content(self) -> str:
        return "a method is no field"


Row = namedtuple("Row", "id text")


def sha(text: str) -> str:
    return "sha:" + hashlib.sha256(text.encode()).hexdigest()[:12]


@pytest.mark.parametrize(
    ("raw", "doc", "score"),
    [
        (RetrievedDocument(Document("a", "t"), 0.5, 9), Document("a", "t"), 0.5),
        (Document("a", "t", {"x": 1}), Document("a", "t", {"x": 1}), 0.0),
        (Document(7, "t"), Document("7", "t"), 0.0),  # type: ignore[arg-type]
        (Document("", "some text"), Document(sha("some text"), "some text", {"id_source": "text"}), 0.0),
        ({"id": "a", "text": "t", "score": 0.5}, Document("a", "t"), 0.5),
        ({"doc_id": "a"}, Document("a"), 0.0),
        ({"_id": 0, "content": "t"}, Document("0", "t"), 0.0),
        (
            {"id": "a", "title": "T", "start": 3, "metadata": {"lang": "en"}},
            Document("a", "", {"title": "T", "start": 3, "lang": "en"}),
            0.0,
        ),
        ({"chunk_id": "a#1", "doc_id": "a", "text": "t"}, Document("a#1", "t", {"document_id": "a"}), 0.0),
        ({"chunk_id": 1, "doc_id": "a"}, Document("a", "", {}), 0.0),
        ({"id": "c", "document_id": "a"}, Document("c", "", {"document_id": "a"}), 0.0),
        ({"doc": "refunds.md", "score": 1}, Document("refunds.md"), 1.0),
        ({"document": {"id": "a", "text": "t"}, "score": "0.25"}, Document("a", "t"), 0.25),
        ({"doc": Document("a"), "score": None}, Document("a"), 0.0),
        ({"chunk": 0, "id": "a", "content": "t", "score": 3}, Document("a", "t"), 3.0),
        ({"chunk": 7, "id": "a", "passage": "t"}, Document("a", "t"), 0.0),
        ({"doc": 3, "text": "t"}, Document("3", "t"), 0.0),
        ({"text": "some text"}, Document(sha("some text"), "some text", {"id_source": "text"}), 0.0),
        (
            {"text": "t", "metadata": {"doc_id": "a"}},
            Document("a", "t", {"doc_id": "a", "id_source": "metadata.doc_id"}),
            0.0,
        ),
        ("some text", Document(sha("some text"), "some text", {"id_source": "text"}), 0.0),
        ("Überschrift", Document(sha("Überschrift"), "Überschrift", {"id_source": "text"}), 0.0),
        ("policy-4", Document("policy-4", "policy-4", {"id_source": "string"}), 0.0),
        (("policy-4", 0.5), Document("policy-4", "policy-4", {"id_source": "string"}), 0.5),
        ((0.5, Document("a")), Document("a"), 0.5),
        ([Chunk("t", id="a"), 0.5], Document("a", "t"), 0.5),
        (
            Chunk("t", {"source": "refunds.md"}),
            Document("refunds.md", "t", {"source": "refunds.md", "id_source": "metadata.source"}),
            0.0,
        ),
        (
            Chunk("t", {"source": "refunds.md"}, "a"),
            Document("a", "t", {"source": "refunds.md", "document_id": "refunds.md"}),
            0.0,
        ),
        (WithScore(Chunk("t", id="a"), 0.5), Document("a", "t"), 0.5),
        (Slotted(), Document("h1", "hay", {"lang": "en"}), 0.7),
        (Declared(), Document("p1", "pydantic"), 0.0),
        (Defined(), Document("u1"), 0.0),
        (Bare(), Document("7", "bare"), 0.0),
        (Row("a", "t"), Document("a", "t"), 0.0),
    ],
)
def test_each_form_of_a_document(raw: Any, doc: Document, score: float) -> None:
    assert to_retrieved([raw]) == [RetrievedDocument(doc, score, 1)]
    assert to_document(raw) == doc


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf, "high", None, object(), 10**400])
def test_a_score_that_is_no_finite_number_is_zero(score: Any) -> None:
    assert to_retrieved([{"id": "a", "score": score}])[0].score == 0.0
    assert to_retrieved([RetrievedDocument(Document("a"), score, 1)])[0].score == 0.0


def test_ranks_follow_the_order_whatever_was_said() -> None:
    docs = [RetrievedDocument(Document(i), 1.0, rank) for i, rank in (("a", 7), ("b", 7), ("c", 0))]
    assert [(r.doc.doc_id, r.rank) for r in to_retrieved(docs)] == [("a", 1), ("b", 2), ("c", 3)]
    assert [r.rank for r in docs] == [7, 7, 0], "what came is left as it is"


@pytest.mark.parametrize("raw", [[7, 11], np.array([7, 11]), [{"id": 7}, {"doc_id": np.int64(11)}], ["7", 11]])
def test_ids_may_be_whole_numbers(raw: Any) -> None:
    assert [r.doc.doc_id for r in to_retrieved(raw)] == ["7", "11"]


def test_nothing_and_one_text() -> None:
    assert to_retrieved(None) == []
    assert to_retrieved(()) == []
    assert [r.doc.text for r in to_retrieved("one text")] == ["one text"]


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ({}, "document 2 has neither an id nor a text: dict without any key"),
        ({"idd": "a"}, "'idd' (did you mean 'id'?)"),
        ({"txt": "a"}, "'txt' (did you mean 'text'?)"),
        ({"id": None, "text": ""}, "neither an id nor a text"),
        (Document("", ""), "neither an id nor a text"),
        ("", "document 2 has neither an id nor a text: ''"),
        (" \n", "neither an id nor a text"),
        (3.0, "document 2 is not a document: float: 3.0"),
        (True, "document 2 is not a document: bool: True"),
        (None, "document 2 is not a document: NoneType: None"),
        (b"x", "is not a document: bytes of 1: b'x'"),
        ((1, 2), "is not a document: tuple of 2"),
        (("a", "b"), "is not a document: tuple of 2"),
        (("a", 1, 2), "is not a document: tuple of 3"),
        ({"id": "a", "text": ["t"]}, "document 2: its 'text' is list of 1: ['t'], not a text"),
        (lambda: 1, "is not a document: function"),
    ],
)
def test_what_is_no_document_is_an_error_that_shows_it(raw: Any, message: str) -> None:
    with pytest.raises(OutputShapeError) as caught:
        to_retrieved(["fine", raw])
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ({"id": "a"}, "the documents came as dict with the keys 'id'"),
        (3, "the documents came as int: 3"),
        (b"x", "the documents came as bytes"),
        (Document("a"), "accepted: a list of documents, best first"),
        (Response("a"), "the documents came as"),
        ((d for d in "ab"), "has not run yet; accepted: a list"),
    ],
)
def test_what_is_no_list_of_documents_is_an_error_that_shows_it(raw: Any, message: str) -> None:
    with pytest.raises(OutputShapeError) as caught:
        to_retrieved(raw)
    assert message in str(caught.value)


SCORED = [{"id": name, "score": score} for name, score in (("a", 0.5), ("b", 0.9), ("c", 0.1))]
UNORDERED = "documents came scored and not in the order of their scores; the order they came in counts"


@pytest.mark.parametrize(
    ("documents", "notes"),
    [
        ([], []),
        ([{"id": "a"}, {"id": "b"}], []),
        (["one text", "two texts"], ["documents carry no ids; matched by quote or text only"]),
        (["one text", {"id": "b"}], ["1 of 2 documents carry no id"]),
        (["policy-4"], ["documents are bare strings without white space; taken as ids"]),
        (SCORED, [UNORDERED]),
        (sorted(SCORED, key=lambda hit: float(str(hit["score"]))), []),
        (sorted(SCORED, key=lambda hit: -float(str(hit["score"]))), []),
    ],
)
def test_notes_say_where_ids_came_from(documents: list[Any], notes: list[str]) -> None:
    assert document_notes(to_retrieved(documents)) == notes


json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.binary(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(
            st.sampled_from(["id", "doc_id", "chunk_id", "text", "score", "metadata", "doc", "source", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


like_documents = st.fixed_dictionaries(
    {"id": st.text(max_size=2) | st.integers()},
    optional={"text": st.text(max_size=2) | st.none(), "score": st.floats() | st.integers(), "title": st.just("t")},
)


@given(st.lists(like_documents | st.just({"id": "a", "text": "b", "score": 1.0}) | st.text(min_size=1, max_size=2)))
def test_a_list_is_read_as_each_of_its_documents(raw: list[Any]) -> None:
    try:
        alone = [to_retrieved((one,))[0] for one in raw]
    except OutputShapeError:
        with pytest.raises(OutputShapeError):
            to_retrieved(raw)
        return
    assert to_retrieved(raw) == [RetrievedDocument(r.doc, r.score, rank) for rank, r in enumerate(alone, 1)]


@given(json_like)
def test_anything_is_a_ranking_or_a_clear_error(raw: Any) -> None:
    try:
        retrieved = to_retrieved(raw)
    except OutputShapeError:
        return
    assert [r.rank for r in retrieved] == list(range(1, len(retrieved) + 1))
    for r in retrieved:
        assert type(r.doc.doc_id) is str
        assert r.doc.doc_id
        assert type(r.doc.text) is str
        assert type(r.score) is float
        assert math.isfinite(r.score)
        assert isinstance(r.doc.metadata, dict)
    assert to_retrieved(retrieved) == retrieved
