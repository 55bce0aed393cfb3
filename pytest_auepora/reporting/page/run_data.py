"""The data of one run for the page: the verdict and its reasons, metrics, cases, the runs before it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from ...core.run import Run
from ...regression.outcomes import GateOutcome
from ...regression.statistics.intervals import mean_difference
from ...regression.verdict import Verdict
from ..diagnosis import group_by_cause
from ..formats.side_by_side_formats import case_cell, difference_text, key_metric, legend, value_text
from ..numbers import metric_value, plural, with_interval
from ..report import OtherRun
from ..side_by_side import SideBySide
from ..tally import FAILING, ORDER, cases_of
from ..text import Code, parts_of
from ..wording.cause import cause_lines, effects_in_words
from ..wording.changes import provenance_lines, provenance_texts
from ..wording.gates import brief_text, gate_groups, gate_title, owner_and_cost, part_text, reason_text
from ..wording.metric_rows import MetricRow, metric_rows, state_symbol
from ..wording.metrics import remarks
from ..wording.notes import baseline_text
from ..wording.steps import next_steps
from ..wording.verdict import comparison_word, headline
from .case_data import safe_data, safe_text
from .case_rows import CaseRows

MOST_WORST = 6
"""Cases on the first screen."""

MOST_DIFFERING = 200
"""Cases listed that only some of several systems pass."""


def run_data(
    rows: CaseRows, details: Callable[[Sequence[str]], list[dict[str, Any]]], *, changed: Sequence[str] | None = None,
    steps: bool = True,
) -> dict[str, Any]:  # fmt: skip
    """Return what the page of a run begins with: the verdict, its metrics, the worst cases and the first rows.

    *details* gives those of cases by their ids; *changed* are the differences from what the run is compared with, where
    that is not its baseline; *steps* says whether it is told what to do next.
    """
    run, verdict = rows.run, rows.verdict
    worst = _worst(rows)
    table = metric_rows(run, verdict)
    vanished = verdict.comparison.vanished if verdict.comparison is not None else {}
    lines = provenance_lines(verdict.comparison) if changed is None else changed
    data = {
        "title": run.title,
        "path": run.path,
        "owner": run.owner,
        "outcome": verdict.outcome,
        "mark": state_symbol(verdict.outcome),
        "word": ", ".join(dict.fromkeys(filter(None, [verdict.outcome, comparison_word(verdict)]))).capitalize(),
        "headline": headline([verdict], [run]),
        "size": plural(len(run.cases), "case"),
        "compared": verdict.comparison is not None,
        "baseline": baseline_text(verdict.baseline_note),
        "changed": lines,
        "cause": [_sentence(line) for line in cause_lines(verdict.cause, run, effects=False)],
        "effects": effects_in_words(verdict.cause, run),
        "steps": [_sentence(step) for step in next_steps(run, verdict, html="")] if steps else [],
        "metrics": [_metric_row(run, verdict, row) for row in table],
        "gates": [
            {"title": group.title, "state": group.state, "gates": [_gate(run, verdict, gate) for gate in group.gates]}
            for group in gate_groups(verdict)
        ],
        "notes": [_sentence(note) for note in remarks(run, verdict, table)],
        "gone": {old: new or "" for old, new in vanished.items()},
        "columns": [_column(run, name) for name in rows.columns],
        "tags": [*rows.labels.get("tag", ())],
        "slices": {label: [*rows.labels[label]] for label in slice_labels(rows)},
        "counts": rows.counts,
        "order": ORDER,
        "total": len(rows),
    }
    return {**safe_data(data), "worst": rows.of(worst), "worstDetails": details(worst), "rows": rows.first}


def _sentence(text: str) -> list[str | list[str]]:
    """Return the parts of a sentence; each that is code is a list of it alone."""
    return [[part] if isinstance(part, Code) else part for part in parts_of(text) if part]


def _worst(rows: CaseRows) -> list[str]:
    """Return the ids of the cases to look at first: one of each cause, the worst first."""
    run, verdict, ids = rows.run, rows.verdict, [*rows.lost]
    for kind, cases in cases_of(run, verdict, FAILING).items():
        if kind != "still failing" or verdict.outcome != "failed":
            ids += [group[0].case_id for _, group in group_by_cause(cases, run, verdict.case_comparisons)]
    return [*dict.fromkeys(ids)][:MOST_WORST]


def _column(run: Run, name: str) -> dict[str, Any]:
    info = run.metrics[name]
    ends = [end if abs(end) < float("inf") else None for end in info.range]
    return {
        "name": name, "lower": info.direction == "lower", "range": ends, "time": info.target == "LATENCY",
        "measured": any(name in case.scores and case.scores[name].value is not None for case in run.cases.values()),
    }  # fmt: skip


def _metric_row(run: Run, verdict: Verdict, row: MetricRow) -> dict[str, Any]:
    return {
        "name": row.name, "lower": row.info is not None and row.info.direction == "lower",
        "value": row.value_text, "n": row.n_text, "baseline": row.baseline_text, "change": row.change_text,
        "sign": row.sign, "gate": row.bound_text, "state": row.gate_state, "mark": row.mark,
        "interval": change_interval(run, verdict, row.name) if row.name in run.metrics else None,
    }  # fmt: skip


def _gate(run: Run, verdict: Verdict, gate: GateOutcome) -> dict[str, Any]:
    brief, reason = brief_text(gate, run, verdict.notes), reason_text(gate, run, verdict.notes)
    return {
        "title": gate_title(gate), "brief": _sentence(brief),
        "reason": [] if reason == brief else _sentence(reason),
        "extras": owner_and_cost([gate], run), "part": part_text(gate),
    }  # fmt: skip


def change_interval(run: Run, verdict: Verdict, name: str, ids: set[str] | None = None) -> dict[str, Any] | None:
    """Return the mean change of a metric over the cases that compare, with its 95 % interval, and in words."""
    if (comparison := verdict.comparison) is None or name in comparison.aggregates:
        return None
    changes = comparison.changes_of(name)
    pairs = {i: (c.before, c.after) for i, c in changes.items() if ids is None or i in ids}
    difference = mean_difference(pairs, run.clusters)
    info = run.metrics[name]
    if difference.value is None:
        return None
    return {
        "value": difference.value, "low": difference.low, "high": difference.high, "n": difference.n_cases,
        "standing": difference.standing(info.direction), "text": with_interval(difference, info),
        "time": info.target == "LATENCY",
    }  # fmt: skip


def slice_rows(rows: CaseRows, label: str, most: int = 40) -> list[dict[str, Any]]:
    """Return each metric of a column over each value of *label* (``tag``: each tag), with an interval of its change."""
    values = [*rows.labels.get(label, {}).items()][:most]
    return [_slice_row(rows.run, rows.verdict, name, value, {*ids}) for name in rows.columns for value, ids in values]


def _slice_row(run: Run, verdict: Verdict, name: str, value: str, ids: set[str]) -> dict[str, Any]:
    scores = run.scores_of(name, lambda case: case.case_id in ids)
    numbers = [one.value for one in scores if one.value is not None]
    mean = sum(numbers) / len(numbers) if numbers else None
    return {
        "metric": safe_text(name), "slice": value, "n": len(numbers), "value": metric_value(mean, run.metrics[name]),
        "interval": change_interval(run, verdict, name, ids),
    }  # fmt: skip


def slice_labels(rows: CaseRows, most: int = 40) -> list[str]:
    """Return the labels whose values make slices of the cases: those with few values."""
    return [label for label, values in rows.labels.items() if 1 < len(values) <= most]


def history_data(
    run: Run, verdict: Verdict, earlier: Sequence[OtherRun], later: Sequence[OtherRun] = (), *, run_id: str = ""
) -> dict[str, Any]:
    """Return the full runs of a suite, oldest first, with its metrics in [0, 1] and what changed of the system.

    *run* itself, which has no time of its own, stands between those before and after it.  None for a partial run.
    """
    others = [*earlier, *later]
    if not others or not run.is_full:
        return {"metrics": [], "runs": []}
    own = [n for n, info in run.metrics.items() if info.range[0] >= 0 and info.range[1] <= 1 and info.baselined]
    now = OtherRun(run_id, "", {n: verdict.aggregates[n].value for n in own if n in verdict.aggregates}, run.provenance)
    runs = [*earlier, now, *later]
    shown = [n for n in own if any(one.metrics.get(n) is not None for one in others)]
    changes = [[], *(provenance_texts(a.provenance, b.provenance) for a, b in pairwise(runs))]
    return dict(safe_data({
        "metrics": [{"name": name, "values": [one.metrics.get(name) for one in runs]} for name in shown],
        "runs": [
            {"started": one.started, "id": one.run_id, "changed": changed}
            for one, changed in zip(runs, changes, strict=True)
        ],
    }))  # fmt: skip


def side_by_side_view(compared: SideBySide, titles: Sequence[str]) -> dict[str, Any]:
    """Return several systems as texts; *titles* are those of the runs on the page, in order."""
    key, rows = key_metric(compared), [row for row in compared.rows if not row.is_idle]
    places = {title: titles.index(title) for title in titles if titles.count(title) == 1}
    differing = [case for case in compared.cases if case.differs]
    return dict(safe_data({
        "suite": compared.suite,
        "shared": plural(compared.shared, "case"),
        "names": [column.name for column in compared.columns],
        "runs": [places.get(column.title) for column in compared.columns],
        "rows": [
            {
                "name": row.metric, "n": row.n,
                "values": [[value_text(row, f), f.mark == "best" and not row.is_tied] for f in row.figures],
                "differences": [[difference_text(row, f), f.standing or ""] for f in row.figures[1:]],
            }
            for row in rows
        ],
        "notes": [*legend(compared), *compared.notes],
        "key": key.metric if key is not None else "",
        "differing": len(differing),
        "cases": [
            {
                "id": case.case_id,
                "cells": [
                    [system.state if system is not None else "", case_cell(case, i, key)]
                    for i, system in enumerate(case.systems)
                ],
            }
            for case in differing[:MOST_DIFFERING]
        ],
    }))  # fmt: skip
