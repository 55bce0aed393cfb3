"""The data of the case table: a row for each case, and its details.

Numbers are formatted as in every other report, with the raw value where the page sorts by it.  The page builds its
elements from these texts; none of them is ever markup.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from ...core.run import CaseResult, MetricInfo, Run
from ...core.scoring import Score
from ...regression.compare import CaseComparison
from ...regression.guards.steadiness import as_shown
from ...regression.thresholds import Bound
from ...regression.verdict import Verdict
from ..diagnosis import cutoff, diagnose
from ..numbers import metric_gain, metric_value, seconds, sign
from ..relevant_docs import grade_of, relevant_docs, score_texts, source_text
from ..tally import FAILING, case_status
from ..text import printable
from ..wording.cases import details_text
from ..wording.cases import repeat_text as shown_repeat
from ..wording.metric_rows import chosen_metrics

MOST_COLUMNS = 5
MOST_HITS = 20  # shown of a ranking; relevant ones further down are shown as well
_RATIONALE = ("rationale", "reason", "reasoning", "explanation")


def safe_text(value: object, *, keep_lines: bool = False) -> str:
    """Return user text with control characters as visible escapes, as in every other report."""
    return printable(str(value), keep_lines=keep_lines)


def suite_data(run: Run, verdict: Verdict, previous: Run | None = None) -> dict[str, Any]:
    """Return the data of the cases of one suite.

    *previous* is an earlier run: its answers and rankings are shown for cases that it has in the same wording.
    """
    names = chosen_metrics(run, verdict, MOST_COLUMNS)
    columns = [{**column_data(run, name), "key": i} for i, name in enumerate(names)]
    cases = list(case_rows(run, verdict, names, previous))
    compared = verdict.comparison is not None
    return {"title": safe_text(run.title), "compared": compared, "columns": columns, "cases": cases}


def column_data(run: Run, name: str) -> dict[str, Any]:
    """Return the data of the column of a metric."""
    return {"name": safe_text(name), "lower": run.metrics[name].direction == "lower"}


def case_rows(
    run: Run, verdict: Verdict, columns: Sequence[str], previous: Run | None = None
) -> Iterator[dict[str, Any]]:
    """Yield the data of each case, in the order of the golden file."""
    for case_id, case in run.cases.items():
        row = case_line(case, run, verdict, columns) | case_details(case, run, verdict)
        before = previous.cases.get(case_id) if previous is not None else None
        if before is not None and before.content_hash == case.content_hash and before.outputs:
            hits = before.outputs.get("retrieved") or ()
            answer = safe_text(before.outputs.get("answer") or "", keep_lines=True)
            row["before"] = {"answer": answer, "ids": [safe_text(hit.get("id")) for hit in hits[:MOST_HITS]]}
        yield row


def case_line(case: CaseResult, run: Run, verdict: Verdict, columns: Sequence[str]) -> dict[str, Any]:
    """Return the data of the row of a case, without empty values."""
    compared = verdict.case_comparisons.get(case.case_id)
    kind = case_status(case, compared)
    pair = compared if compared is not None and compared.paired else None
    largest = pair.worst or pair.best if pair is not None else None  # drop, or gain where nothing dropped
    names = [name for name, change in pair.changes.items() if change.gain == largest] if pair is not None else []
    row = {
        "id": safe_text(case.case_id),
        "kind": kind,
        "is": list(_filters(case, pair, kind, verdict.flaky)),
        "query": safe_text(case.query, keep_lines=True),
        "worst": largest,
        "change": [safe_text(names[0]), metric_gain(largest, run.metrics.get(names[0]))] if largest else [],
        "cells": [_cell(case.scores.get(n), compared, n, run.metrics[n]) for n in columns],
        "tags": [safe_text(t) for t in case.labels.get("tags", ())],
        "labels": {safe_text(k): safe_text(v) for k, v in case.labels.items() if k != "tags"},
        "why": safe_text(diagnose(case, compared, run.metrics) or ""),
    }
    return _without_empty(row)


def case_details(case: CaseResult, run: Run, verdict: Verdict) -> dict[str, Any]:
    """Return the details of a case, shown when it is opened, without empty values."""
    compared = verdict.case_comparisons.get(case.case_id)
    case, hits = as_shown(case), []
    for rank, hit, score, grade in shown_hits(case):
        text, source = safe_text(hit.get("text") or ""), safe_text(source_text(hit))
        hits.append([rank, safe_text(hit.get("id")), score, grade, text, source])
    answer = case.outputs.get("answer") or ""
    cuts = {k: n for n in case.scores if n in run.metrics and (k := cutoff(run.metrics[n])) is not None}
    row = {
        "where": safe_text(case.where),
        "owner": safe_text(run.owner),
        "problems": [safe_text(p) for p in case.problems],
        "advice": [safe_text(p) for p in case.extra.get("advisory", ())],
        "error": safe_text(case.error, keep_lines=True),
        "answer": safe_text(answer, keep_lines=True) if "answer" in case.outputs else None,
        "expected": _expected(case),
        "docs": [[safe_text(d.label), d.grade, d.rank, d.before, d.known] for d in relevant_docs(case, compared)],
        "hits": hits,
        "returned": len(case.outputs.get("retrieved") or ()),
        "cuts": {f"{k}": safe_text(name) for k, name in cuts.items() if k == max(cuts)},  # the deepest
        "scores": [_score(n, s, compared, run.metrics.get(n), case) for n, s in case.scores.items()],
        "judged": list(_rationales(case)),
        "facts": list(_facts(case, verdict.flaky.get(case.case_id, ""))),
    }
    return _without_empty(row)


def _without_empty(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return *row* without empty values; an empty answer stays."""
    return {k: v for k, v in row.items() if v not in (None, "", [], {}) or (k == "answer" and v is not None)}


