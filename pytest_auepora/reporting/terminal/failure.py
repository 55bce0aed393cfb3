"""The text of one failed case, at most a screen: the diagnosis, the expected and the actual output."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import islice
from typing import Any

from ...core.conversation import AS
from ...core.run import CaseResult, MetricInfo
from ...regression.compare import CaseComparison
from ..diagnosis import blamed_metrics, component, cutoff, told_findings
from ..numbers import metric_value, plural, seconds
from ..relevant_docs import RelevantDoc, as_shown, grade_of, relevant_docs, score_texts, source_text
from ..text import BAD, DOTS, GOOD, NEUTRAL, RULE, clip, printable, quoted, text_width, without_command, wrap
from ..wording.cases import accepted_text, case_diagnosis, moved_lines, rationales, repeat_text
from ..wording.checks import evidence_lines, fault_lines, still_failing_lines
from .layout import Cell, Line, Page, padded, render

_MOST_PROBLEMS = 5
_MOST_FRAMES = 14
MOST_WORDS = 40  # longer answers read better side by side
MOST_HITS = 10
_MOST_WANTED = 6
_LEAST_LABEL = 7  # columns of a document's label next to the note on its rank


def failure_text(
    result: CaseResult,
    comparison: CaseComparison | None,
    metrics: Mapping[str, MetricInfo],
    *,
    width: int = 80,
    shapes: bool = True,
) -> str:
    """Return the text of a failed or errored case; its first line is the diagnosis.

    No line is wider than *width*, except ``file:line`` and the frames of an exception, so that terminals and editors
    can open them.  *shapes*: whether an error about the shape of a system or an answer lists the accepted shapes.
    """
    page, evidence = Page(width), evidence_lines(result)
    repeats, diagnosis, result = repeat_text(result), case_diagnosis(result, comparison, metrics), as_shown(result)
    blamed, docs = blamed_metrics(result, metrics), relevant_docs(result, comparison)
    page.paragraph(diagnosis, "red", "bold")
    add_place(page, result)
    add_question(page, result)
    if result.state == "error":
        frames = printable(result.error[-6000:], keep_lines=True).splitlines()[1:]
        page.lines += ([Cell(f"  {without_command(frame)}", ("light",))] for frame in frames[-_MOST_FRAMES:])
        if shapes and result.accepted:
            page.paragraph(accepted_text(result.accepted), "light", indent=2)
        page.texts("answers", evidence)
        add_expected(page, result, docs, None)
        return render(page.lines)
    problems = fault_lines(result, metrics)
    for problem in problems[:_MOST_PROBLEMS]:
        page.paragraph(f"{BAD} {problem}", "red", indent=2, most=3)
    page.more(len(problems) - _MOST_PROBLEMS)
    page.texts("answers", evidence)
    for line in still_failing_lines(result, metrics):
        page.paragraph(f"{NEUTRAL} still failing: {line}", indent=2, most=2)
    page.text("repeats", repeats)
    components = {component(metrics[n]) for n in blamed}
    add_expected(page, result, docs, deepest(blamed, metrics))
    page.texts("moved", moved_lines(result))
    if blamed and all(metrics[n].target == "LATENCY" for n in blamed):
        timings = result.outputs.get("timings") or {}
        page.text("timings", ", ".join(f"{name} {seconds(value)}" for name, value in timings.items()))
        return render(page.lines)
    add_ranking(page, result, metrics, blamed)
    add_answer(page, result, compare="generation" in components or "system" in components)
    for name, score in result.scores.items():
        if name in blamed and (said := rationales(score)):
            text = "; ".join(f"{part}: {why}" if part else why for part, why in said)
            page.text("judge", f"{name}: {text}", most=3)
    _add_scores(page, result, comparison, metrics)
    return render(page.lines)


def add_question(page: Page, result: CaseResult) -> None:
    """Add what was asked, by whom, and the turn before it with the number of turns."""
    if turns := result.expected.get("chat_history"):
        page.text("turns", f"{len(turns)} before; {turns[-1].get('role', '')}: {turns[-1].get('content', '')}")
    page.text("query", result.query, most=2)
    page.text("as", str(result.labels.get(AS) or ""))


def add_place(page: Page, result: CaseResult) -> None:
    """Add the file and line of the case, and its id."""
    case_id, where = page.safe(result.case_id), page.safe(result.where)
    if where and text_width(where) + text_width(case_id) + 2 <= page.width:
        page.lines.append([Cell(f"{where}  "), Cell(case_id, ("bold",))])
        return
    if where:
        page.lines.append([Cell(where)])
    page.lines.append([Cell(clip(case_id, page.width), ("bold",))])


def deepest(blamed: Sequence[str], metrics: Mapping[str, MetricInfo]) -> int | None:
    """Return the deepest cutoff of the blamed retrieval metrics."""
    ks = [k for n in blamed if component(metrics[n]) == "retrieval" and (k := cutoff(metrics[n]))]
    return max(ks, default=None)


def add_expected(page: Page, result: CaseResult, docs: Sequence[RelevantDoc], k: int | None) -> None:
    """Add the relevant documents with their ranks; those in the top *k* are marked good."""
    if not docs:
        page.text("expected", "a refusal: nothing is relevant" if result.expected.get("expect") == "refuse" else "")
        return
    order = docs if len(docs) <= _MOST_WANTED else sorted(docs, key=lambda doc: doc.within(k))[:_MOST_WANTED]
    graded = any(d.grade != 1 for d in docs)
    notes = [_rank_note(d, graded=graded) if result.state != "error" else "" for d in order]
    room = max(page.room - max(map(len, notes)) - 4, _LEAST_LABEL)
    labels = [clip(page.safe(d.label), room) for d in order]
    column = max(map(text_width, labels))
    lines: list[Line] = []
    for doc, label, note in zip(order, labels, notes, strict=True):
        name, note_text = padded(label, column), f"  {clip(note, page.room - column - 4)}"
        if result.state == "error":
            lines.append([Cell(label)])
        elif doc.within(k):
            lines.append([Cell(f"{GOOD} ", ("green",)), Cell(f"{name}{note_text}")])
        else:
            lines.append([Cell(f"{BAD} ", ("red",)), Cell(name), Cell(note_text, ("red",))])
    if (n_more := len(docs) - len(lines)) > 0:
        lines.append([Cell(f"{DOTS} and {plural(n_more, 'more document')}", ("light",))])
    page.block("expected", lines)


def _rank_note(doc: RelevantDoc, *, graded: bool) -> str:
    now = f"rank {doc.rank}" if doc.rank is not None else "not returned"
    if doc.known and doc.before != doc.rank:
        now += f", was {doc.before if doc.before is not None else 'not returned'}"
    return f"{now}, grade {doc.grade}" if graded else now


def add_ranking(page: Page, result: CaseResult, metrics: Mapping[str, MetricInfo], blamed: Sequence[str]) -> None:
    """Add the returned documents: the top ones that the metrics look at, then the relevant ones below."""
    hits: Sequence[Mapping[str, Any]] = result.outputs.get("retrieved") or ()
    if not hits:
        page.text("returned", "nothing", "red")
        return
    cutoffs = {rank: name for name in result.scores if name in metrics and (rank := cutoff(metrics[name])) is not None}
    about_ranking = any(component(metrics[n]) == "retrieval" for n in blamed)
    k = deepest(blamed, metrics) or (max if about_ranking else min)(cutoffs, default=5)
    size = min(k, MOST_HITS, len(hits))
    below = [i for i in range(size, len(hits)) if grade_of(hits[i]) > 0][:3]
    lines = _hit_lines(page, [(i + 1, hits[i]) for i in (*range(size), *below)])
    rows = lines[:size]
    if below and size == k and k in cutoffs:
        rows.append([Cell(clip(f"    {RULE} {page.safe(cutoffs[k])} looks no further", page.room), ("light",))])
    last = size - 1
    for i, line in zip(below, lines[size:], strict=True):
        if i > last + 1:
            rows.append([Cell(f"    {DOTS}", ("light",))])
        rows.append(line)
        last = i
    if last < len(hits) - 1:
        rows.append([Cell(f"    {DOTS} {len(hits)} returned", ("light",))])
    page.block("returned", rows)


def _hit_lines(page: Page, hits: Sequence[tuple[int, Mapping[str, Any]]]) -> list[Line]:
    names = []
    for _, hit in hits:
        name, source = page.safe(str(hit.get("id")), 200), page.safe(source_text(hit), 200)
        names.append(f"{source} ({clip(name, 12)})" if source else name)
    scores = score_texts([hit for _, hit in hits])
    digits = max(7, *map(len, scores))
    column = min(max(map(text_width, names)), 30, page.room - digits - 8)
    lines: list[Line] = []
    for (rank, hit), name, score in zip(hits, names, scores, strict=True):
        rank_text, number = str(rank).rjust(3), f" {score:>{digits}}" if any(scores) else ""
        symbol, style = (GOOD, ("green",)) if grade_of(hit) > 0 else (NEUTRAL, ())
        line = [Cell(f"{rank_text} "), Cell(f"{symbol} {padded(name, column)}", style), Cell(number)]
        room = page.room - column - len(rank_text) - len(number) - 5  # the symbol and four blanks
        if room >= 12 and (text := clip(page.safe(str(hit.get("text") or ""), 200), room)):
            line.append(Cell(f"  {text}", ("light",)))
        lines.append(line)
    return lines


def add_answer(page: Page, result: CaseResult, *, compare: bool) -> None:
    """Add the answer and the reference; one line of each, or more and their difference with *compare*."""
    most = 3 if compare else 1
    answer = str(result.outputs.get("answer") or "")
    page.text("answer", answer or "(empty)", *(() if answer.strip() else ("red",)), most=most)
    reference = str(result.expected.get("reference") or "")
    n_others = len(result.expected.get("references") or ()) - 1
    page.text("reference", reference + (f" (or {plural(n_others, 'other')})" if n_others > 0 else ""), most=most)
    if compare and (pieces := word_diff(reference, answer)) is not None:
        page.block("difference", islice(_diff_lines(page, pieces), 3))
    told = {finding.metric for finding in told_findings(result) if finding.kind == "assertion"}
    if "assertion_pass" not in result.scores or told & {"must_contain", "forbidden"}:
        return
    details = result.scores["assertion_pass"].details
    if missing := details.get("missing"):
        page.text("missing", quoted(missing), "red")
    if present := details.get("forbidden_present"):
        page.text("forbidden", f"{quoted(present)} in the answer", "red")


_DIFFERENCE: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "": ("", "", ()), "-": ("[-", "-]", ("red",)), "+": ("{+", "+}", ("green",)),
}  # fmt: skip


def _diff_lines(page: Page, pieces: Sequence[tuple[str, str]]) -> Iterator[Line]:
    line: Line = []
    used = 0
    for sign, words in pieces:
        opening, closing, style = _DIFFERENCE[sign]
        for part in wrap(f"{opening}{page.safe(words)}{closing}", page.room):
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


def _add_scores(
    page: Page, result: CaseResult, comparison: CaseComparison | None, metrics: Mapping[str, MetricInfo]
) -> None:
    changes = comparison.changes if comparison is not None else {}
    parts: list[str] = []
    for name, score in result.scores.items():
        info = metrics.get(name)
        if info is None or info.target == "LATENCY" or not info.baselined:
            continue
        if score.state == "error":
            parts.append(f"{name} error")
        elif score.value is not None:
            change = changes.get(name)
            previous = f" (was {metric_value(change.before, info)})" if change and change.gain else ""
            parts.append(f"{name} {metric_value(score.value, info)}{previous}")
    page.text("scores", ", ".join(parts), "light", most=3)
