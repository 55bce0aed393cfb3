"""The report as Markdown: for a pull request, a step summary, an issue.

All text of users and systems is escaped: it cannot format the report, break out of its place or notify anybody.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..core.grouping import grouped
from ..core.run import CaseResult, MetricInfo, Run
from ..regression.guards.gates import REGRESSION
from ..regression.verdict import Verdict
from . import notes
from .diagnosis import group_by_cause
from .findings import with_title
from .metric_rows import MetricRow, has_values, metric_rows, state_symbol
from .numbers import metric_value, plural
from .report import Report
from .side_by_side import SideBySide
from .side_by_side_formats import side_by_side_parts
from .tally import FAILING, CaseStatus, cases_of, comparison_word, headline
from .terminal.failure import failure_text
from .text import UNICODE, escape_html, escape_markdown, escape_step, listed, more_line, printable, table_lines

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
        text = "\n".join(_lines(report, comparisons, detail)) + "\n"
        if len(text) <= limit:
            return text
    return _truncate(text, limit)


def step_summary(report: Report, room: int = SUMMARY_BYTES) -> str:
    """Return the text to append to the file in ``GITHUB_STEP_SUMMARY``, in which *room* bytes are left.

    At most as long as a comment; empty where there is too little room.
    """
    text = "\n" + markdown_report(report)
    if len(text.encode("utf-8", "replace")) > room:
        limit = (room - 1) // 4  # a character has at most four bytes
        text = "\n" + markdown_report(report, limit) if limit > _LEAST_ROOM else ""
    return text


def _lines(report: Report, comparisons: Sequence[SideBySide], detail: _Detail) -> Iterator[str]:
    yield MARKER
    yield f"## {_ICONS[report.outcome]} auepora: {report.outcome}"
    yield ""
    yield f"**{escape_markdown(report.headline)}**"
    if report.mistakes:
        yield ""
        most = max(detail.listed, 1)
        yield from (f"- **{escape_markdown(m.place)}** {escape_markdown(m.message)}" for m in report.mistakes[:most])
        yield from more_line(len(report.mistakes) - most)
    for suite in comparisons:
        yield ""
        yield from side_by_side_parts(suite, most=detail.listed)
    for run, verdict in report.pairs:
        yield ""
        yield from _suite(run, verdict, detail, alone=len(report.runs) == 1)


def _suite(run: Run, verdict: Verdict, detail: _Detail, *, alone: bool) -> Iterator[str]:
    word = f": {comparison_word(verdict)}" if comparison_word(verdict) else ""
    owner = f" \u00b7 owner {escape_markdown(run.owner)}" if run.owner else ""
    yield f"### {_ICONS[verdict.outcome]} {escape_markdown(run.title)}{word}{owner}"
    if not alone:
        yield f"{escape_markdown(headline([verdict], [run]))}"
    if note := notes.balance_note(verdict):
        yield f"**{escape_markdown(note)}**"
    rows = metric_rows(run, verdict)
    yield ""
    yield from _table(rows)
    yield from _notes(run, verdict, rows)
    yield from _gates(run, verdict, detail)
    for kind, cases in cases_of(run, verdict).items():
        if kind in FAILING:
            yield from _case_list(kind, cases, run, verdict, detail)
        elif kind == "fixed":
            yield ""
            yield f"**Fixed:** {escape_markdown(listed([c.case_id for c in cases], max(detail.listed, 1)))}"
    if detail.everything:
        yield from _all_cases(run)
    if steps := notes.next_steps(verdict):
        yield ""
        yield "**What to do next**"
        yield ""
        yield from (f"- {escape_step(step)}" for step in steps)


def _table(rows: Sequence[MetricRow]) -> Iterator[str]:
    if not rows:
        return
    compared = any(row.baseline_text or row.change_text for row in rows)
    yield f"| metric | value | n |{' baseline | change |' if compared else ''} gate |"
    yield f"| --- | ---: | ---: |{' ---: | ---: |' if compared else ''} --- |"
    for row in rows:
        change = escape_markdown(row.change_text)
        if row.mark:
            change = f"**{change}** {state_symbol(row.mark, UNICODE)}"
        middle = f" {escape_markdown(row.baseline_text)} | {change} |" if compared else ""
        start = " | ".join(map(escape_markdown, (row.name, row.value_text, row.n_text)))
        yield f"| {start} |{middle} {escape_markdown(row.gate_text(UNICODE))} |"


def _notes(run: Run, verdict: Verdict, rows: Sequence[MetricRow]) -> Iterator[str]:
    lines = [notes.latency_line(run, verdict), *notes.missing_notes(run, verdict, rows), *notes.warnings(verdict, 1000)]
    lines += [*notes.run_notes(run, verdict), notes.changed_note(verdict)]
    for i, note in enumerate(filter(None, lines)):
        if i == 0:
            yield ""
        yield f"<sub>{escape_markdown(note)}</sub><br>"


def _gates(run: Run, verdict: Verdict, detail: _Detail) -> Iterator[str]:
    for group in notes.gate_groups(verdict):
        folded = not group.open
        if group.state == "advisory" or (folded and not detail.texts):  # the notes have the advisory gates
            continue
        yield ""
        yield f"<details><summary>{_inline(group.title)}</summary>" if folded else f"**{escape_markdown(group.title)}**"
        yield ""
        stories = []
        for gate in group.gates:
            before = REGRESSION if gate.kind == "regression" else ""
            stories.append(((before, gate.message, *notes.owner_and_cost([gate], run)), gate.part))
        for (kind, message, *extras), parts in grouped(stories).items():
            line = " \u00b7 ".join(map(escape_markdown, [with_title(kind + ", ".join(parts), message), *extras]))
            yield f"- {state_symbol(group.state, UNICODE)} {line}"
        if folded:
            yield ""
            yield "</details>"


def _case_list(
    kind: CaseStatus, cases: Sequence[CaseResult], run: Run, verdict: Verdict, detail: _Detail
) -> Iterator[str]:
    """Yield the cases of one kind: some collapsible with their text, some as a line, the others as a count."""
    groups = group_by_cause(cases, run, verdict.case_comparisons)
    yield ""
    yield f"**{len(cases):,} {kind}**"
    yield ""
    for i, (diagnosis, (case, *others)) in enumerate(groups):
        reason = str(diagnosis or case.state)
        name = f"{len(others) + 1} cases ({listed([c.case_id for c in (case, *others)])})" if others else case.case_id
        if i < detail.texts:
            text = failure_text(case, verdict.case_comparisons.get(case.case_id), run.metrics, width=100)
            yield f"<details><summary><b>{_inline(name)}</b> {_inline(reason)}</summary>"
            yield f"\n<pre>{escape_html(text)}</pre>\n</details>\n"
        elif i < detail.listed:
            yield f"- **{escape_markdown(name)}** {escape_markdown(reason)}"
        else:
            yield from more_line(len(groups) - i)
            return


def _inline(text: str) -> str:
    return escape_html(printable(text))


def _all_cases(run: Run) -> Iterator[str]:
    names = [n for n, info in run.metrics.items() if info.target != "LATENCY" and has_values(run, n)]
    yield ""
    yield f"<details><summary>All {plural(len(run.cases), 'case')}</summary>"
    yield ""
    rows = [
        [case.case_id, case.state, *(_score_text(case, run.metrics[name]) for name in names)]
        for case in run.cases.values()
    ]
    yield from table_lines(["case", "state", *names], rows, right=range(2, 2 + len(names)))
    yield ""
    yield "</details>"


def _score_text(case: CaseResult, info: MetricInfo) -> str:
    if (score := case.scores.get(info.name)) is None:
        return ""
    return "error" if score.state == "error" else metric_value(score.value, info)


def _truncate(text: str, limit: int) -> str:
    """Return as many whole lines as fit; at the lowest level of detail no element spans lines."""
    note = "\n\n\u2026 shortened: the report is longer than fits here\n"
    head = text[: max(limit - len(note), 0)]
    return (head[: head.rfind("\n")] + note)[:limit]
