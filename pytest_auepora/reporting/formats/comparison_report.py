"""The comparison of two runs as Markdown, readable in a terminal as well."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...base.grouping import grouped
from ...history.compare import CompareReport, ComparisonKind
from ..numbers import NOT_MEASURED, change, number, plural
from ..text import escape_markdown, listed, markdown_list, more_item, text_width

MOST = 50  # cases listed of each kind
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
    return "\n\n".join(_blocks(report)) + "\n"


def _blocks(report: CompareReport) -> Iterator[str]:
    counts = report.count()
    parts = [plural(counts[k], k.value.lower(), "losses" if k is ComparisonKind.LOSS else "") for k in ComparisonKind]
    cases, match = plural(len(report.per_query), "case"), _MATCHES[report.deltas["chunker_version_match"]]
    yield f"## {escape_markdown(report.title)}: {report.outcome}"
    runs = f"{escape_markdown(report.run_a)} \u2192 {escape_markdown(report.run_b)}"
    changed = f"\nChanged: {escape_markdown(', '.join(report.causes))}." if report.causes else ""
    yield f"{runs}: {', '.join(parts)}\nover {cases}, hits {match}.{changed}"
    yield _tables(report)
    gates = [g for g in report.gates if g.state in ("failed", "inconclusive") or g.would_be == "failed"]
    by_reason = grouped((gate.reason, gate.part) for gate in gates)
    problems = [f"{', '.join(names)}: {message}" for message, names in by_reason.items()]
    problems += [f"{case_id}: {'; '.join(texts)}" for case_id, texts in report.problems.items()]
    if problems:
        yield markdown_list([*map(escape_markdown, problems)], MOST)
    for kind, heading in _HEADINGS.items():
        queries = [q for q in report.per_query if q.kind is kind]
        rows = [[q.query_id, _rank(q.a_hit_rank), _rank(q.b_hit_rank), q.note or ""] for q in queries]
        if rows:
            table = _aligned_table(["case", "rank a", "rank b", "note"], rows[:MOST], "lrrl")
            yield f"### {heading}"
            yield "\n".join([table, *more_item(len(rows) - MOST)])
    by_reason = grouped((f"not comparable ({reason})", case_id) for case_id, reason in report.not_comparable.items())
    by_reason |= {f"only in {report.run_a}": [*report.only_a], f"only in {report.run_b}": [*report.only_b]}
    if left_out := [f"{reason}: {listed(ids, 10)}" for reason, ids in by_reason.items() if ids]:
        yield markdown_list([*map(escape_markdown, left_out)])


def _tables(report: CompareReport) -> str:
    """Return the figures and the suite's own metrics, each as a table; below them the metrics that do not compare."""
    before, after = report.aggregate_a.flat(), report.aggregate_b.flat()
    figures = [[name, *_values(before[name], after[name])] for name in after if name not in report.metrics]
    for name in ("total_queries", "failed_queries"):
        a, b = getattr(report.aggregate_a, name), getattr(report.aggregate_b, name)
        figures.append([name, f"{a}", f"{b}", f"{b - a:+d}" if a != b else "0"])
    lines = [_aligned_table(["figure", "a", "b", "b - a"], figures, "lrrr")]
    metrics = [[name, *_values(m.before, m.after), f"{m.n}"] for name, m in report.metrics.items()]
    if metrics:
        lines += ["", _aligned_table(["metric of the suite", "a", "b", "b - a", "cases"], metrics, "lrrrr")]
    for name, reason in report.incomparable.items():
        values = " → ".join(map(_value, report.former.get(name, ())))
        lines.append(f"- not comparable: {escape_markdown(f'{name} ({reason})')}{f': {values}' if values else ''}")
    return "\n".join(lines)


def _aligned_table(heads: Sequence[str], rows: Sequence[Sequence[str]], sides: str) -> str:
    """Return a Markdown table, its cells escaped, that is also aligned as plain text."""
    rows = [[escape_markdown(cell) for cell in row] for row in rows]
    widths = [max(text_width(row[i]) for row in (heads, *rows)) for i in range(len(heads))]
    rule = ["-" * (width - 1) + ":" if side == "r" else "-" * width for width, side in zip(widths, sides, strict=True)]
    lines = []
    for row in (heads, rule, *rows):
        pads = [" " * (width - text_width(cell)) for cell, width in zip(row, widths, strict=True)]
        cells = [pad + cell if side == "r" else cell + pad for cell, pad, side in zip(row, pads, sides, strict=True)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _values(before: float | None, after: float | None) -> list[str]:
    difference = NOT_MEASURED if before is None or after is None else change(after - before, 4)
    return [_value(before), _value(after), difference]


def _value(value: float | None) -> str:
    return NOT_MEASURED if value is None else number(value, 4)


def _rank(rank: int | None) -> str:
    return "miss" if rank is None else str(rank)
