"""The one pass over a ranking: what is found where, under every way of matching."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora.core.types import Document, EvaluationSample, RetrievedDocument, SystemOutputs
from pytest_auepora.errors import MetricError
from pytest_auepora.metrics.options import DoesNotApply
from pytest_auepora.metrics.ranking import matching
from pytest_auepora.metrics.ranking.matching import (
    Matching,
    Ranking,
    grades_of_retrieved,
    ranking_of,
    ranks_of_relevant,
)

from ..rankings import doc, got, graded, judgments, ks, rankings, wants


def held(sample: EvaluationSample, outputs: SystemOutputs, **matching: str) -> Ranking:
    seen = ranking_of(sample, outputs, Matching(**matching))
    assert isinstance(seen, Ranking)
    return seen


def test_first_occurrences_and_their_grades() -> None:
    seen = held(wants(*graded(a=2, b=1, c=0, d=3)), got("x b c a b a"))
    assert (seen.slots, seen.grades) == ([1, 3], [1, 2])
    assert seen.ideal == [3, 2, 1]
    assert (seen.names, seen.missed_labels(None)) == (["a", "b", "d"], ["d"])
    assert (seen.missed_labels(3), seen.missed_labels(1)) == (["a", "d"], ["a", "b", "d"])
    assert [seen.hits(k) for k in (1, 2, 4, None)] == [0, 1, 2, 2]


@given(judgments, rankings, ks)
def test_the_fast_pass_is_the_general_one(gold: dict[str, int], returned: list[str], k: int) -> None:
    sample, outputs = wants(*graded(**gold)), got(*returned)
    fast = matching._plain_ranking(sample.relevant_docs or [], outputs.retrieved)
    general = matching._ranking(sample, outputs.retrieved, Matching())
    assert fast is not None
    for name in ("names", "ideal", "slots", "grades", "cuts", "places"):
        assert getattr(fast, name) == getattr(general, name)
    assert [*fast.slot_cuts] == general.slot_cuts
    for one in (k, None):
        assert (fast.hits(one), fast.found_labels(one), fast.ideal_grades(one), fast.missed_labels(one)) == (
            general.hits(one), general.found_labels(one), general.ideal_grades(one), general.missed_labels(one),
        )  # fmt: skip


def test_the_pass_is_kept_and_shared() -> None:
    sample, outputs = wants("a"), got("a")
    assert ranking_of(sample, outputs) is ranking_of(sample, outputs)
    assert ranking_of(sample, outputs, Matching(level="doc")) is not ranking_of(sample, outputs)


def test_another_gold_or_another_list_is_another_pass() -> None:
    outputs = got("a b")
    assert held(wants("a"), outputs).slots == [0]
    assert held(wants("b"), outputs).slots == [1]
    sample = wants("a")
    held(sample, outputs)
    assert sample.relevant_docs is not None
    sample.relevant_docs.append(Document("b"))
    assert held(sample, outputs).slots == [0, 1]
    outputs.retrieved = outputs.retrieved[1:]
    assert held(sample, outputs).slots == [0]
    outputs.retrieved.append(RetrievedDocument(Document("a"), 0.0, 2))
    assert held(sample, outputs).slots == [0, 1]


def test_nothing_relevant_is_nothing_to_hold() -> None:
    for sample in (EvaluationSample("s", "q"), wants(), wants(*graded(a=0)), wants(labels={"expect": "answer"})):
        with pytest.raises(DoesNotApply):
            ranking_of(sample, got("a"))


def test_collapsing_closes_the_gaps() -> None:
    seen = held(wants("b c"), got("a a b b c"), duplicates="collapse")
    assert (seen.slots, seen.cuts, len(seen.slot_cuts)) == ([1, 2], [1, 2], 3)


def test_repeats_can_be_refused() -> None:
    with pytest.raises(MetricError, match="'a' is returned twice, at ranks 1 and 3"):
        held(wants("b"), got("a b a"), duplicates="error")
    assert held(wants("b"), got("a b"), duplicates="error").slots == [1]


def test_ties_like_trec() -> None:
    outputs = got("a b c d", scores=[1.0, 2.0, 1.0, 2.0])
    assert held(wants("a b c d"), outputs, ties="trec").places == {"d": 0, "b": 1, "c": 2, "a": 3}


def test_a_score_that_is_no_number_cannot_be_sorted() -> None:
    with pytest.raises(MetricError, match="the score of 'b' is NaN"):
        held(wants("a"), got("a b", scores=[1.0, float("nan")]), ties="trec")
    assert held(wants("b"), got("a b", scores=[1.0, float("nan")])).slots == [1]


def test_skipping_the_unjudged_moves_the_others_up() -> None:
    seen = held(wants(*graded(a=1, n=0)), got("x n y a"), unjudged="skip")
    assert (seen.slots, len(seen.slot_cuts)) == ([1], 2)


def chunks(*placed: tuple[str, str]) -> list[Document]:
    return [doc(name, document_id=source) for name, source in placed]


DOCS = chunks(("c1", "A"), ("c2", "B"), ("c3", "A"), ("c4", "C"))


def test_at_document_level_the_first_chunk_of_a_document_counts() -> None:
    seen = held(wants("A C"), got(*DOCS), level="doc")
    assert (seen.slots, len(seen.slot_cuts)) == ([0, 3], 4)


def test_documents_collapse_after_the_cut_in_chunks() -> None:
    seen = held(wants("A C"), got(*DOCS), level="doc", duplicates="collapse")
    assert (seen.slots, seen.cuts, len(seen.slot_cuts)) == ([0, 2], [0, 3], 3)
    assert [seen.hits(k) for k in (3, 4)] == [1, 2]
    assert [seen.returned(k) for k in (1, 2, 3, 4, 9)] == [1, 2, 2, 3, 3]
    assert [seen.missed_labels(k) for k in (3, 4, None)] == [["C"], [], []]


QUOTES = [doc("d", text, match="quote", grade=grade) for text, grade in (("one", 1), ("two", 3), ("three", 2))]


def test_a_chunk_that_covers_several_labels() -> None:
    """All of them are found, and the ideal ranking has one document for them."""
    seen = held(wants(*QUOTES), got("x", doc("c", "one and two", document_id="d")))
    assert (seen.found_labels(1), seen.found_labels(2)) == (0, 2)
    assert (seen.slots, seen.grades) == ([1], [3])
    assert (seen.ideal_grades(1), seen.ideal_grades(2)) == ([3, 2, 1], [3, 2])
    assert seen.missed_labels(2) == ['d: "three"']


def test_a_second_chunk_with_the_same_passage_earns_nothing() -> None:
    both = [doc(f"c{i}", text, document_id="d") for i, text in enumerate(("two", "one two", "one"))]
    seen = held(wants(*QUOTES[:2]), got(*both))
    assert (seen.slots, seen.grades, seen.found_labels(None)) == ([0, 1], [3, 1], 2)


def test_ranks_are_by_label_as_written() -> None:
    sample = wants("a", doc("d", "one two", match="quote"), doc("d", match="span", start=3, end=9), "b", *graded(n=0))
    outputs = got("x", doc("c", "one  two", document_id="d", start=0, end=8), "b n")
    assert ranks_of_relevant(sample, outputs) == {"a": None, 'd: "one two"': 2, "d[3:9]": 2, "b": 3}
    assert ranks_of_relevant(EvaluationSample("s", "q"), outputs) == {}
    assert ranks_of_relevant(wants(), outputs) == {}


def test_grades_are_those_a_reader_would_mark() -> None:
    sample = wants(*graded(a=2, n=0), *QUOTES)
    outputs = got("a x n a", doc("c", "one two", document_id="d"))
    assert grades_of_retrieved(sample, outputs) == [2, 0, 0, 2, 3]
    assert grades_of_retrieved(EvaluationSample("s", "q"), outputs) == [0] * 5
    blind = wants(*graded(a=2), doc("d", "words", match="quote"))  # no metric says how good this is
    assert grades_of_retrieved(blind, got("a x", doc("c", document_id="d"))) == [2, 0, 0]
    assert grades_of_retrieved(wants(doc("a", grade="good")), got("a x")) == [0, 0]


@given(judgments, rankings, st.sampled_from(["first", "collapse"]), st.sampled_from(["irrelevant", "skip"]))
def test_a_pass_is_sound(gold: dict[str, int], returned: list[str], duplicates: str, unjudged: str) -> None:
    seen = held(wants(*graded(**gold)), got(*returned), duplicates=duplicates, unjudged=unjudged)
    assert seen.slots == sorted(set(seen.slots))
    assert all(0 <= slot < len(seen.slot_cuts) <= len(returned) for slot in seen.slots)
    assert len(seen.slots) == len(seen.places) == len(set(returned) & set(seen.names))
    assert all(grade > 0 for grade in seen.grades)
