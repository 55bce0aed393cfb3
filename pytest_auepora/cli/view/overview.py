"""What the page says of a run as a whole: the verdict and its reasons, metrics with intervals, the runs before it."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

from ...history.tables import StoredRun
from ...regression.compare import provenance_changes
from ...regression.guards.gates import GateOutcome, in_slice
from ...regression.statistics.intervals import mean_difference
from ...reporting.html.cases import shown
from ...reporting.html.page import OUTCOMES
from ...reporting.metric_rows import MetricRow, metric_rows
from ...reporting.notes import gate_reason, missing_notes, next_steps, noise_lines
from ...reporting.notes import provenance_changes as changed_since
from ...reporting.numbers import metric_change, metric_value, number
from ...reporting.tally import comparison_word, headline
from .library import Library, Pair

MOST_RUNS = 40
MOST_CHOICES = 200
"""Runs of a suite that can be chosen, whatever their configuration."""
MOST_VALUES = 40
"""Values of a label that still make slices of it."""

_STATES = ("failed", "inconclusive", "advisory", "passed", "not judged")


def listed_run(one: StoredRun) -> dict[str, Any]:
    """Return what a list of runs says about one."""
    return {
        "id": one.run_id, "started": one.started, "title": shown(one.title), "commit": shown(one.git_commit[:10]),
        "complete": one.complete, "outcome": one.outcome, "cases": one.cases, "failed": one.failed,
        "origin": shown(one.origin),
    }  # fmt: skip


def overview(library: Library, pair: Pair) -> dict[str, Any]:
    """Return all but the cases."""
    run, verdict = pair.run, pair.verdict
    word, mark = OUTCOMES[verdict.outcome]
    rows = metric_rows(run, verdict)
    compared = verdict.comparison
    if pair.by_baseline:
        steps, changed = next_steps(verdict, html=""), [shown(one) for one in changed_since(verdict)]
    else:
        steps, changed = [], _moved(pair.other.provenance, run.provenance) if pair.other else []
    notes = [*missing_notes(run, verdict, rows), *verdict.notes, *noise_lines(verdict)]
    return {
        "run": listed_run(pair.info),
        "path": shown(run.path),
        "owner": shown(run.owner),
        "other": listed_run(pair.other_info) if pair.other_info else None,
        "byBaseline": pair.by_baseline,
        "compared": compared is not None,
        "outcome": verdict.outcome,
        "mark": mark,
        "word": ", ".join(filter(None, [word, comparison_word(verdict)])),
        "headline": shown(headline([verdict], [run])),
        "baselineNote": shown(verdict.baseline_note),
        "reasons": [_reason(gate, run.owner) for state in _STATES for gate in verdict.gates if gate.state == state],
        "failedCases": verdict.failed_cases,
        "steps": [shown(step) for step in steps],
        "changed": changed,
        "notes": [shown(note) for note in notes],
        "gone": {shown(old): shown(new or "") for old, new in (compared.vanished if compared else {}).items()},
        "metrics": [_metric(pair, row) for row in rows if row.name in run.metrics or row.gate is not None],
        "counts": dict(Counter(word for line in pair.lines for word in set(line["is"]))),
        "columns": [{"name": shown(n), "lower": run.metrics[n].direction == "lower"} for n in pair.columns],
        "tags": sorted({tag for line in pair.lines for tag in line.get("tags", ())}),
        "labels": _labels(pair),
        "history": history_of(library, pair.info),
        "runs": [listed_run(one) for one in library.store.runs(MOST_CHOICES, pair.info.suite)],
    }


def _reason(gate: GateOutcome, owner: str) -> dict[str, Any]:
    """Return a judgement: what is said first, and the arithmetic behind it."""
    message = shown(gate.message.removeprefix(f"{gate.title}: "))
    short = shown(gate_reason(gate))
    return {
        "state": gate.state, "kind": gate.kind, "title": shown(gate.title), "short": short,
        "slice": gate.is_of_slice, "why": "" if message == short else message,
        "owner": "" if gate.owner == owner else shown(gate.owner), "culprits": [shown(one) for one in gate.culprits],
        "p": None if gate.p is None else number(gate.p, 4), "mde": None if gate.mde is None else number(gate.mde),
        "n": gate.n, "total": gate.total, "bound": shown(gate.bound),
    }  # fmt: skip


def _labels(pair: Pair) -> dict[str, list[str]]:
    """Return the labels by which cases can be told apart, with their values."""
    values: dict[str, set[str]] = {}
    for line in pair.lines:
        for key, value in line.get("labels", {}).items():
            values.setdefault(key, set()).add(value)
    return {key: sorted(seen) for key, seen in sorted(values.items()) if len(seen) <= MOST_VALUES}


def _metric(pair: Pair, row: MetricRow) -> dict[str, Any]:
    return {
        "name": shown(row.name), "lower": row.info is not None and row.info.direction == "lower",
        "value": row.value_text, "n": row.n_text, "baseline": row.baseline_text, "change": row.change_text,
        "sign": row.sign, "gate": shown(row.bound_text), "state": row.gate_state, "regression": row.mark,
        "interval": _interval(pair, row.name) if row.name in pair.run.metrics else None,
    }  # fmt: skip


def slice_metrics(pair: Pair, label: str) -> list[dict[str, Any]]:
    """Return each metric over each value of *label*, with the interval of its change."""
    run = pair.run
    values = sorted({value for line in pair.lines if (value := line.get("labels", {}).get(label))})
    if label == "tag":
        values = sorted({tag for line in pair.lines for tag in line.get("tags", ())})
    slices = [(v, {i for i, case in run.cases.items() if in_slice(case, {label: v})}) for v in values[:MOST_VALUES]]
    return [_slice(pair, name, value, ids) for name in pair.columns for value, ids in slices]


def _slice(pair: Pair, name: str, value: str, ids: set[str]) -> dict[str, Any]:
    scores = pair.run.scores_of(name, lambda case: case.case_id in ids)
    seen = [score.value for score in scores if score.value is not None]
    mean = sum(seen) / len(seen) if seen else None
    return {
        "metric": shown(name), "slice": shown(value), "n": len(seen),
        "value": metric_value(mean, pair.run.metrics[name]), "interval": _interval(pair, name, ids),
    }  # fmt: skip


def _interval(pair: Pair, name: str, ids: set[str] | None = None) -> dict[str, Any] | None:
    """Return the mean change of a metric over the cases that compare, with its 95 % interval, and in words."""
    if (comparison := pair.verdict.comparison) is None or name in comparison.aggregates:
        return None
    changes = comparison.changes_of(name)
    pairs = {i: (c.before, c.after) for i, c in changes.items() if ids is None or i in ids}
    found = mean_difference(pairs, pair.run.clusters)
    info = pair.run.metrics[name]
    if found.value is None:
        return None
    text = metric_change(found.value, info)
    if found.low is not None and found.high is not None:
        text += f" [{metric_change(found.low, info)}, {metric_change(found.high, info)}]"
    return {
        "value": found.value, "low": found.low, "high": found.high, "n": found.n_cases,
        "standing": found.standing(info.direction), "text": text, "time": info.target == "LATENCY",
    }  # fmt: skip


def history_of(library: Library, info: StoredRun) -> dict[str, Any]:
    """Return the runs of the suite, oldest first, with what their metrics amounted to and what had changed."""
    listed = [one for one in library.store.runs(None, info.suite, info.variant) if one.complete][:MOST_RUNS][::-1]
    ids = [one.run_id for one in listed]
    measured, provenance = library.store.measured(ids), library.store.provenance(ids)
    by_run = [measured.get(i, {}) for i in ids]
    metrics = {n: told for found in by_run for n, (told, _) in found.items()}
    kept = [n for n, told in metrics.items() if told.get("target") != "LATENCY" and _within_one(told)]
    changes = [[], *(_moved(provenance.get(a, {}), provenance.get(b, {})) for a, b in pairwise(ids))]
    return {
        "metrics": [{"name": shown(n), "values": [found.get(n, (None, None))[1] for found in by_run]} for n in kept],
        "runs": [{**listed_run(one), "changed": told} for one, told in zip(listed, changes, strict=True)],
    }


def _within_one(told: dict[str, Any]) -> bool:
    low, high = told.get("range") or (None, None)
    return low is not None and high is not None and low >= 0 and high <= 1


def _moved(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    return [shown(f"{key} {old} → {new}") for key, (old, new) in provenance_changes(before, after).items()]
