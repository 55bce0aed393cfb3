"""The text of one failed case: what broke, what was expected, what came back.

At most a screen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import islice

from ...core.run import CaseResult, MetricInfo
from ...errors import ACCEPTED_SHAPES
from ...regression.compare.cases import SINCE, CaseComparison
from ...regression.guards.steadiness import as_shown, shown_repeat
from ..diagnosis import blamed_metrics, component, diagnosis_of
from ..numbers import metric_value, plural, seconds
from ..relevant_docs import relevant_docs
from ..text import listed, printable, quoted, text_width, uncommanded
from .layout import Page, Piece, render
from .ranking import deepest, ranking_lines, wanted_lines

_FELL = re.compile(rf"(\S+) (fell|rose) from (\S+) to (\S+) {SINCE}, (limit \S+)")
MOST_PROBLEMS = 5
MOST_FRAMES = 14
MOST_WORDS = 40  # longer answers read better side by side


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
    _fill(page, result, comparison, metrics, shapes=shapes)
    return render(page.lines)


def _fill(
    page: Page,
    result: CaseResult,
    comparison: CaseComparison | None,
    metrics: Mapping[str, MetricInfo],
    *,
    shapes: bool,
) -> None:
    repeats, result = shown_repeat(result), as_shown(result)
    blamed, docs = blamed_metrics(result, metrics), relevant_docs(result, comparison)
    told = diagnosis_of(result, docs, metrics, blamed)
    if told is not None:
        page.free(str(told), "red", "bold")
    place_lines(page, result)
    page.text("query", result.query, most=2)
    if result.state == "error":
        _error(page, result.error, shapes=shapes)
        wanted_lines(page, result, docs, None)
        return
    _problems(page, result)
    page.text("repeats", repeats)
    about = {component(metrics[n]) for n in blamed}
    wanted_lines(page, result, docs, deepest(blamed, metrics))
    _moved_labels(page, result)
    if blamed and all(metrics[n].target == "LATENCY" for n in blamed):
        timings = result.outputs.get("timings") or {}
        page.text("timings", ", ".join(f"{name} {seconds(value)}" for name, value in timings.items()))
        return
    ranking_lines(page, result, metrics, blamed)
    answer_lines(page, result, compare="generation" in about or "system" in about)
    _judges(page, result)
    _scores(page, result, comparison, metrics)


def place_lines(page: Page, result: CaseResult) -> None:
    """Add where the case stands, and its id."""
    case_id = page.safe(result.case_id)
    if not result.where:
        page.add([(page.clip(case_id, page.width), ("bold",))])
        return
    where = page.safe(result.where)
    if text_width(where) + text_width(case_id) + 2 <= page.width:
        page.add([(f"{where}  ", ()), (case_id, ("bold",))])
    else:
        page.add([(where, ())])
        page.add([(page.clip(case_id, page.width), ("bold",))])


def _error(page: Page, error: str, *, shapes: bool) -> None:
    frames = printable(error[-6000:], ascii_only=page.ascii_only, keep_lines=True).splitlines()[1:]
    for frame in frames[-MOST_FRAMES:]:
        if shapes or not frame.startswith(ACCEPTED_SHAPES):
            page.add([(f"  {uncommanded(frame)}", ("light",))])


def _moved_labels(page: Page, result: CaseResult) -> None:
    """Say what the labels were matched by where their chunks are gone."""
    for name, told in result.extra.get("labels", {}).get("labels", {}).items():
        chunks = f": {listed(told['chunks'])}" if told["chunks"] else ""
        page.text("moved", f"{name} ({told['became']}), matched: {told['match']}{chunks}", most=2)


def _judges(page: Page, result: CaseResult) -> None:
    """Say why a judge gave the scores that fail the case."""
    for name, score in result.scores.items():
        if (said := score.details.get("rationale")) and any(p.startswith(f"{name} ") for p in result.problems):
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
    by: dict[str, list[re.Match[str]]] = {}
    for problem in problems:
        found = _FELL.fullmatch(problem)
        alike = by.setdefault(f"{found[2]} {SINCE}, {found[5]}" if found else problem, [])
        alike += [found] if found else []
    moved = {what: [f"{one[1]} {one[3]} {arrow} {one[4]}" for one in alike] for what, alike in by.items()}
    return [
        f"{what}: {', '.join(moved[what])}" if len(alike) > 1 else alike[0][0] if alike else what
        for what, alike in by.items()
    ]


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


def _diff_lines(page: Page, pieces: Sequence[tuple[str, str]]) -> Iterator[list[Piece]]:
    """Break a word difference into lines, each piece in its colour."""
    line: list[Piece] = []
    used = 0
    for sign, words in pieces:
        left, right, style = _DIFFERENCE[sign]
        for part in page.wrap(f"{left}{page.safe(words)}{right}"):
            size = text_width(part) + bool(line)
            if line and used + size > page.room:
                yield line
                line, used = [], 0
            line.append((f" {part}" if line else part, style))
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
