"""The report as Markdown: for a pull request, a step summary, an issue.

All text of users and systems is escaped: it cannot format the report, break out of its place or notify anybody.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...base.grouping import grouped
from ...core.run import CaseResult, MetricInfo, Run
from ...core.scoring import Score
from ...regression.verdict import Verdict
from ..numbers import metric_value, plural
from ..report import Report
from ..side_by_side import SideBySide
from ..tally import FAILING, case_status, cases_of
from ..terminal.failure import failure_text
from ..text import (
    Sentence,
    escape_html,
    escape_markdown,
    folded,
    listed,
    markdown_list,
    markdown_table,
    more_item,
    printable,
)
from ..wording.cases import told_groups
from ..wording.cause import cause_lines
from ..wording.gates import gate_groups, owner_and_cost, part_text, reason_text
from ..wording.metric_rows import MetricRow, has_values, metric_rows, state_symbol
from ..wording.metrics import remarks
from ..wording.steps import next_steps
from ..wording.verdict import changed_line, comparison_word, headline, lost_cases, lost_groups
from .side_by_side_formats import side_by_side_blocks

COMMENT_LIMIT = 65_536 - 64
"""Characters GitHub accepts in a comment, without those of a key in its marker."""

SUMMARY_BYTES = 1_048_576
"""Size limit of a step summary; GitHub shows nothing of a larger one."""

MARKER = "<!-- auepora report -->"
"""The first line, by which a script finds its own comment."""

_LEAST_ROOM = 1000
_ICONS = {"passed": "✅", "failed": "❌", "inconclusive": "❔", "not judged": "⚪"}


class _Detail(NamedTuple):
    """How much to show: failing cases with their text, entries of lists, whether to list every case."""

    texts: int
    listed: int
    everything: bool


_LEVELS = (
    _Detail(100, 1000, True),
    _Detail(40, 1000, True),
    _Detail(40, 200, False),
    _Detail(10, 100, False),
    _Detail(3, 20, False),
    _Detail(0, 10, False),
    _Detail(0, 0, False),
)


def markdown_report(report: Report, limit: int = COMMENT_LIMIT) -> str:
    """Return the report, at most *limit* characters.

    The headline and the tables of metrics come first.  Failing cases are collapsible and hold the same text as the
    terminal; when there is no room for all, fewer of them do, and the report says so.
    """
    comparisons = report.comparisons()
    for detail in _LEVELS:
        text = "\n\n".join(_blocks(report, comparisons, detail)) + "\n"
        if len(text) <= limit:
            return text
    note = "\n\n\u2026 shortened: the report is longer than fits here\n"
    head = text[: max(limit - len(note), 0)]  # whole lines: at the lowest level of detail no element spans lines
    return (head[: head.rfind("\n")] + note)[:limit]


def step_summary(report: Report, room: int = SUMMARY_BYTES) -> str:
    """Return the text to append to the file in ``GITHUB_STEP_SUMMARY``, in which *room* bytes are left.

    At most as long as a comment; empty where there is too little room.
    """
    text = "\n" + markdown_report(report)
    if len(text.encode("utf-8", "replace")) > room:
        limit = (room - 1) // 4  # a character has at most four bytes
        text = "\n" + markdown_report(report, limit) if limit > _LEAST_ROOM else ""
    return text


def _blocks(report: Report, comparisons: Sequence[SideBySide], detail: _Detail) -> Iterator[str]:
    yield f"{MARKER}\n## {_ICONS[report.outcome]} auepora: {report.outcome}"
    yield f"**{escape_markdown(report.headline)}**"
    if report.mistakes:
        mistakes = [f"**{escape_markdown(m.place)}** {escape_markdown(m.message)}" for m in report.mistakes]
        yield markdown_list(mistakes, max(detail.listed, 1))
    for suite in comparisons:
        yield from side_by_side_blocks(suite, most=detail.listed)
    for run, verdict in report.pairs:
        yield from _suite(run, verdict, detail, alone=len(report.runs) == 1)


def _suite(run: Run, verdict: Verdict, detail: _Detail, *, alone: bool) -> Iterator[str]:
    word = f": {comparison_word(verdict)}" if comparison_word(verdict) else ""
    owner = f" \u00b7 owner {escape_markdown(run.owner)}" if run.owner else ""
    rows = metric_rows(run, verdict)
    lines = [f"### {_ICONS[verdict.outcome]} {escape_markdown(run.title)}{word}{owner}"]
    lines += [] if alone else [escape_markdown(headline([verdict], [run]))]
    if lost := lost_cases(run, verdict):
        items = [
            f"**{escape_markdown(listed([case.case_id for case in cases], 5))}** {escape_markdown(reason)}"
            for reason, cases in lost_groups(lost, run).items()
        ]
        yield "\n".join(lines)
        yield markdown_list(items, max(detail.listed, 1))
        lines = []
    yield "\n".join([*lines, "", *([_table(rows)] if rows else [])])
    if why := cause_lines(verdict.cause, run):
        yield "\n".join([f"**{escape_markdown(why[0])}**", "", markdown_list([*map(escape_markdown, why[1:])])])
    if notes := [*remarks(run, verdict, rows, 1000), *filter(None, [changed_line(verdict)])]:
        yield "\n".join(f"<sub>{escape_markdown(note)}</sub><br>" for note in notes)
    yield from _gates(run, verdict, detail)
    for kind, cases in cases_of(run, verdict).items():
        if kind in FAILING:
            yield f"**{len(cases):,} {kind}**"
            yield "\n".join(_case_items(cases, run, verdict, detail))
        elif kind == "fixed":
            yield f"**Fixed:** {escape_markdown(listed([c.case_id for c in cases], max(detail.listed, 1)))}"
    if detail.everything:
        yield _all_cases(run, verdict)
    if steps := next_steps(run, verdict):
        yield "**What to do next**"
        yield markdown_list([*map(escape_markdown, steps)])


def _table(rows: Sequence[MetricRow]) -> str:
    compared = any(row.baseline_text or row.change_text for row in rows)
    heads = ["metric", "value", "n", *(["baseline", "change"] if compared else []), "gate"]
    lines = []
    for row in rows:
        texts = [row.name, row.value_text, row.n_text, *([row.baseline_text, row.change_text] if compared else [])]
        cells = [*map(escape_markdown, texts), escape_markdown(row.gate_text)]
        if compared and row.mark:
            cells[4] = f"**{cells[4]}** {state_symbol(row.mark)}"
        lines.append(cells)
    return markdown_table(heads, lines, range(1, len(heads) - 1), escape=str)


def _gates(run: Run, verdict: Verdict, detail: _Detail) -> Iterator[str]:
    for group in gate_groups(verdict):
        if group.state == "advisory" or not (group.open or detail.texts):  # the notes have the advisory gates
            continue
        stories = []
        for gate in group.gates:
            reason = reason_text(gate, run, verdict.notes)
            kind = "" if gate.kind == "threshold" else f"{gate.kind}: "
            stories.append(((kind, reason, *owner_and_cost([gate], run)), part_text(gate)))
        lines = []
        for (kind, reason, *extras), parts in grouped(stories).items():
            names = ", ".join(filter(None, parts))
            texts = map(escape_markdown, [Sentence(kind, f"{names}: " if names else "", reason), *extras])
            lines.append(f"{state_symbol(group.state)} {' · '.join(texts)}")
        items = markdown_list(lines)
        if group.open:
            yield f"**{escape_markdown(group.title)}**"
            yield items
        else:
            yield folded(group.title, items)


def _case_items(cases: Sequence[CaseResult], run: Run, verdict: Verdict, detail: _Detail) -> Iterator[str]:
    """Yield the cases of one kind: some collapsible with their text, some as a line, the others as a count."""
    groups = told_groups(cases, run, verdict.case_comparisons)
    for i, (name, reason, (case, *_)) in enumerate(groups[: detail.listed]):
        if i < detail.texts:
            text = failure_text(case, verdict.case_comparisons.get(case.case_id), run.metrics, width=100)
            yield f"<details><summary><b>{_inline(name)}</b> {_inline(reason)}</summary>"
            yield f"\n<pre>{escape_html(text)}</pre>\n</details>\n"
        else:
            yield f"- **{escape_markdown(name)}** {escape_markdown(reason)}"
    yield from more_item(len(groups) - detail.listed)


def _inline(text: str) -> str:
    return escape_html(printable(text))


def _all_cases(run: Run, verdict: Verdict) -> str:
    infos = {n: info for n, info in run.metrics.items() if info.target != "LATENCY" and has_values(run, n)}
    rows = [
        [
            case.case_id, case_status(case, verdict.case_comparisons.get(case.case_id)),
            *(_score_text(case.scores.get(n), info) for n, info in infos.items()),
        ]
        for case in run.cases.values()
    ]  # fmt: skip
    table = markdown_table(["case", "status", *infos], rows, range(2, 2 + len(infos)))
    return folded(f"All {plural(len(rows), 'case')}", table)


def _score_text(score: Score | None, info: MetricInfo) -> str:
    if score is None:
        return ""
    return "error" if score.state == "error" else metric_value(score.value, info)
