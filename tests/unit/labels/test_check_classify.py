"""What became of a label: by texts, by spans, by nothing; and against a brute-force definition on characters."""

from __future__ import annotations

import pytest

from pytest_auepora.core.types import Document
from pytest_auepora.labels.check import LabelFinding, classify
from pytest_auepora.labels.corpus import (
    Chunk,
    corpus_of,
    squeeze,
)

ONE = "A refund can be asked for within 30 days of purchase."
TWO = "Gift cards are final and cannot be returned at all."
THREE = "Parcels leave the warehouse within two working days."


def became(text: str, corpus: object, label: str = "old") -> LabelFinding:
    return classify(Document(label), corpus_of(corpus), [Chunk(label, text)])


def test_an_id_with_its_text_is_valid_whatever_the_white_space() -> None:
    assert became(ONE, {"old": ONE.replace(" ", "\n  ")}).kind == "valid"
    assert became(ONE, {"old": f"{TWO} {ONE}"}).kind == "valid"
    assert became(ONE, {"old": ONE[:-10]}).kind == "valid"


def test_the_same_text_under_another_id_is_re_anchorable() -> None:
    found = became(ONE, {"a": TWO, "b": f" {ONE}\n"})
    assert (found.kind, found.new_id, found.cover) == ("re-anchorable", "b", ("b",))


def test_a_reused_id_does_not_hide_that_its_passage_moved() -> None:
    found = became(ONE, {"old": TWO, "new": ONE})
    assert (found.kind, found.new_id) == ("re-anchorable", "new")


def test_the_first_recording_counts_until_the_id_is_gone() -> None:
    corpus = corpus_of({"old": TWO, "new": ONE})
    assert classify(Document("old"), corpus, [Chunk("old", ONE), Chunk("old", TWO)]).new_id == "new"
    corpus = corpus_of({"b": TWO, "new": ONE})
    assert classify(Document("old"), corpus, [Chunk("old", ONE), Chunk("old", TWO)]).new_id == "b"


def test_an_edited_text_under_the_same_id_is_no_move() -> None:
    found = became(ONE, {"old": "A refund is possible for two weeks.", "b": TWO})
    assert (found.kind, bool(found.note)) == ("valid", True)


def test_a_copy_elsewhere_is_no_move_while_the_id_is_there() -> None:
    chunks = [Document("old", TWO, {"document_id": "x"}), Document("a", ONE, {"document_id": "y"})]
    found = classify(Document("old"), corpus_of(chunks), [Chunk("old", ONE, "x")])
    assert (found.kind, bool(found.note)) == ("valid", True)


def test_text_inside_one_larger_chunk_is_merged_and_provable() -> None:
    found = became(ONE, {"a": THREE, "b": f"{ONE}\n\n{TWO}"})
    assert (found.kind, found.new_id) == ("merged", "b")


def test_text_in_two_chunks_proves_nothing() -> None:
    for kind, texts in {"merged": {"a": f"{ONE} {TWO}", "b": f"{THREE} {ONE}"},
                        "re-anchorable": {"a": ONE, "b": ONE}}.items():  # fmt: skip
        found = became(ONE, texts)
        assert (found.kind, found.new_id, len(found.candidates)) == (kind, "", 2)


def test_a_few_characters_prove_no_merger() -> None:
    assert became("30 days", {"b": f"{ONE} {TWO}"}).new_id == ""


def test_equal_texts_are_told_apart_by_their_document_and_place() -> None:
    chunks = [Document("a", ONE, {"document_id": "x"}), Document("b", ONE, {"document_id": "y"})]
    found = classify(Document("old"), corpus_of(chunks), [Chunk("old", ONE, "y")])
    assert (found.kind, found.new_id) == ("re-anchorable", "b")
    chunks = [Document(i, ONE, {"document_id": "x", "start": s, "end": s + 53}) for i, s in (("a", 0), ("b", 99))]
    assert classify(Document("old"), corpus_of(chunks), [Chunk("old", ONE, "x", (99, 152))]).new_id == "b"


def test_the_same_text_elsewhere_is_a_candidate_and_no_proof() -> None:
    found = classify(Document("old"), corpus_of([Document("a", ONE, {"document_id": "x"})]), [Chunk("old", ONE, "y")])
    assert (found.kind, found.new_id, found.cover) == ("re-anchorable", "", ("a",))


def test_text_spread_over_chunks_is_split_with_shares() -> None:
    text = f"{ONE} {TWO}"
    found = became(text, {"a": f"{THREE} {ONE}", "b": TWO, "c": THREE})
    assert found.kind == "split"
    share = len(squeeze(ONE)) / len(squeeze(text))
    assert {c.id: c.share for c in found.candidates} == {"a": round(share, 4), "b": round(1 - share, 4)}
    assert found.new_id == ""


