"""The data of the page: a run as a whole, its cases by page, and everything about one case."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, zip_longest
from typing import Any

from ...base.files import shown_path
from ...base.grouping import grouped
from ...core.run import CaseResult
from ...errors import AueporaError
from ...evaluation.recording import Recording
from ...history.tables import StoredRun
from ...regression.compare import provenance_changes
from ...regression.guards.gates import in_slice
from ...regression.guards.steadiness import as_shown
from ...regression.outcomes import GateOutcome
from ...regression.statistics.intervals import mean_difference
from ...reporting.html.cases import case_details, column_data, safe_text, shown_hits
from ...reporting.numbers import metric_value, number, with_interval
from ...reporting.relevant_docs import source_text
from ...reporting.tally import ORDER
from ...reporting.text import UNICODE
from ...reporting.wording.metric_rows import MetricRow, metric_rows, state_symbol
from ...reporting.wording.notes import noise_lines
from ...reporting.wording.verdict import comparison_word, headline, next_steps
from .library import Library, Pair, label_path, labels_of

MOST_RUNS = 40  # in the history of the metrics
_MOST_CHOICES = 200  # runs of a suite that can be chosen, whatever their configuration
_MOST_VALUES = 40  # of a label that still make slices of it
PAGE = 100  # rows that are sent at a time

_AROUND = 320  # characters of a long passage that are shown before and behind what is highlighted
_STATES = ("failed", "inconclusive", "advisory", "passed", "not judged")


# -- the run: the verdict and its reasons, metrics with intervals, the runs before it


def run_entry(info: StoredRun) -> dict[str, Any]:
    """Return the entry of a run in a list of runs."""
    return {
        "id": info.run_id, "started": info.started, "title": safe_text(info.title), "path": safe_text(info.path),
        "commit": safe_text(info.git_commit[:10]),
        "complete": info.complete, "outcome": info.outcome, "cases": info.cases, "failed": info.failed,
        "origin": safe_text(info.origin),
    }  # fmt: skip


def overview(library: Library, pair: Pair) -> dict[str, Any]:
    """Return everything about a run but its cases."""
    run, verdict = pair.run, pair.verdict
    rows = metric_rows(run, verdict)
    vanished = verdict.comparison.vanished if verdict.comparison is not None else {}
    if pair.by_baseline:
        steps, changed = next_steps(verdict, html=""), [safe_text(text) for text in changed_lines(verdict)]
    else:
        steps, changed = [], _changed_provenance(pair.other.provenance, run.provenance) if pair.other else []
    notes = [*missing_notes(run, verdict, rows), *verdict.notes, *noise_lines(verdict)]
    gates = sorted(verdict.gates, key=lambda gate: _STATES.index(gate.state))
    return {
        "run": run_entry(pair.info),
        "path": safe_text(run.path),
        "owner": safe_text(run.owner),
        "other": run_entry(pair.other_info) if pair.other_info else None,
        "byBaseline": pair.by_baseline,
        "compared": verdict.comparison is not None,
        "outcome": verdict.outcome,
        "mark": state_symbol(verdict.outcome, UNICODE),
        "word": ", ".join(filter(None, [verdict.outcome.capitalize(), comparison_word(verdict)])),
        "headline": safe_text(headline([verdict], [run])),
        "baselineNote": safe_text(verdict.baseline_note),
        "reasons": [_gate_row(gate, run.owner) for gate in gates],
        "failedCases": verdict.failed_cases,
        "steps": [safe_text(step) for step in steps],
        "changed": changed,
        "notes": [safe_text(note) for note in notes],
        "gone": {safe_text(old): safe_text(new or "") for old, new in vanished.items()},
        "metrics": [_metric_row(pair, row) for row in rows if row.name in run.metrics or row.gate is not None],
        "counts": dict(Counter(word for line in pair.lines for word in set(line["is"]))),
        "columns": [column_data(run, name) for name in pair.columns],
        "tags": _tags(pair),
        "labels": _label_values(pair),
        "history": _metric_history(library, pair.info),
        "runs": [run_entry(other) for other in library.store.runs(_MOST_CHOICES, pair.info.suite, path=pair.info.path)],
    }


def _gate_row(gate: GateOutcome, owner: str) -> dict[str, Any]:
    message, short = safe_text(full_reason(gate)), safe_text(gate_reason(gate))
    return {
        "state": gate.state, "kind": gate.kind, "title": safe_text(gate.title), "short": short,
        "slice": gate.is_of_slice, "why": "" if message == short else message,
        "owner": "" if gate.owner == owner else safe_text(gate.owner),
        "worst_cases": [safe_text(name) for name in gate.costliest],
        "p": None if gate.p is None else number(gate.p, 4), "mde": None if gate.mde is None else number(gate.mde),
        "n": gate.n, "total": gate.total, "bound": safe_text(gate.bound),
    }  # fmt: skip


def _tags(pair: Pair) -> list[str]:
    return sorted({tag for line in pair.lines for tag in line.get("tags", ())})


def _label_values(pair: Pair) -> dict[str, list[str]]:
    """Return the labels that make slices of the cases, with their values."""
    by_label = grouped(item for line in pair.lines for item in line.get("labels", {}).items())
    values = {label: sorted({*by_label[label]}) for label in sorted(by_label)}
    return {label: of_label for label, of_label in values.items() if len(of_label) <= _MOST_VALUES}


def _metric_row(pair: Pair, row: MetricRow) -> dict[str, Any]:
    return {
        "name": safe_text(row.name), "lower": row.info is not None and row.info.direction == "lower",
        "value": row.value_text, "n": row.n_text, "baseline": row.baseline_text, "change": row.change_text,
        "sign": row.sign, "gate": safe_text(row.bound_text), "state": row.gate_state, "regression": row.mark,
        "interval": _change_interval(pair, row.name) if row.name in pair.run.metrics else None,
    }  # fmt: skip


def slice_metrics(pair: Pair, label: str) -> list[dict[str, Any]]:
    """Return each metric over each value of *label*, with the interval of its change."""
    values = sorted({value for line in pair.lines if (value := line.get("labels", {}).get(label))})
    values = (_tags(pair) if label == "tag" else values)[:_MOST_VALUES]
    slices = [(v, {i for i, case in pair.run.cases.items() if in_slice(case, {label: v})}) for v in values]
    return [_slice_row(pair, name, value, ids) for name in pair.columns for value, ids in slices]


def _slice_row(pair: Pair, name: str, value: str, ids: set[str]) -> dict[str, Any]:
    scores = pair.run.scores_of(name, lambda case: case.case_id in ids)
    numbers = [score.value for score in scores if score.value is not None]
    mean = sum(numbers) / len(numbers) if numbers else None
    return {
        "metric": safe_text(name), "slice": safe_text(value), "n": len(numbers),
        "value": metric_value(mean, pair.run.metrics[name]), "interval": _change_interval(pair, name, ids),
    }  # fmt: skip


def _change_interval(pair: Pair, name: str, ids: set[str] | None = None) -> dict[str, Any] | None:
    """Return the mean change of a metric over the cases that compare, with its 95 % interval, and in words."""
    if (comparison := pair.verdict.comparison) is None or name in comparison.aggregates:
        return None
    changes = comparison.changes_of(name)
    pairs = {i: (c.before, c.after) for i, c in changes.items() if ids is None or i in ids}
    difference = mean_difference(pairs, pair.run.clusters)
    info = pair.run.metrics[name]
    if difference.value is None:
        return None
    return {
        "value": difference.value, "low": difference.low, "high": difference.high, "n": difference.n_cases,
        "standing": difference.standing(info.direction), "text": with_interval(difference, info),
        "time": info.target == "LATENCY",
    }  # fmt: skip


def _metric_history(library: Library, info: StoredRun) -> dict[str, Any]:
    """Return the runs of the suite, oldest first, with their metrics and what changed in their provenance."""
    complete = [run for run in library.store.runs(None, info.suite, info.variant, info.path) if run.complete]
    runs = complete[:MOST_RUNS][::-1]
    ids = [run.run_id for run in runs]
    measured, provenance = library.store.measured(ids), library.store.provenance(ids)
    by_run = [measured.get(i, {}) for i in ids]
    values: dict[str, list[float | None]] = {}
    for name, details in {n: details for of_run in by_run for n, (details, _) in of_run.items()}.items():
        low, high = details.get("range") or (None, None)
        if details.get("target") != "LATENCY" and low is not None and low >= 0 and high is not None and high <= 1:
            values[name] = [of_run.get(name, (None, None))[1] for of_run in by_run]
    changes = [[], *(_changed_provenance(provenance.get(a, {}), provenance.get(b, {})) for a, b in pairwise(ids))]
    return {
        "metrics": [{"name": safe_text(name), "values": of_metric} for name, of_metric in values.items()],
        "runs": [{**run_entry(run), "changed": changed} for run, changed in zip(runs, changes, strict=True)],
    }


def _changed_provenance(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    return [safe_text(f"{key} {old} → {new}") for key, (old, new) in provenance_changes(before, after).items()]


# -- cases: some of their rows at a time, and everything about one of them


def filter_rows(pair: Pair, query: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the rows that *query* selects, in its order.

    *query* has ``show`` (a word of a row's ``is``), ``tag``, ``slice`` (``label=value``), ``text``; ``sort`` (``id``,
    ``state``, ``change`` or the place of a column), ``down``.
    """
    label, _, value = query.get("slice", "").partition("=")
    show, tag, text = query.get("show", ""), query.get("tag", ""), query.get("text", "").strip().lower()
    rows = [
        line for line in pair.lines
        if (not show or show in line["is"])
        and (not tag or tag in line.get("tags", ()))
        and (not label or line.get("labels", {}).get(label) == value)
        and text in line["text"]
    ]  # fmt: skip
    sort_by, descending = query.get("sort") or "state", bool(query.get("down"))
    with_keys = [(_sort_key(line, sort_by), line) for line in rows]
    sortable = [entry for entry in with_keys if entry[0] is not None]
    sortable.sort(key=lambda entry: (entry[1].get("worst") or 0.0, entry[1]["index"]))
    sortable.sort(key=lambda entry: entry[0], reverse=descending)
    return [line for _, line in sortable] + [line for key, line in with_keys if key is None]


