"""Gold labels: ids, quotes, spans, whole documents, grades; and which chunks they find."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_auepora.core.types import Document, EvaluationSample
from pytest_auepora.errors import MetricError
from pytest_auepora.metrics.ranking.gold import SOURCE_KEYS, LabelMatcher, fold_quote, labels_of, source_of
from pytest_auepora.metrics.values import grade_of

from ..rankings import doc, wants


def quote(source: str, text: str, **more: Any) -> Document:
    return doc(source, text, match="quote", **more)


def span(source: str, start: int, end: int, text: str = "") -> Document:
    return doc(source, text, match="span", start=start, end=end)


def found_by(chunk: Document, *gold: Document) -> list[str]:
    labels = labels_of(wants(*gold))
    matcher = LabelMatcher(labels)
    found = [labels[at].name for at in matcher.covered_labels(chunk)]
    matcher.check()
    return found


@pytest.mark.parametrize("key", SOURCE_KEYS)
def test_chunks_say_under_several_keys_where_they_come_from(key: str) -> None:
    assert source_of(Document("c1", metadata={key: "refunds.md"})) == "refunds.md"
    assert source_of(Document("c1", metadata={key: 7})) == "7"


def test_the_first_key_wins_and_without_any_it_is_the_id() -> None:
    assert source_of(doc("c1", parent_id="p", document_id="d")) == "d"
    assert source_of(doc("c1", document_id=None, source="s")) == "s"
    assert source_of(Document("c1")) == "c1"


@pytest.mark.parametrize(("given", "grade"), [(0, 0), (2, 2), (2.0, 2), (-1, -1), (-9, -1), (True, 1)])
def test_grades(given: Any, grade: int) -> None:
    assert grade_of(doc("d", grade=given)) == grade


@pytest.mark.parametrize("given", [0.5, "2", None, float("nan")])
def test_a_grade_is_a_whole_number(given: Any) -> None:
    with pytest.raises(MetricError, match="grade of 'd' must be a whole number"):
        grade_of(doc("d", grade=given))


def test_a_document_without_a_grade_is_relevant() -> None:
    assert grade_of(Document("d")) == 1


def test_a_label_given_twice_counts_once_with_its_highest_grade() -> None:
    labels = labels_of(wants(doc("a", grade=1), "b", doc("a", grade=3), doc("a", grade=2)))
    assert [(label.name, label.grade) for label in labels] == [("a", 3), ("b", 1)]


def test_candidates_are_judged_and_not_relevant() -> None:
    sample = EvaluationSample("s", "q", [Document("a")], [Document("a"), Document("x")])
    assert [(label.name, label.grade) for label in labels_of(sample)] == [("a", 1), ("x", 0)]


@pytest.mark.parametrize(
    ("gold", "text", "covers"),
    [
        ("within 30 days", "You may ask within 30 days of purchase.", True),
        ("within 30 days", "You may ask within\n  30\tdays of purchase.", True),
        ("within 30 days", "within 60 days", False),
        ("Within 30 days", "within 30 days", False),
        ("office", "the o\ufb03ce", True),
        ("ﬁne", "fine", True),
        ("caf\u00e9", "cafe\u0301 au lait", True),
        ("３０日", "30日以内", True),
        ("\u00a0a\u00a0b ", "a b", True),
        ("🙂 ok", "so 🙂\nok", True),
    ],
)
def test_a_quote_is_looked_up_after_folding(gold: str, text: str, covers: bool) -> None:
    found = found_by(doc("c1", text, document_id="refunds.md"), quote("refunds.md", gold))
    assert bool(found) is covers


def test_a_quote_of_another_document_does_not_count() -> None:
    assert not found_by(doc("c1", "within 30 days", document_id="terms.md"), quote("refunds.md", "within 30 days"))


def test_a_document_that_is_its_own_chunk() -> None:
    assert found_by(doc("refunds.md", "within 30 days"), quote("refunds.md", "30 days")) == ['refunds.md: "30 days"']


@pytest.mark.parametrize(
    ("start", "end", "covers"),
    [
        (100, 200, True),
        (0, 500, True),
        (0, 150, True),
        (0, 149, False),
        (150, 400, True),
        (151, 400, False),
        (120, 130, False),
        (200, 300, False),
    ],
)
def test_a_span_is_covered_from_half_of_it_on(start: int, end: int, covers: bool) -> None:
    chunk = doc("c1", "…", document_id="d", start=start, end=end)
    assert found_by(chunk, span("d", 100, 200)) == (["d[100:200]"] if covers else [])


def test_a_span_with_text_is_found_in_chunks_without_offsets() -> None:
    assert found_by(doc("c1", "all the  words", document_id="d"), span("d", 5, 14, "the words"))
    assert not found_by(doc("c1", "other words", document_id="d"), span("d", 5, 14, "the words"))


def test_a_whole_document_is_any_chunk_of_it() -> None:
    whole = doc("d", match="doc")
    assert found_by(doc("c9", document_id="d"), whole) == ["d"]
    assert found_by(doc("d"), whole) == ["d"]
    assert not found_by(doc("d2"), whole)


@pytest.mark.parametrize(
    ("chunk", "gold", "need"),
    [
        (doc("c1", document_id="d"), quote("d", "words"), "text"),
        (doc("c1", "some text", document_id="d"), span("d", 3, 9), "start and end"),
    ],
)
def test_what_cannot_be_compared_is_an_error_not_a_miss(chunk: Document, gold: Document, need: str) -> None:
    with pytest.raises(MetricError, match=f"'c1' covers .* it has no {need}"):
        found_by(chunk, gold)


def test_one_chunk_that_can_be_compared_is_enough() -> None:
    labels = labels_of(wants(quote("d", "words")))
    matcher = LabelMatcher(labels)
    assert matcher.covered_labels(doc("c1", "", document_id="d")) == []
    assert matcher.covered_labels(doc("c2", "other", document_id="d")) == []
    matcher.check()


@pytest.mark.parametrize(
    ("gold", "complaint"),
    [
        (quote("d", " \n"), "the quote of 'd' is empty"),
        (span("d", 5, 5), r"the span of 'd' needs start < end, got \(5, 5\)"),
        (doc("d", match="span"), "the span of 'd' needs start < end, got None"),
        (doc("d", match="fuzzy"), "match of 'd' must be id, doc, quote or span, got 'fuzzy'"),
    ],
)
def test_a_label_that_cannot_be_read(gold: Document, complaint: str) -> None:
    with pytest.raises(MetricError, match=complaint):
        labels_of(wants(gold))


def test_at_document_level_labels_of_one_document_are_one() -> None:
    gold = [
        doc("c1", document_id="d"),
        doc("c2", document_id="d", grade=2),
        quote("d", "x"),
        span("e", 0, 9),
        doc("f"),
    ]
    labels = labels_of(wants(*gold), level="doc")
    assert [(label.name, label.grade, label.ids) for label in labels] == [
        ("d", 2, ("c1", "c2")),
        ("e", 1, ()),
        ("f", 1, ("f",)),
    ]
    matcher = LabelMatcher(labels)
    assert matcher.covered_labels(doc("c7", document_id="d")) == [0]
    assert matcher.covered_labels(doc("c1")) == [0], (
        "the id of a labelled chunk is enough where it does not say whence it is"
    )
    assert matcher.covered_labels(doc("x")) == []


def test_a_chunk_and_a_document_of_one_name() -> None:
    labels = labels_of(wants("d", doc("d", match="doc", grade=2)))
    assert [(label.name, label.kind, label.grade) for label in labels] == [("d", "doc", 2)]


def test_fold_quote() -> None:
    assert fold_quote("  \uff21\u2003b\n\n c ") == "A b c"


@pytest.mark.parametrize("key", ["document_id", "source", "file_path", "file_name", "url", "source_id"])
@pytest.mark.parametrize("value", ["refunds.md", "/data/docs/refunds.md", "C:\\docs\\refunds.md"])
def test_a_label_by_document_meets_what_frameworks_call_it(key: str, value: str) -> None:
    chunk = Document("c1", "text", {"document_id": "9f3c", key: value})
    assert found_by(chunk, doc("refunds.md", match="doc")) == ["refunds.md"]


def test_an_end_of_a_path_is_whole_names() -> None:
    chunk = doc("c1", url="https://example.org/docs/refunds.md?v=2#top")
    assert found_by(chunk, doc("docs/refunds.md", match="doc")) == ["docs/refunds.md"]
    assert found_by(chunk, doc("funds.md", match="doc")) == []


def test_a_quote_of_no_document_counts_in_any() -> None:
    gold = doc("x", "within 30 days", match="quote", anywhere=True)
    assert found_by(Document("c1", "Ask within  30 days.", {"source": "a"}), gold) == ['"within 30 days"']
    assert found_by(Document("c2", "Never.", {"source": "a"}), gold) == []
    (label,) = labels_of(wants(gold), level="doc")
    assert LabelMatcher([label]).covered_labels(Document("c2", "Never.", {"source": "a"})) == []


NFC, NFD = "docs/Gr\u00f6\u00dfe.md", "docs/Gro\u0308\u00dfe.md"


@pytest.mark.parametrize(
    ("label", "chunk"), [(NFC, NFD), (NFD, NFC), (NFC[5:], NFD), (NFD[5:], f"https://x.example/{NFC}?v=1")]
)
def test_documents_are_found_in_any_unicode_form(label: str, chunk: str) -> None:
    found = doc("c1", "Gro\u0308\u00dfe L", source=chunk)
    assert found_by(found, doc(label, match="doc")) == [label]
    assert found_by(found, quote(label, "Gr\u00f6\u00dfe L")) == [f'{label}: "Gr\u00f6\u00dfe L"']


def test_an_id_is_exact_in_its_unicode_form_too() -> None:
    assert found_by(Document(NFD), doc(NFC)) == []
