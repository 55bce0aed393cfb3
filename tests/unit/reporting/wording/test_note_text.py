"""The sentence of each kind of note."""

from __future__ import annotations

from typing import get_args

import pytest

from pytest_auepora.regression.compare import Change, Incomparable
from pytest_auepora.regression.outcomes import Note, NoteKind
from pytest_auepora.reporting.wording.note_text import note_text

K = Incomparable(changes=(Change("k", 5, 10),))


@pytest.mark.parametrize(
    ("note", "text"),
    [
        (Note("slices too small", ("lang=de",), data={"clusters": {"lang=de": 3}}),
         "slices of fewer than 10 clusters are not judged: lang=de (3)"),
        (Note("not comparable with the anchor", ("mrr",), why=K), "not comparable with the anchor: mrr (k 5 → 10)"),
        (Note("falls add up", ("mrr",), data={"falls": 3, "before": 0.8, "after": 0.74}),
         "mrr: 3 accepted falls in a row add up from 0.800 to 0.740; "
         "an anchor keeps such steps from adding up: `pytest --auepora-update=anchor`"),
        (Note("no label met", ("a.md",), data={"cases": 2, "returned": [["x1", "x.md"]], "source": None}),
         "no label was met in 2 cases: wanted a.md; returned x1 of x.md; "
         "a plain label is an id, {doc: …} names a source document: `auepora help recall-is-zero`"),
        (Note("provenance differs", why=Incomparable(changes=(Change("model", "a", "b"),))),
         "not all cases have the same provenance: model a and b"),
        (Note("replayed", detail="r1"), "replayed from run r1: its answers, no calls"),
        (Note("answers cut", ("a", "b")),
         "too large to be recorded in full (auepora_keep): the answers to a, b; "
         "metrics over the texts that were cut are not comparable in a replay"),
        (Note("history not written", detail="disk full"), "not kept in the history: disk full"),
        (Note("not pruned"), "not all cases ran, so nothing was pruned"),
        (Note("stopped"), "the run was stopped, so the baseline was not touched"),
        (Note("accepted answers not kept", detail="disk full"), "the accepted answers are not kept: disk full"),
        (Note("looked once", detail="limit"), "a higher --auepora-max-calls looks again"),
        (Note("looked once", detail="budget"), "a higher auepora_budget looks again"),
        (Note("resumed", detail="r1", data={"taken": 3, "cases": 9}),
         "3 of 9 answers taken from run r1, the others asked"),
        (Note("recorded otherwise", detail="r1", why=K),
         "run r1 has another provenance, so no answers were taken: k 5 → 10"),
        (Note("recorded at another commit", detail="r1", why=Incomparable(changes=(Change("commit", "aa", "bb"),))),
         "run r1 was made at commit aa, this is bb"),
        (Note("call limit", ("a",), data={"limit": 9}), "--auepora-max-calls 9 was used up; not asked again: a"),
        (Note("call limit", data={"limit": None}), "auepora_budget was used up"),
    ],
)  # fmt: skip
def test_the_sentence_of_a_note(note: Note, text: str) -> None:
    assert note_text(note) == text


@pytest.mark.parametrize("kind", get_args(NoteKind))
def test_every_kind_has_a_sentence(kind: NoteKind) -> None:
    assert len(note_text(Note(kind, ("a",), "detail"))) > 5
