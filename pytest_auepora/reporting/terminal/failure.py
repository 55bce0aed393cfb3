"""The text of one failed case: what broke, what was expected, what came back.

At most a screen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import islice
from typing import Any

from ...core.grouping import grouped
from ...core.run import CaseResult, MetricInfo
from ...errors import ACCEPTED_SHAPES
from ...regression.compare import SINCE, CaseComparison
from ...regression.guards.case_guard import FELL
from ...regression.guards.steadiness import as_shown, shown_repeat
from ..diagnosis import blamed_metrics, component, cutoff, diagnose
from ..numbers import metric_value, plural, seconds
from ..relevant_docs import RelevantDoc, relevant_docs, score_texts, source_text
from ..text import listed, printable, quoted, text_width, uncommanded
from .layout import Cell, Line, Page, render

MOST_PROBLEMS = 5
MOST_FRAMES = 14
MOST_WORDS = 40  # longer answers read better side by side
MOST_HITS = 10
MOST_WANTED = 6
LEAST_LABEL = 7
"""Columns that a document keeps, however long the note on its rank is."""


def failure_text(
    result: CaseResult,
    comparison: CaseComparison | None,
    metrics: Mapping[str, MetricInfo],
    *,
    width: int = 80,
    ascii_only: bool = False,
    shapes: bool = True,
) -> str:
    """Return what a person needs to know about a failed or errored case; its first line is the diagnosis.

    *shapes*: with the list of shapes that a system or an answer may have, where it has none of them.

    No line is wider than *width* but the place ``file:line`` and the frames of an exception, which stay whole so
    that terminals and editors can follow them.
    """
    page = Page(width, ascii_only=ascii_only)
    repeats, result = shown_repeat(result), as_shown(result)
    blamed, docs = blamed_metrics(result, metrics), relevant_docs(result, comparison)
    page.free(str(diagnose(result, comparison, metrics) or ""), "red", "bold")
    place_lines(page, result)
    page.text("query", result.query, most=2)
    if result.state == "error":
        _error(page, result.error, shapes=shapes)
        wanted_lines(page, result, docs, None)
        return render(page.lines)
    _problems(page, result)
    page.text("repeats", repeats)
    about = {component(metrics[n]) for n in blamed}
    wanted_lines(page, result, docs, deepest(blamed, metrics))
    _moved_labels(page, result)
    if blamed and all(metrics[n].target == "LATENCY" for n in blamed):
        timings = result.outputs.get("timings") or {}
        page.text("timings", ", ".join(f"{name} {seconds(value)}" for name, value in timings.items()))
        return render(page.lines)
    ranking_lines(page, result, metrics, blamed)
    answer_lines(page, result, compare="generation" in about or "system" in about)
    _judges(page, result, blamed)
    _scores(page, result, comparison, metrics)
    return render(page.lines)


def place_lines(page: Page, result: CaseResult) -> None:
    """Add where the case stands, and its id."""
    case_id, where = page.safe(result.case_id), page.safe(result.where)
    if where and text_width(where) + text_width(case_id) + 2 <= page.width:
        page.lines.append([Cell(f"{where}  "), Cell(case_id, ("bold",))])
        return
    if where:
        page.lines.append([Cell(where)])
    page.lines.append([Cell(page.clip(case_id, page.width), ("bold",))])


def _error(page: Page, error: str, *, shapes: bool) -> None:
    frames = printable(error[-6000:], ascii_only=page.ascii_only, keep_lines=True).splitlines()[1:]
    for frame in frames[-MOST_FRAMES:]:
        if shapes or not frame.startswith(ACCEPTED_SHAPES):
            page.lines.append([Cell(f"  {uncommanded(frame)}", ("light",))])


def _moved_labels(page: Page, result: CaseResult) -> None:
    """Say what the labels were matched by where their chunks are gone."""
    for name, told in result.extra.get("labels", {}).get("labels", {}).items():
        chunks = f": {listed(told['chunks'])}" if told["chunks"] else ""
        page.text("moved", f"{name} ({told['became']}), matched: {told['match']}{chunks}", most=2)


def _judges(page: Page, result: CaseResult, blamed: Sequence[str]) -> None:
    """Say why a judge gave the scores that fail the case."""
    for name, score in result.scores.items():
        if name in blamed and (said := score.details.get("rationale")):
            told = "; ".join(f"{what}: {why}" for what, why in said.items()) if isinstance(said, dict) else str(said)
            page.text("judge", f"{name}: {told}", most=3)


def _problems(page: Page, result: CaseResult) -> None:
    told = _together(result.problems, page.marks.arrow)
    for problem in told[:MOST_PROBLEMS]:
        page.free(f"{page.marks.bad} {problem}", "red", indent=2, most=3)
    if (more := len(told) - MOST_PROBLEMS) > 0:
        page.free(f"{page.marks.dots} and {more} more", indent=2)


def _together(problems: Sequence[str], arrow: str) -> list[str]:
    """Return *problems*, those of several metrics that fell since the baseline in one."""
    found = [(problem, FELL.fullmatch(problem)) for problem in problems]
    by = grouped((f"{fell[2]} {SINCE}, {fell[5]}" if fell else problem, (problem, fell)) for problem, fell in found)
    out = []
    for what, alike in by.items():
        moved = [f"{fell[1]} {fell[3]} {arrow} {fell[4]}" for _, fell in alike if fell]
        out.append(f"{what}: {', '.join(moved)}" if len(moved) > 1 else alike[0][0])
    return out


def deepest(blamed: Sequence[str], metrics: Mapping[str, MetricInfo]) -> int | None:
    """Return the furthest rank that a blamed retrieval metric looks at."""
    ks = [k for n in blamed if component(metrics[n]) == "retrieval" and (k := cutoff(metrics[n]))]
    return max(ks, default=None)


def wanted_lines(page: Page, result: CaseResult, docs: Sequence[RelevantDoc], k: int | None) -> None:
    """Add the relevant documents, each with its rank; marked good within the top *k*."""
    if not docs:
        page.text("expected", "a refusal: nothing is relevant" if result.expected.get("expect") == "refuse" else "")
        return
    order = docs if len(docs) <= MOST_WANTED else sorted(docs, key=lambda doc: doc.within(k))[:MOST_WANTED]
    graded = any(d.grade != 1 for d in docs)
    notes = [_rank_note(d, graded=graded) if result.state != "error" else "" for d in order]
    room = max(page.room - max(map(len, notes)) - 4, LEAST_LABEL)
    labels = [page.clip(label, room) for label in (page.safe(d.label) for d in order)]
    column = max(map(text_width, labels))
    notes = [page.clip(note, page.room - column - 4) for note in notes]
    good, bad = f"{page.marks.good} ", f"{page.marks.bad} "
    lines: list[Line] = []
    for doc, label, note in zip(order, labels, notes, strict=True):
        if result.state == "error":
            lines.append([Cell(label)])
        elif doc.within(k):
            lines.append([Cell(good, ("green",)), Cell(f"{page.padded(label, column)}  {note}")])
        else:
            lines.append([Cell(bad, ("red",)), Cell(page.padded(label, column)), Cell(f"  {note}", ("red",))])
    if (more := len(docs) - len(lines)) > 0:
        lines.append([Cell(f"{page.marks.dots} and {plural(more, 'more document')}", ("light",))])
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
    cuts = {at: name for name in result.scores if name in metrics and (at := cutoff(metrics[name])) is not None}
    about_ranking = any(component(metrics[n]) == "retrieval" for n in blamed)
    k = deepest(blamed, metrics) or (max if about_ranking else min)(cuts, default=5)
    size = min(k, MOST_HITS, len(hits))
    below = [i for i in range(size, len(hits)) if _is_relevant(hits[i])][:3]
    lines = _hit_lines(page, [(i + 1, hits[i]) for i in (*range(size), *below)])
    shown = lines[:size]
    if below and size == k and k in cuts:
        shown.append([Cell(page.clip(page.safe(f"    {page.marks.rule} {cuts[k]} looks no further")), ("light",))])
    last = size - 1
    for i, line in zip(below, lines[size:], strict=True):
        if i > last + 1:
            shown.append([Cell(f"    {page.marks.dots}", ("light",))])
        shown.append(line)
        last = i
    if last < len(hits) - 1:
        shown.append([Cell(f"    {page.marks.dots} {len(hits)} returned", ("light",))])
    page.block("returned", shown)


def _is_relevant(hit: Mapping[str, Any]) -> bool:
    return int(hit.get("grade") or 0) > 0


def _hit_lines(page: Page, hits: Sequence[tuple[int, Mapping[str, Any]]]) -> list[Line]:
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
    lines: list[Line] = []
    for (rank, hit), name, score in zip(hits, names, scores, strict=True):
        at, number = str(rank).rjust(3), f" {score:>{digits}}" if any(scores) else ""
        relevant = _is_relevant(hit)
        mark, style = (page.marks.good, ("green",)) if relevant else (page.marks.neutral, ())
        line = [Cell(f"{at} "), Cell(f"{mark} {page.padded(name, column)}", style), Cell(number)]
        room = page.room - column - len(at) - len(number) - 5  # a mark, and blanks: a column each
        if room >= 12 and (text := page.clip(page.safe(str(hit.get("text") or ""), 200), room)):
            line.append(Cell(f"  {text}", ("light",)))
        lines.append(line)
    return lines


def answer_lines(page: Page, result: CaseResult, *, compare: bool) -> None:
    """Add the answer and what it should have been; a line of each, and more where they are to be *compared*."""
    most = 3 if compare else 1
    answer = str(result.outputs.get("answer") or "")
    page.text("answer", answer or "(empty)", *(() if answer.strip() else ("red",)), most=most)
    reference = str(result.expected.get("reference") or "")
    others = len(result.expected.get("references") or ()) - 1
    page.text("reference", reference + (f" (or {plural(others, 'other')})" if others > 0 else ""), most=most)
    if compare and (pieces := word_diff(reference, answer)) is not None:
        page.block("difference", islice(_diff_lines(page, pieces), 3))
    told = any(problem.startswith("assertion_pass: ") for problem in result.problems)
    details = result.scores["assertion_pass"].details if "assertion_pass" in result.scores and not told else {}
    if missing := details.get("missing"):
        page.text("missing", quoted(missing), "red")
    if present := details.get("forbidden_present"):
        page.text("forbidden", f"{quoted(present)} in the answer", "red")


_DIFFERENCE: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "": ("", "", ()), "-": ("[-", "-]", ("red",)), "+": ("{+", "+}", ("green",)),
}  # fmt: skip


def _diff_lines(page: Page, pieces: Sequence[tuple[str, str]]) -> Iterator[Line]:
    """Break a word difference into lines, each piece in its colour."""
    line: Line = []
    used = 0
    for sign, words in pieces:
        left, right, style = _DIFFERENCE[sign]
        for part in page.wrap(f"{left}{page.safe(words)}{right}"):
            size = text_width(part) + bool(line)
            if line and used + size > page.room:
                yield line
                line, used = [], 0
            line.append(Cell(f" {part}" if line else part, style))
            used += size
    if line:
        yield line


def word_diff(before: str, after: str, *, least_alike: float = 0.4) -> list[tuple[str, str]] | None:
    """Return pieces ``(sign, words)``: ``""`` in both texts, ``"-"`` only in *before*, ``"+"`` only in *after*.

    None where a difference would not help: a text is empty or long, they are equal, or hardly alike.
    """
    old, new = before.split(), after.split()
    if not old or not new or old == new or max(len(old), len(new)) > MOST_WORDS:
        return None
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    if matcher.ratio() < least_alike:
        return None
    out: list[tuple[str, str]] = []
    for kind, i, to_i, j, to_j in matcher.get_opcodes():
        pieces = [("", old[i:to_i])] if kind == "equal" else [("-", old[i:to_i]), ("+", new[j:to_j])]
        out += [(sign, " ".join(words)) for sign, words in pieces if words]
    return out


def _scores(
    page: Page, result: CaseResult, comparison: CaseComparison | None, metrics: Mapping[str, MetricInfo]
) -> None:
    changes = comparison.changes if comparison is not None else {}
    said: list[str] = []
    for name, score in result.scores.items():
        info = metrics.get(name)
        if info is None or info.target == "LATENCY" or name == "empty_result_rate":
            continue
        if score.state == "error":
            said.append(f"{name} error")
        elif score.value is not None:
            change = changes.get(name)
            was = f" (was {metric_value(change.before, info)})" if change and change.gain else ""
            said.append(f"{name} {metric_value(score.value, info)}{was}")
    page.text("scores", ", ".join(said), "light", most=3)
