"""The relevant documents of a failed case and the returned ones, as lines of a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...core.run import CaseResult, MetricInfo
from ..diagnosis import component, cutoff
from ..numbers import plural
from ..relevant_docs import RelevantDoc, score_texts, source_text
from ..text import text_width
from .layout import Page, Piece

MOST_HITS = 10
MOST_WANTED = 6
LEAST_LABEL = 7
"""Columns that a document keeps, however long the note on its rank is."""


def deepest(blamed: Sequence[str], metrics: Mapping[str, MetricInfo]) -> int | None:
    """Return the furthest rank that a blamed retrieval metric looks at."""
    ks = [k for n in blamed if component(metrics[n]) == "retrieval" and (k := cutoff(metrics[n]))]
    return max(ks, default=None)


def wanted_lines(page: Page, result: CaseResult, docs: Sequence[RelevantDoc], k: int | None) -> None:
    """Add the relevant documents, each with its rank; marked good within the top *k*."""
    if not docs:
        if result.expected.get("expect") == "refuse":
            page.text("expected", "a refusal: nothing is relevant")
        return
    order = docs
    if len(docs) > MOST_WANTED:
        order = [*(d for d in docs if not d.within(k)), *(d for d in docs if d.within(k))][:MOST_WANTED]
    graded = any(d.grade != 1 for d in docs)
    notes = [_rank_note(d, graded=graded) if result.state != "error" else "" for d in order]
    room = max(page.room - max(map(len, notes)) - 4, LEAST_LABEL)
    labels = [page.clip(label, room) for label in (page.safe(d.label) for d in order)]
    column = max(map(text_width, labels))
    notes = [page.clip(note, page.room - column - 4) for note in notes]
    good, bad = f"{page.marks.good} ", f"{page.marks.bad} "
    lines: list[list[Piece]] = []
    for doc, label, note in zip(order, labels, notes, strict=True):
        if result.state == "error":
            lines.append([(label, ())])
        elif doc.within(k):
            lines.append([(good, ("green",)), (f"{page.padded(label, column)}  {note}", ())])
        else:
            lines.append([(bad, ("red",)), (page.padded(label, column), ()), (f"  {note}", ("red",))])
    if (more := len(docs) - len(lines)) > 0:
        lines.append([(f"{page.marks.dots} and {plural(more, 'more document')}", ("light",))])
    page.block("expected", lines)


def _rank_note(doc: RelevantDoc, *, graded: bool) -> str:
    now = f"rank {doc.rank}" if doc.rank is not None else "not returned"
    if doc.known and doc.before != doc.rank:
        now += f", was {doc.before if doc.before is not None else 'not returned'}"
    return f"{now}, grade {doc.grade}" if graded else now


def ranking_lines(page: Page, result: CaseResult, metrics: Mapping[str, MetricInfo], blamed: Sequence[str]) -> None:
    """Add the returned documents: those the metrics look at, and further down those that are relevant."""
    hits: Sequence[Mapping[str, Any]] = result.outputs.get("retrieved") or ()
    if not hits:
        page.text("returned", "nothing", "red")
        return
    cuts: dict[int, str] = {}
    for name in result.scores:
        if (info := metrics.get(name)) is not None and (at := cutoff(info)) is not None:
            cuts[at] = name
    about_ranking = any(component(metrics[n]) == "retrieval" for n in blamed)
    k = deepest(blamed, metrics) or (max if about_ranking else min)(cuts, default=5)
    size = min(k, MOST_HITS, len(hits))
    below = [i for i in range(size, len(hits)) if _is_relevant(hits[i])][:3]
    lines = _hit_lines(page, [(i + 1, hits[i]) for i in (*range(size), *below)])
    shown = lines[:size]
    if below and size == k and k in cuts:
        shown.append([(page.clip(page.safe(f"    {page.marks.rule} {cuts[k]} looks no further")), ("light",))])
    last = size - 1
    for i, line in zip(below, lines[size:], strict=True):
        if i > last + 1:
            shown.append([(f"    {page.marks.dots}", ("light",))])
        shown.append(line)
        last = i
    if last < len(hits) - 1:
        shown.append([(f"    {page.marks.dots} {len(hits)} returned", ("light",))])
    page.block("returned", shown)


def _is_relevant(hit: Mapping[str, Any]) -> bool:
    grade: Any = hit.get("grade")
    return bool(grade) and int(grade) > 0


def _hit_lines(page: Page, hits: Sequence[tuple[int, Mapping[str, Any]]]) -> list[list[Piece]]:
    """Return a line for each of *hits*, which come with their ranks: the names, scores and texts stand in columns."""
    names = [page.safe(str(hit.get("id")), 200) for _, hit in hits]
    sources = [page.safe(source_text(hit), 200) for _, hit in hits]
    if any(sources):
        names = [
            f"{source} ({page.clip(name, 12)})" if source else name for name, source in zip(names, sources, strict=True)
        ]
    scores = score_texts([hit for _, hit in hits])
    digits = max(7, *map(len, scores))
    column = min(max(map(text_width, names)), 30, page.room - digits - 8)
    lines: list[list[Piece]] = []
    for (rank, hit), name, score in zip(hits, names, scores, strict=True):
        at, number = str(rank).rjust(3), f" {score:>{digits}}" if any(scores) else ""
        relevant = _is_relevant(hit)
        mark, style = (page.marks.good, ("green",)) if relevant else (page.marks.neutral, ())
        line: list[Piece] = [(f"{at} ", ()), (f"{mark} {page.padded(name, column)}", style), (number, ())]
        room = page.room - column - len(at) - len(number) - 5  # a mark, and blanks: a column each
        if room >= 12 and (text := page.clip(page.safe(str(hit.get("text") or ""), 200), room)):
            line.append((f"  {text}", ("light",)))
        lines.append(line)
    return lines