def _filters(case: CaseResult, pair: CaseComparison | None, kind: str, flaky: Collection[str]) -> Iterator[str]:
    """Yield the filters of the table that match this case."""
    if pair is not None:
        was_good = pair.before is not None and pair.before.state == "passed"
        if kind == "newly failing" or (kind == "errored" and was_good) or pair.worst < 0:
            yield "regressed"
        elif kind == "fixed" or pair.best > 0:
            yield "improved"
    if kind in FAILING:
        yield "failed"
    if case.case_id in flaky or "quarantine" in case.extra:
        yield "flaky"


def _cell(score: Score | None, compared: CaseComparison | None, name: str, info: MetricInfo) -> list[Any]:
    """Return the value for sorting, its text, the sign of its gain, whether it is the worst possible."""
    if score is None or score.state in ("n/a", "aggregate"):
        return [None, "", 0, False]
    if score.state == "error" or score.value is None:
        return [None, "error", -1, True]
    change = compared.changes.get(name) if compared is not None else None
    text, turn = metric_value(score.value, info), sign(change.gain) if change is not None else 0
    return [score.value, text, turn, score.value == info.worst]


def _expected(case: CaseResult) -> dict[str, Any]:
    expected = case.expected
    answer = str(case.outputs.get("answer") or "").casefold()
    out: dict[str, Any] = {}
    if expected.get("expect", "answer") != "answer":
        out["expect"] = safe_text(expected["expect"])
    if references := [r for r in expected.get("references") or () if r]:
        out["references"] = [safe_text(r, keep_lines=True) for r in references]
    details = case.scores["assertion_pass"].details if "assertion_pass" in case.scores else {}
    for key, details_key in (("must_contain", "missing"), ("forbidden", "forbidden_present")):
        if key in expected:
            phrases = expected[key] if isinstance(expected[key], (list, tuple)) else [expected[key]]
            broken = details.get(details_key)
            if broken is None:  # not measured
                broken = [p for p in phrases if (str(p).casefold() in answer) == (key == "forbidden")]
            out[key] = [[safe_text(p), p not in broken] for p in phrases]
    return out


def shown_hits(case: CaseResult) -> Iterator[tuple[int, Mapping[str, Any], str, int]]:
    """Yield rank, hit, score and grade of the first `MOST_HITS` documents, and of relevant ones further down."""
    hits = case.outputs.get("retrieved") or ()
    for rank, (hit, score) in enumerate(zip(hits, score_texts(hits), strict=True), 1):
        if rank <= MOST_HITS or grade_of(hit) > 0:
            yield rank, hit, score, grade_of(hit)


def _score(
    name: str, score: Score, compared: CaseComparison | None, info: MetricInfo | None, case: CaseResult
) -> list[Any]:
    """Return metric, value, baseline, change, sign of the gain, own threshold, whether it holds, details."""
    change = compared.changes.get(name) if compared is not None else None
    bounds = [Bound(op, limit) for op, limit in case.extra.get("thresholds", {}).get(name, ())]
    holds = None if score.value is None or not bounds else all(b.holds(score.value) for b in bounds)
    note = score.reason if score.state == "n/a" else details_text(score)
    value = {"n/a": "n/a", "error": "error", "aggregate": "counted"}.get(score.state)
    value = value or metric_value(score.value, info, bounds[0] if bounds else None)
    before, gain, turn = "", "", 0
    if change is not None:
        before, gain, turn = metric_value(change.before, info), metric_gain(change.gain, info), sign(change.gain)
    return [safe_text(name), value, before, gain, turn, ", ".join(map(str, bounds)), holds, safe_text(note)]


def _rationales(case: CaseResult) -> Iterator[list[str]]:
    """Yield metric, dimension and text of each rationale of a judge."""
    for name, score in case.scores.items():
        for key in _RATIONALE:
            rationale = score.details.get(key)
            parts = rationale.items() if isinstance(rationale, Mapping) else [("", rationale)]
            for part, text in parts:
                if isinstance(text, str) and text:
                    yield [safe_text(name), safe_text(part), safe_text(text, keep_lines=True)]


def _facts(case: CaseResult, flaky: str) -> Iterator[list[str]]:
    timings = case.outputs.get("timings") or {}
    if timings:
        yield ["time", ", ".join(f"{safe_text(k).replace('_', ' ')} {seconds(v)}" for k, v in timings.items())]
    elif case.seconds:
        yield ["time", seconds(case.seconds)]
    if flaky:
        yield ["flaky", safe_text(flaky)]
    if "quarantine" in case.extra:
        yield ["quarantined", f"until {safe_text(case.extra['quarantine'])}"]
    if case.extra.get("must_pass"):
        yield ["must pass", "held to its baseline under every policy"]
    if "xfail" in case.extra:
        yield ["expected to fail", safe_text(case.extra["xfail"])]
    if text := shown_repeat(case):
        yield ["repeats", text]
    for name, values in case.extra.get("repeats", {}).items():
        numbers = [v for v in values if v is not None]
        if len(set(numbers)) > 1 and "latency" not in name:
            yield [f"repeats of {safe_text(name)}", ", ".join(f"{v:.3f}" for v in numbers)]
