"""What became of a label: by texts, by spans, by nothing; and against a brute-force definition on characters."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora.core.types import Document
from pytest_auepora.errors import CorpusError
from pytest_auepora.labels.classify import Finding, classify
from pytest_auepora.labels.corpus import (
    Chunk,
    Corpus,
    Passage,
    corpus_of,
    corpus_recall,
    load_corpus,
    passage_of,
    recalled,
)
from pytest_auepora.labels.text_match import MIN_RUN, squeeze

ONE = "A refund can be asked for within 30 days of purchase."
TWO = "Gift cards are final and cannot be returned at all."
THREE = "Parcels leave the warehouse within two working days."


def became(text: str, corpus: object, label: str = "old") -> Finding:
    return classify(Document(label), corpus_of(corpus), [Passage(text)])


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
    assert classify(Document("old"), corpus, [Passage(ONE), Passage(TWO)]).new_id == "new"
    corpus = corpus_of({"b": TWO, "new": ONE})
    assert classify(Document("old"), corpus, [Passage(ONE), Passage(TWO)]).new_id == "b"


def test_an_edited_text_under_the_same_id_is_no_move() -> None:
    found = became(ONE, {"old": "A refund is possible for two weeks.", "b": TWO})
    assert (found.kind, found.note) == ("valid", "its text has changed")


def test_a_copy_elsewhere_is_no_move_while_the_id_is_there() -> None:
    chunks = [Document("old", TWO, {"document_id": "x"}), Document("a", ONE, {"document_id": "y"})]
    found = classify(Document("old"), corpus_of(chunks), [Passage(ONE, "x")])
    assert (found.kind, found.note) == ("valid", "its text has changed")


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
    found = classify(Document("old"), corpus_of(chunks), [Passage(ONE, "y")])
    assert (found.kind, found.new_id) == ("re-anchorable", "b")
    chunks = [Document(i, ONE, {"document_id": "x", "start": s, "end": s + 53}) for i, s in (("a", 0), ("b", 99))]
    assert classify(Document("old"), corpus_of(chunks), [Passage(ONE, "x", (99, 152))]).new_id == "b"


def test_the_same_text_elsewhere_is_a_candidate_and_no_proof() -> None:
    found = classify(Document("old"), corpus_of([Document("a", ONE, {"document_id": "x"})]), [Passage(ONE, "y")])
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
    assert (half.kind, half.note, half.candidates[0].id) == ("orphaned", "33 % of it is found", "a")


def test_without_an_old_text_only_the_id_speaks() -> None:
    assert classify(Document("a"), corpus_of(["a", "b"])).kind == "valid"
    gone = classify(Document("old"), corpus_of(["a", "b"]))
    assert (gone.kind, gone.note) == ("orphaned", "what it said is not known")
    ids_only = classify(Document("old"), corpus_of(["a"]), [Passage(ONE)])
    assert (ids_only.kind, ids_only.note) == ("orphaned", "the corpus has ids only, so its text cannot be looked for")


def test_an_id_that_names_a_document_now_is_split() -> None:
    chunks = [Document("refunds#1", ONE, {"document_id": "refunds"}), Document("refunds#2", TWO, {"doc": "refunds"})]
    found = classify(Document("refunds"), corpus_of(chunks))
    assert (found.kind, [c.id for c in found.candidates]) == ("split", ["refunds#1", "refunds#2"])


def test_spans_show_a_move_and_do_not_prove_it() -> None:
    chunks = [Document("a", "", {"document_id": "x", "start": 0, "end": 50})]
    found = classify(Document("old"), corpus_of(chunks), [Passage("", "x", (0, 50))])
    assert (found.kind, found.new_id, found.cover) == ("re-anchorable", "", ("a",))
    assert classify(Document("old"), corpus_of(chunks), [Passage("", "x", (10, 40))]).kind == "merged"
    assert classify(Document("old"), corpus_of(chunks), [Passage("", "x", (10, 80))]).kind == "split"
    assert classify(Document("old"), corpus_of(chunks), [Passage("", "x", (40, 80))]).kind == "orphaned"


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
    assert (found.kind, found.note[:11]) == ("valid", "not checked")


# --- a brute-force definition over random chunkings ---

WORDS = [f"word{n:03d}" for n in range(60)]
SOURCE = " ".join(WORDS)


def cut(points: list[int]) -> list[tuple[int, int]]:
    """Return character spans of whole words between the given word numbers."""
    edges = sorted({0, len(WORDS), *points})
    return [(8 * a, 8 * b - 1) for a, b in pairwise(edges)]


def brute_force(old: tuple[int, int], new: list[tuple[int, int]]) -> str:
    """Say what became of a span, character by character; runs below `MIN_RUN` may be chance and do not count."""
    wanted = {i for i in range(*old) if SOURCE[i] != " "}
    if old in new:
        return "re-anchorable"
    held = [wanted & set(range(*span)) for span in new]
    if wanted in held:
        return "merged"
    found = set().union(*(h for h in held if len(h) >= MIN_RUN))
    return "split" if len(found) >= len(wanted) / 2 else "orphaned"


chunkings = st.lists(st.integers(1, len(WORDS) - 1), max_size=20).map(cut)


@given(chunkings, chunkings, st.data())
def test_random_chunkings_agree_with_brute_force(
    before: list[tuple[int, int]], after: list[tuple[int, int]], data: st.DataObject
) -> None:
    kept = data.draw(st.lists(st.sampled_from(after), min_size=1, unique=True))
    corpus = Corpus({f"new{n}": Chunk(f"new{n}", SOURCE[a:b]) for n, (a, b) in enumerate(kept)})
    old = data.draw(st.sampled_from([s for s in before if s[1] - s[0] >= 2 * MIN_RUN] or [before[0]]))
    found = classify(Document("old"), corpus, [Passage(SOURCE[slice(*old)])])
    assert found.kind == brute_force(old, kept)
    if found.kind == "re-anchorable":
        assert squeeze(corpus.chunks[found.new_id].text) == squeeze(SOURCE[slice(*old)])
    if found.new_id:
        assert squeeze(SOURCE[slice(*old)]) in squeeze(corpus.chunks[found.new_id].text)


# --- corpora and recordings ---


def test_a_corpus_is_read_from_ids_texts_and_documents() -> None:
    assert set(corpus_of(iter(["a", "b", 3])).chunks) == {"a", "b", "3"}
    assert corpus_of({"a": "text", "b": None}).chunks["a"].text == "text"
    given = {"id": "a", "text": "t", "document_id": "x", "start": 0, "end": 1}
    for shape in ([given], {"a": {k: v for k, v in given.items() if k != "id"}}):
        assert corpus_of(shape).chunks["a"] == Chunk("a", "t", "x", (0, 1))


@pytest.mark.parametrize(
    ("given", "says"),
    [([], "is empty"), ("abc", "came as str"), (3, "came as int"), ([object()], "holds object"),
     ([{"text": "no id"}], "no id: 'no id'"), ([True], "holds bool")],
)  # fmt: skip
def test_what_is_no_corpus_is_refused(given: object, says: str) -> None:
    with pytest.raises(CorpusError, match=says):
        corpus_of(given)


def test_a_corpus_is_read_from_files(tmp_path: Path) -> None:
    path = tmp_path / "old.jsonl"
    path.write_text('{"id": "a", "text": "one", "doc": "x"}\n\n"b"\n', encoding="utf-8")
    assert load_corpus(path).chunks == {"a": Chunk("a", "one", "x"), "b": Chunk("b")}
    mapping = tmp_path / "old.json"
    mapping.write_text('{"a": "one"}', encoding="utf-8")
    assert load_corpus(mapping).chunks == {"a": Chunk("a", "one")}


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [("a.jsonl", '"a"\n{"id": }', "a.jsonl:2: not JSON"), ("a.jsonl", '"a"\n[1, 2]', "a.jsonl:2: the corpus holds"),
     ("a.json", "{\n1}", "a.json:2: not JSON"), ("a.jsonl", "\n", "a.jsonl: the corpus is empty")],
)  # fmt: skip
def test_a_file_that_is_no_corpus_is_refused_with_its_line(tmp_path: Path, name: str, text: str, says: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CorpusError, match=says):
        load_corpus(path)
    with pytest.raises(CorpusError, match="cannot be read"):
        load_corpus(tmp_path / "none.jsonl")


def test_what_the_golden_file_says_comes_first_and_is_completed() -> None:
    old = corpus_recall(corpus_of([Document("old", ONE, {"document_id": "x"})]), Path("some/old.jsonl"))
    assert recalled("case", Document("old", TWO), [old]) == [Passage(TWO, "", None, "the golden file")]
    assert recalled("case", Document("old"), [old]) == [Passage(ONE, "x", None, "old.jsonl")]
    placed = Document("old", "", {"document_id": "y", "start": 1, "end": 9})
    assert recalled("case", placed, [old]) == [Passage(ONE, "y", (1, 9), "old.jsonl")]
    assert recalled("case", placed, []) == [passage_of(placed)]
    assert recalled("case", Document("new"), [old]) == []