def test_text_that_is_nowhere_is_orphaned() -> None:
    found = became(ONE, {"a": TWO, "b": THREE})
    assert (found.kind, found.candidates) == ("orphaned", ())
    half = became(f"{ONE} {TWO} {THREE}", {"a": ONE})
    assert (half.kind, half.note.split()[0], half.candidates[0].id) == ("orphaned", "33", "a")


def test_without_an_old_text_only_the_id_speaks() -> None:
    assert classify(Document("a"), corpus_of(["a", "b"])).kind == "valid"
    gone = classify(Document("old"), corpus_of(["a", "b"]))
    ids_only = classify(Document("old"), corpus_of(["a"]), [Chunk("old", ONE)])
    assert (gone.kind, ids_only.kind) == ("orphaned", "orphaned")
    assert len({"", gone.note, ids_only.note}) == 3


def test_an_id_that_names_a_document_now_is_split() -> None:
    chunks = [Document("refunds#1", ONE, {"document_id": "refunds"}), Document("refunds#2", TWO, {"doc": "refunds"})]
    found = classify(Document("refunds"), corpus_of(chunks))
    assert (found.kind, [c.id for c in found.candidates]) == ("split", ["refunds#1", "refunds#2"])


def test_spans_show_a_move_and_do_not_prove_it() -> None:
    chunks = [Document("a", "", {"document_id": "x", "start": 0, "end": 50})]
    found = classify(Document("old"), corpus_of(chunks), [Chunk("old", "", "x", (0, 50))])
    assert (found.kind, found.new_id, found.cover) == ("re-anchorable", "", ("a",))
    assert classify(Document("old"), corpus_of(chunks), [Chunk("old", "", "x", (10, 40))]).kind == "merged"
    assert classify(Document("old"), corpus_of(chunks), [Chunk("old", "", "x", (10, 80))]).kind == "split"
    assert classify(Document("old"), corpus_of(chunks), [Chunk("old", "", "x", (40, 80))]).kind == "orphaned"


@pytest.mark.parametrize(
    ("label", "kind"),
    [
        (Document("x", "within 30 days", {"match": "quote"}), "valid"),
        (Document("x", "of purchase. Gift cards are final", {"match": "quote"}), "split"),
        (Document("x", f"{ONE[10:]} {TWO[:-9]}", {"match": "quote"}), "split"),
        (Document("x", "within 60 days", {"match": "quote"}), "orphaned"),
        (Document("z", "within 30 days", {"match": "quote"}), "orphaned"),
        (Document("x", "", {"match": "doc"}), "valid"),
        (Document("z", "", {"match": "doc"}), "orphaned"),
        (Document("x", "", {"match": "span", "start": 5, "end": 40}), "valid"),
        (Document("x", "", {"match": "span", "start": 30, "end": 80}), "valid"),
        (Document("x", "", {"match": "span", "start": 20, "end": 95}), "valid"),
        (Document("x", "", {"match": "span", "start": 90, "end": 300}), "orphaned"),
    ],
)
def test_quotes_spans_and_documents_match_as_in_scoring(label: Document, kind: str) -> None:
    chunks = [
        Document("x#1", ONE, {"document_id": "x", "start": 0, "end": 53}),
        Document("x#2", TWO, {"document_id": "x", "start": 54, "end": 104}),
    ]
    assert classify(label, corpus_of(chunks)).kind == kind


def test_what_cannot_be_checked_is_valid_and_says_so() -> None:
    found = classify(Document("x", "within 30 days", {"match": "quote"}), corpus_of(["x#1"]))
    assert (found.kind, found.unchecked) == ("valid", True)


# --- corpora and recordings ---


NFC, NFD = "Gr\u00f6\u00dfe.md", "Gro\u0308\u00dfe.md"


def test_an_id_in_another_unicode_form_is_named_with_both() -> None:
    found = classify(Document(NFC), corpus_of([NFD]))
    assert (found.kind, found.new_id) == ("re-anchorable", NFD)
    assert [name for name in (ascii(NFC), ascii(NFD), "(NFC)", "(NFD)") if name not in found.note] == []


@pytest.mark.parametrize("match", ["doc", "quote"])
@pytest.mark.parametrize("source", [NFC, NFD, f"/data/{NFD}", f"https://x.example/{NFC}"])
def test_a_document_is_found_as_scoring_finds_it(match: str, source: str) -> None:
    label = Document(NFC, ONE if match == "quote" else "", {"match": match})
    assert classify(label, corpus_of([{"id": "c1", "text": ONE, "source": source}])).kind == "valid"
