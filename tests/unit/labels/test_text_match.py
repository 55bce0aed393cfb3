"""Passages found in chunks again, whatever the white space; as brute force finds them."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora.core.types import Document
from pytest_auepora.labels.classify import classify
from pytest_auepora.labels.corpus import (
    Chunk,
    Corpus,
    Passage,
)
from pytest_auepora.labels.text_match import MIN_RUN, squeeze

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
