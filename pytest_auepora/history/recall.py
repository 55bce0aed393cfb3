"""What chunks said when they were retrieved: old texts for labels whose chunk ids are gone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..core.run import Run
from ..errors import HistoryError
from ..labels.corpus import Passage, Recall
from .store import HistoryStore

_CUT = "…"
"""How a text ends of which only the beginning was stored; it would be proof of nothing."""

_MOST = 10
"""Runs that are looked at from either end of the history."""


def history_recall(store: HistoryStore, suite: str, content_hashes: Mapping[str, str]) -> Recall:
    """Remember by the stored runs of *suite*; they are read when first asked.

    Only runs count in which the case said what it says now (*content_hashes*, by case id): an id that was put into the
    golden file later may have named another chunk before.
    """
    known: dict[tuple[str, str], list[Passage]] | None = None

    def recall(case_id: str, chunk_id: str) -> Sequence[Passage]:
        nonlocal known
        if known is None:
            try:
                known = _read(store, suite, content_hashes)
            except HistoryError:  # whatever else is known of a label has to do
                known = {}
        return known.get((case_id, chunk_id), ())

    return recall


def _read(store: HistoryStore, suite: str, content_hashes: Mapping[str, str]) -> dict[tuple[str, str], list[Passage]]:
    ids = [run.run_id for run in reversed(store.runs(suite=suite))]
    out: dict[tuple[str, str], list[Passage]] = {}
    for run_id in dict.fromkeys(ids[:_MOST] + ids[-_MOST:]):
        run = store.load(run_id, answers=False)
        texts = _texts(run, f"run {run_id}")
        for case in run.cases.values():
            if content_hashes.get(case.case_id) != case.content_hash:
                continue
            for label in case.expected.get("relevant", ()):
                if label.get("match") is not None:  # found by its words, or known to have moved
                    continue
                passage = texts.get(label["id"])
                before = out.setdefault((case.case_id, label["id"]), [])
                if passage is not None and not any(_same(passage, one) for one in before):
                    before.append(passage)
    return out


def _same(one: Passage, other: Passage) -> bool:
    return (one.text, one.source, one.span) == (other.text, other.source, other.span)


def _texts(run: Run, origin: str) -> dict[str, Passage]:
    """The chunks that a run retrieved, by id; those that were stored whole win."""
    out: dict[str, Passage] = {}
    for hit in _hits(run):
        text = hit.get("text", "")
        text = "" if text.endswith(_CUT) else text
        span = hit.get("span")
        passage = Passage(text, hit.get("doc", ""), (span[0], span[1]) if span else None, origin)
        if (passage.text or passage.source) and (text or hit["id"] not in out):
            out[hit["id"]] = passage
    return out


def _hits(run: Run) -> Iterable[Mapping[str, Any]]:
    for case in run.cases.values():
        yield from case.outputs.get("retrieved", ())