def _sort_key(line: Mapping[str, Any], sort_by: str) -> Any:
    if sort_by == "id":
        return line["id"]
    if sort_by == "change":
        return line.get("worst")
    if sort_by.isdecimal():
        cells = line.get("cells", ())
        return cells[int(sort_by)][0] if int(sort_by) < len(cells) else None
    return ORDER.index(line["kind"])


def cases_page(pair: Pair, query: Mapping[str, str]) -> dict[str, Any]:
    """Return one page of the rows, as `filter_rows`; ``page`` counts from 1."""
    rows = filter_rows(pair, query)
    pages = max(1, -(-len(rows) // PAGE))
    page_text = query.get("page", "")
    page = min(max(int(page_text) if page_text.isdecimal() else 1, 1), pages)
    page_rows = rows[(page - 1) * PAGE : page * PAGE]
    return {
        "rows": [{k: v for k, v in row.items() if k != "text"} for row in page_rows],
        "page": page, "pages": pages, "found": len(rows), "all": len(pair.lines),
    }  # fmt: skip


def case_page(library: Library, pair: Pair, case_id: str, query: Mapping[str, str]) -> dict[str, Any]:
    """Return all about a case, and its neighbours among those that *query* selects; `UnknownRunError` without it."""
    case = library.case(pair, case_id)
    before = pair.earlier_case(case)
    line = next(row for row in pair.lines if row["id"] == safe_text(case_id))
    listed_ids = [row["id"] for row in filter_rows(pair, query)]
    place = listed_ids.index(line["id"]) if line["id"] in listed_ids else None
    return {
        **{k: v for k, v in line.items() if k != "text"},
        **case_details(case, pair.run, pair.verdict),
        "place": None if place is None else place + 1,
        "of": len(listed_ids),
        "previous": listed_ids[place - 1] if place else None,
        "next": listed_ids[place + 1] if place is not None and place + 1 < len(listed_ids) else None,
        "now": _answer_and_hits(case, before),
        "then": _answer_and_hits(before, case) if before is not None else None,
        "repeats": _repeat_values(library, pair, case, before),
        "judges": list(_judge_scores(library, pair, case)),
    }


def _answer_and_hits(case: CaseResult, other: CaseResult | None) -> dict[str, Any]:
    """Return the answer and the ranking of one of two runs; each hit with its rank in the other one."""
    case = as_shown(case)
    other_hits = (as_shown(other).outputs.get("retrieved") or ()) if other is not None else ()
    elsewhere = {hit.get("id"): rank for rank, hit in reversed([*enumerate(other_hits, 1)])}
    hits = [
        {
            "rank": rank, "id": safe_text(hit.get("id")), "score": score, "grade": grade,
            "source": safe_text(source_text(hit)),
            "text": list(_marked_text(hit, case.expected.get("relevant") or ())),
            "was": 0 if other is None else elsewhere.get(hit.get("id")),
        }
        for rank, hit, score, grade in shown_hits(case)
    ]  # fmt: skip
    answer = case.outputs.get("answer")
    return {
        "hits": hits, "returned": len(case.outputs.get("retrieved") or ()), "state": case.state,
        "answer": None if answer is None else safe_text(answer, keep_lines=True),
    }  # fmt: skip


def _marked_text(hit: Mapping[str, Any], labels: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, bool]]:
    """Yield the text of a hit in pieces, and whether a label quotes or points to each."""
    text = str(hit.get("text") or "")
    places = sorted(place for label in labels if (place := _find_label(text, hit, label)) is not None)
    start = max(places[0][0] - _AROUND, 0) if places else 0
    if start:
        yield "… ", False
    position = start
    for first, last in places:
        if first >= position:
            gap = text[position:first]
            yield safe_text(gap, keep_lines=True) if gap.strip() else " " * (first > position), False
            yield safe_text(text[first:last], keep_lines=True), True
            position = last
    rest = text[position : position + 2 * _AROUND]
    yield safe_text(rest, keep_lines=True) + (" …" if position + len(rest) < len(text) else ""), False


def _find_label(text: str, hit: Mapping[str, Any], label: Mapping[str, Any]) -> tuple[int, int] | None:
    if quote := str(label.get("quote") or "").strip():
        match = re.search(r"\s+".join(map(re.escape, quote.split())), text, re.IGNORECASE)
        return match.span() if match else None
    label_span, hit_span = label.get("span"), hit.get("span")
    if not label_span or not hit_span or label.get("id") not in (hit.get("id"), hit.get("doc")):
        return None
    first, last = max(label_span[0] - hit_span[0], 0), min(label_span[1] - hit_span[0], len(text))
    return (first, last) if first < last else None


def _repeat_values(library: Library, pair: Pair, case: CaseResult, before: CaseResult | None) -> dict[str, Any] | None:
    """Return every value of a case that was asked several times, and its answers as far as they are kept."""
    repeats = case.extra.get("repeats") or {}
    varies = case.extra.get("varies") or {}
    earlier = before if before is not None and before.repeats > 1 else None
    if not repeats and not varies and earlier is None:
        return None
    values = []
    for name in repeats or case.scores:
        info = pair.run.metrics.get(name)
        if info is not None and info.target != "LATENCY":
            now = [metric_value(value, info) for value in case.values(name)]
            then = [metric_value(value, info) for value in earlier.values(name)] if earlier is not None else []
            values += [{"metric": safe_text(name), "now": now, "then": then}] if now or then else []
    infos = (pair.info, pair.other_info)
    texts = (
        [_answer_text(recording) for recording in _recorded_answers(library, info, case.case_id)] for info in infos
    )
    answers = [{"now": now, "then": then} for now, then in zip_longest(*texts)]
    varies_text = f"{varies['passed']} of {varies['answers']} answers passed when it was asked again" if varies else ""
    return {"values": values, "answers": answers, "varies": varies_text}


def _answer_text(recording: Recording) -> str:
    text = recording.error if recording.outputs is None else recording.outputs.answer
    return safe_text(text or "", keep_lines=True)


def _recorded_answers(library: Library, info: StoredRun | None, case_id: str) -> list[Recording]:
    """Return the recorded answers to a case, as far as they are still kept."""
    try:
        return library.store.recordings(info.run_id).get(case_id, []) if info is not None else []
    except AueporaError:
        return []


def evidence_of(library: Library, pair: Pair, case: CaseResult) -> list[str]:
    """Return the texts of the documents of a case: whole where its answer is recorded, else what is kept of them."""
    recordings = _recorded_answers(library, pair.info, case.case_id)
    hits = recordings[0].outputs.retrieved if recordings and recordings[0].outputs is not None else None
    texts = [hit.text for hit in hits] if hits else [hit.get("text") for hit in case.outputs.get("retrieved") or ()]
    return [str(text) for text in texts if text]


def _judge_scores(library: Library, pair: Pair, case: CaseResult) -> Iterator[dict[str, Any]]:
    """Yield the score of each judge, people's labels of the same answer, and the file of these labels."""
    for name, info in pair.run.metrics.items():
        if info.judge and (score := case.scores.get(name)) is not None:
            value = metric_value(score.value, info) if score.state == "number" else f"{score.state}: {score.reason}"
            path = label_path(library.labels, pair.run.suite, name)
            yield {
                "metric": safe_text(name), "value": safe_text(value), "labels": labels_of(path, case),
                "file": shown_path(path, library.root),
            }  # fmt: skip
