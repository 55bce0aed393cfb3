"""A corpus: from ids, texts, documents and files."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora.core.types import Document
from pytest_auepora.errors import CorpusError
from pytest_auepora.labels.check import classify
from pytest_auepora.labels.corpus import (
    MIN_RUN,
    Chunk,
    Corpus,
    corpus_of,
    corpus_recall,
    load_corpus,
    recall_chunks,
    squeeze,
)

from .test_check_classify import ONE, TWO


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
    [("a.jsonl", '"a"\n{"id": }', "a.jsonl:2:8: not JSON"), ("a.jsonl", '"a"\n[1, 2]', "a.jsonl:2: the corpus holds"),
     ("a.json", "{\n1}", "a.json:2:1: not JSON"), ("a.jsonl", "\n", "a.jsonl: the corpus is empty"),
     ("a.json", "{}", "a.json: the corpus is empty"), ("a.json", "[" * 100_000, r"a.json:1: nests too deep")],
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
    (declared,) = recall_chunks("case", Document("old", TWO), [old])
    assert (declared.text, declared.source) == (TWO, "")
    assert recall_chunks("case", Document("old"), [old]) == [Chunk("old", ONE, "x", None, "old.jsonl")]
    placed = Document("old", "", {"document_id": "y", "start": 1, "end": 9})
    assert recall_chunks("case", placed, [old]) == [Chunk("old", ONE, "y", (1, 9), "old.jsonl")]
    assert recall_chunks("case", placed, []) == [Chunk.of(placed, declared.origin)]
    assert recall_chunks("case", Document("new"), [old]) == []


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
    found = classify(Document("old"), corpus, [Chunk("old", SOURCE[slice(*old)])])
    assert found.kind == brute_force(old, kept)
    if found.kind == "re-anchorable":
        assert squeeze(corpus.chunks[found.new_id].text) == squeeze(SOURCE[slice(*old)])
    if found.new_id:
        assert squeeze(SOURCE[slice(*old)]) in squeeze(corpus.chunks[found.new_id].text)
