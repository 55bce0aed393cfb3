"""The comparison of two runs as Markdown, readable in a terminal as well."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..core.grouping import grouped
from ..history.compare import CompareReport, ComparisonKind, QueryComparison
from .numbers import NOT_MEASURED, change, number, plural
from .text import escape_markdown, listed, more_line, text_width

MOST = 50
"""Most cases listed of each kind."""

_HEADINGS = {
    ComparisonKind.REGRESSION: "Regressions: found before, missed now",
    ComparisonKind.LOSS: "Losses: further down",
    ComparisonKind.WIN: "Wins: found now, or further up",
}
_MATCHES = {
    "exact": "by chunk id",
    "span": "by the passages that the labels name, as chunks have new ids",
    "fallback_doc": "by document, as chunks have new ids",
}


def render_report_md(report: CompareReport) -> str:
    """Return the report: the outcome, what differs, the figures, then regressions, losses and wins."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: CompareReport) -> Iterator[str]:
    counts = report.count()
    parts = [plural(counts[k], k.value.lower(), "losses" if k is ComparisonKind.LOSS else "") for k in ComparisonKind]
    yield f"## {escape_markdown(report.title)}: {report.outcome}"
    yield ""
    yield f"{escape_markdown(report.run_a)} \u2192 {escape_markdown(report.run_b)}: {', '.join(parts)}"
    yield f"over {plural(len(report.per_query), 'case')}, hits {_MATCHES[report.deltas['chunker_version_match']]}."
    if report.causes:
        yield f"Changed: {escape_markdown(', '.join(report.causes))}."
    yield from _figures(report)
    yield from _metrics(report)
    yield from _gate_lines(report)
    for kind, heading in _HEADINGS.items():
        yield from _queries(heading, [q for q in report.per_query if q.kind is kind])
    yield from _not_comparable(report)


def _figures(report: CompareReport) -> Iterator[str]:
    before, after = report.aggregate_a.flat(), report.aggregate_b.flat()
    rows = [
        [name, _value(before[name]), _value(after[name]), _change(before[name], after[name])]
        for name in after
        if name not in report.metrics  # they have a table of their own
    ]
    counts = ((a.total_queries, a.failed_queries) for a in (report.aggregate_a, report.aggregate_b))
    for name, a, b in zip(("total_queries", "failed_queries"), *counts, strict=True):
        rows.append([name, f"{a}", f"{b}", f"{b - a:+d}" if a != b else "0"])
    yield from _aligned_table(["figure", "a", "b", "b - a"], rows, "lrrr")


def _metrics(report: CompareReport) -> Iterator[str]:
    rows = [
        [escape_markdown(name), _value(m.before), _value(m.after), _change(m.before, m.after), f"{m.n}"]
        for name, m in report.metrics.items()
    ]
    if rows:
        yield from _aligned_table(["metric of the suite", "a", "b", "b - a", "cases"], rows, "lrrrr")
    for name, reason in report.incomparable.items():
        values = " → ".join(map(_value, report.former.get(name, ())))
        yield f"- not comparable: {escape_markdown(f'{name} ({reason})')}{f': {values}' if values else ''}"


def _gate_lines(report: CompareReport) -> Iterator[str]:
    gates = [g for g in report.gates if g.state in ("failed", "inconclusive") or g.would_be == "failed"]
    by_reason = grouped((gate.reason, gate.part) for gate in gates)
    lines = [f"{', '.join(names)}: {message}" for message, names in by_reason.items()]
    lines += [f"{case_id}: {'; '.join(problems)}" for case_id, problems in report.problems.items()]
    if lines:
        yield ""
        yield from (f"- {escape_markdown(line)}" for line in lines[:MOST])
        yield from more_line(len(lines) - MOST)


def _queries(heading: str, queries: Sequence[QueryComparison]) -> Iterator[str]:
    if not queries:
        return
    yield ""
    yield f"### {heading}"
    rows = [
        [escape_markdown(q.query_id), _rank(q.a_hit_rank), _rank(q.b_hit_rank), escape_markdown(q.note or "")]
        for q in queries
    ]
    yield from _aligned_table(["case", "rank a", "rank b", "note"], rows[:MOST], "lrrl")
    yield from more_line(len(rows) - MOST)


def _not_comparable(report: CompareReport) -> Iterator[str]:
    by_reason = grouped((f"not comparable ({reason})", case_id) for case_id, reason in report.not_comparable.items())
    for name, ids in ((report.run_a, report.only_a), (report.run_b, report.only_b)):
        if ids:
            by_reason[f"only in {name}"] = list(ids)
    if by_reason:
        yield ""
        yield from (f"- {escape_markdown(f'{reason}: {listed(ids, 10)}')}" for reason, ids in by_reason.items())


def _aligned_table(heads: Sequence[str], rows: Sequence[Sequence[str]], sides: str) -> Iterator[str]:
    """Yield a Markdown table that is also aligned as plain text."""
    widths = [max(text_width(r[i]) for r in (heads, *rows)) for i in range(len(heads))]
    rule = ["-" * (width - 1) + ":" if side == "r" else "-" * width for width, side in zip(widths, sides, strict=True)]
    yield ""
    for row in (heads, rule, *rows):
        pads = [" " * (width - text_width(cell)) for cell, width in zip(row, widths, strict=True)]
        cells = [pad + cell if side == "r" else cell + pad for cell, pad, side in zip(row, pads, sides, strict=True)]
        yield f"| {' | '.join(cells)} |"


def _value(value: float | None) -> str:
    return NOT_MEASURED if value is None else number(value, 4)


def _change(before: float | None, after: float | None) -> str:
    return NOT_MEASURED if before is None or after is None else change(after - before, 4)


def _rank(rank: int | None) -> str:
    return "miss" if rank is None else str(rank)
