"""What stands below a table of metrics: denominators, times, what does not compare, the lowest scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ...base.grouping import grouped
from ...core.run import Run
from ...regression.compare import Comparison
from ...regression.verdict import Verdict
from ..numbers import metric_value, number, plural
from .changes import by_reason
from .metric_rows import MetricRow, chosen_metrics, rank_of
from .notes import gaps, run_notes
from .verdict import detectable_line, warnings


def lowest_text(run: Run, verdict: Verdict) -> str:
    """Return the worst cases of the first metric whose values differ and are not all perfect: for a green run."""
    names = chosen_metrics(run, verdict, len(run.metrics))
    for name in sorted(names, key=lambda name: rank_of(name, run, verdict)):
        info = run.metrics[name]
        best = info.range[1] if info.direction == "higher" else info.range[0]
        scored = [(s.value, c.case_id) for c in run.cases.values() if (s := c.scores.get(name)) and s.value is not None]
        worst = sorted((pair for pair in scored if pair[0] != best), reverse=info.direction == "lower")[:3]
        if worst and len({value for value, _ in scored}) > 1:
            return f"worst {name}: {', '.join(f'{case_id} {metric_value(value, info)}' for value, case_id in worst)}"
    return ""


def table_notes(run: Run, verdict: Verdict, rows: Sequence[MetricRow]) -> Iterator[str]:
    """Yield notes on the denominators of *rows*: errors, n/a and why, changes over fewer cases than the value."""
    if any(row.n for row in rows) and (errors := _error_counts(run, rows)):
        yield f"{errors}: left out of the values, the worst value in gates and changes"
    yield from gaps(run, verdict)
    for row in rows:
        if (aggregate := verdict.aggregates.get(row.name)) is None:
            continue
        if aggregate.details.get("reliable") is False:
            yield f"{row.name}: needs at least {aggregate.details.get('needs')} values, got {aggregate.n}"
        if note := aggregate.details.get("reason") or aggregate.details.get("note"):
            yield f"{row.name}: {note}"
    details = ((name, *item) for name, aggregate in verdict.aggregates.items() for item in aggregate.details.items())
    shares = ((f"{key} {number(share)}", n) for n, key, share in details if key.startswith("judged@") and share < 1)
    if text := _by_metric("beside", shares):  # of metrics that count unlabelled documents as irrelevant
        yield f"labelled: {text}"
    if verdict.comparison is not None:
        yield from _comparison_notes(run, verdict, verdict.comparison, rows)
    by_owner = grouped((info.owner, name) for name, info in run.metrics.items() if info.owner not in ("", run.owner))
    if by_owner:
        yield f"owners: {'; '.join(f'{owner} of {_join_names(names)}' for owner, names in by_owner.items())}"


def remarks(run: Run, verdict: Verdict, rows: Sequence[MetricRow], most_flaky: int = 10) -> list[str]:
    """Return all that stands below a table of *rows*: times, denominators, warnings, repeats and what judges took."""
    below = [latency_text(run, verdict), *table_notes(run, verdict, rows)]
    return [note for note in (*below, *warnings(run, verdict, most_flaky), *run_notes(run, verdict)) if note]


def latency_text(run: Run, verdict: Verdict) -> str:
    """Return the times without a row of their own: ``latency: mean 12 ms, p50 10 ms, p95 35 ms over 44 cases``."""
    gated = {g.metric for g in verdict.gates if g.kind == "threshold"}
    parts, n = [], 0
    for name, aggregate in verdict.aggregates.items():
        info = run.metrics.get(name)
        if info is not None and info.target == "LATENCY" and name not in gated and aggregate.value is not None:
            needs = f" (needs at least {aggregate.details.get('needs')} cases)"
            unreliable = aggregate.details.get("reliable") is False
            value = metric_value(aggregate.value, info)
            parts.append(f"{name.replace('_latency', '')} {value}{needs if unreliable else ''}")
            n = aggregate.n
    return f"latency: {', '.join(parts)} over {plural(n, 'case')}" if parts else ""


def _by_metric(word: str, pairs: Iterable[tuple[object, str]]) -> str:
    return "; ".join(f"{value} {word} {', '.join(names)}" for value, names in grouped(pairs).items())


def _error_counts(run: Run, rows: Sequence[MetricRow]) -> str:
    cases = sum(case.state == "error" for case in run.cases.values())
    by_count = grouped((row.n_error - cases, row.name) for row in rows if row.n_error > cases)
    parts = [f"{plural(cases, 'case')} errored"] if cases else []
    noun = "other case" if cases else "case"
    parts += [f"{', '.join(names)} errored in {plural(n, noun)}" for n, names in by_count.items()]
    return "; ".join(parts)


def _comparison_notes(run: Run, verdict: Verdict, comparison: Comparison, rows: Sequence[MetricRow]) -> Iterator[str]:
    changed = ((row.change.n, row) for row in rows if row.change is not None)
    if fewer := _by_metric("in", ((n, row.name) for n, row in changed if n != row.n + row.n_error)):
        yield f"changes are over the cases that compare: {fewer}"
    for reason, names in by_reason(comparison.incomparable).items():
        brackets = ", the baseline's value is in brackets" if comparison.former.keys() & set(names) else ""
        yield f"not comparable{brackets}: {', '.join(names)} ({reason})"
    if verdict.outcome != "failed" and (line := detectable_line(run, verdict)):
        yield line


def _join_names(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
