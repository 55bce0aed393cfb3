"""The rows of the cases of a run: made when they are shown; what counts and sorts them is known before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from ...core.run import MetricInfo, Run
from ...core.scoring import Score
from ...regression.compare import CaseComparison
from ...regression.verdict import Verdict
from ..numbers import metric_gain, metric_value, sign
from ..tally import FAILING, ORDER, case_status
from ..wording.cases import case_diagnosis
from ..wording.changes import changes_text
from ..wording.checks import finding_line
from ..wording.metric_rows import chosen_metrics
from ..wording.verdict import lost_cases
from .case_data import answer_text, safe_data, safe_text, without_empty

MOST_COLUMNS = 5

FIRST = 100
"""Rows that the page begins with."""

CHIPS = ("failed", "worse", "lost", "still failing", "varies", "suspect", "improved", "flaky", "incomparable")
"""What rows are filtered by: each counts the cases that the verdict counts."""


class CaseRows:
    """The rows of a run, in the order of the golden file.

    *not_comparable* says of cases why they do not compare, where that is not the verdict's own comparison.
    """

    def __init__(self, run: Run, verdict: Verdict, not_comparable: Mapping[str, str] | None = None) -> None:
        self.run, self.verdict = run, verdict
        self.columns = chosen_metrics(run, verdict, MOST_COLUMNS, times=True)
        """The metrics of the columns."""
        self.lost = [one.case.case_id for one in lost_cases(run, verdict)]
        """The cases by which the suite is worse, the largest loss first."""
        compared = verdict.case_comparisons
        self._kinds = {i: case_status(case, compared.get(i)) for i, case in run.cases.items()}
        said = {i: incomparable_reason(one) for i, one in compared.items()} | dict(not_comparable or {})
        self._reasons = {i: reason for i, reason in said.items() if reason and i in run.cases}
        marks = {
            "failed": [case.case_id for case in run.in_state("failed", "error") if not case.expected_to_fail],
            "worse": verdict.regressed_cases,
            "lost": self.lost,
            "still failing": [i for i, kind in self._kinds.items() if kind == "still failing"],
            "varies": verdict.varies,
            "suspect": verdict.suspects,
            "improved": verdict.improved_cases,
            "flaky": verdict.flaky,
            "incomparable": self._reasons,
        }
        self._marks: dict[str, list[str]] = {}
        for word in CHIPS:
            for case_id in {*marks[word]} & run.cases.keys():
                self._marks.setdefault(case_id, []).append(word)

    def __len__(self) -> int:
        return len(self.run.cases)

    @property
    def counts(self) -> dict[str, int]:
        """The number of cases that each chip shows."""
        return Counter(word for words in self._marks.values() for word in words)

    @cached_property
    def first(self) -> list[dict[str, Any]]:
        """The rows that the page begins with: the worst kinds first, of a kind the largest drops."""
        compared, places = self.verdict.case_comparisons, {kind: place for place, kind in enumerate(ORDER)}

        def key(case_id: str) -> tuple[int, float]:
            return places[self._kinds[case_id]], largest_change(compared.get(case_id)) or 0.0

        return self.of(sorted(self.run.cases, key=key)[:FIRST])

    @cached_property
    def all(self) -> list[dict[str, Any]]:
        """All rows."""
        return self.of(self.run.cases)

    def of(self, ids: Iterable[str]) -> list[dict[str, Any]]:
        """Return the rows of *ids*."""
        return [self._row(case_id) for case_id in ids]

    def _row(self, case_id: str) -> dict[str, Any]:
        case, kind, pair = self.run.cases[case_id], self._kinds[case_id], self.verdict.case_comparisons.get(case_id)
        run, largest = self.run, largest_change(pair)
        names = [name for name, change in pair.changes.items() if change.gain == largest] if pair else []
        varying = case.with_status("varies", "suspect") if kind not in FAILING else []
        row = {
            "id": case_id,
            "index": self._places[case_id],
            "kind": kind,
            "is": self._marks.get(case_id, []),
            "query": case.query,
            "answer": answer_text(case),
            "worst": largest,
            "change": [names[0], metric_gain(largest, run.metrics.get(names[0]))] if largest else [],
            "cells": [_cell(case.scores.get(n), pair, n, run.metrics[n]) for n in self.columns],
            "tags": [*map(str, case.labels.get("tags", ()))],
            "labels": {label: str(value) for label, value in case.labels.items() if label != "tags"},
            "why": case_diagnosis(case, pair, run.metrics),
            "said": [*dict.fromkeys(finding_line(case_id, finding) for finding in varying)],
            "notComparable": self._reasons.get(case_id, ""),
        }
        return without_empty(safe_data(row))

    @cached_property
    def _places(self) -> dict[str, int]:
        return {case_id: place for place, case_id in enumerate(self.run.cases)}

    @cached_property
    def labels(self) -> dict[str, dict[str, list[str]]]:
        """The cases of each value of each label (``tag``: of each tag), sorted."""
        found: dict[str, dict[str, list[str]]] = {}
        for case_id, case in self.run.cases.items():
            for label, value in case.labels.items():
                for text in filter(None, map(safe_text, value if label == "tags" else (value,))):
                    values = found.setdefault("tag" if label == "tags" else safe_text(label), {})
                    values.setdefault(text, []).append(case_id)
        return {label: dict(sorted(values.items())) for label, values in sorted(found.items())}


def incomparable_reason(compared: CaseComparison | None) -> str:
    """Return why a case does not compare, or not in everything; an empty string where it does."""
    if compared is None:
        return ""
    reason = {"new": "not there before", "changed": "the golden case was edited"}.get(compared.flip, "")
    return reason or changes_text(compared.not_comparable)


def largest_change(compared: CaseComparison | None) -> float | None:
    """Return the largest drop of a case, or its largest gain where nothing dropped; None where nothing compares."""
    return compared.worst or compared.best if compared is not None and compared.paired else None


def _cell(score: Score | None, compared: CaseComparison | None, name: str, info: MetricInfo) -> list[Any]:
    """Return the value for sorting, its text, the sign of its gain, whether it is the worst there is, that before."""
    if score is None or score.state in ("n/a", "aggregate"):
        return [None, "", 0, False, None]
    change = compared.changes.get(name) if compared is not None else None
    before = change.before if change is not None else None
    if score.state == "error" or score.value is None:
        return [None, "error", -1, True, before]
    turn = sign(change.gain) if change is not None else 0
    return [score.value, metric_value(score.value, info), turn, score.value == info.worst, before]
