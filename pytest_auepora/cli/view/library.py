"""The stored runs for the page: any run, compared with its baseline or another run; labels of people."""

from __future__ import annotations

import re
import threading
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any

from ...base.files import locked, read_json_lines, write_atomically
from ...base.records import RecordError, check_record, record_line
from ...calibration.labels import Item, LabelValue
from ...core.run import CaseResult, Run
from ...errors import AueporaError, UnknownRunError
from ...history.accepted import NAME, accepted_run, find_accepted
from ...history.compare import WHY_NOT, CompareReport, as_baseline
from ...history.store import HistoryStore
from ...history.tables import StoredRun
from ...metrics.annotation.labels import answer_hash
from ...regression.baseline import baseline_path
from ...regression.compare import Comparison
from ...regression.compare import compare as pair_cases
from ...regression.outcomes import BaselineNote
from ...regression.verdict import Verdict
from ...reporting.page.case_rows import CaseRows
from ..compare import compare_in_project, steady_metrics

CACHE_SIZE = 4
"""Runs, and pairs of them, in memory."""
_LONGEST_NAME = 100  # characters of a person's name


@dataclass
class Pair:
    """A run and what it is compared with.

    ``verdict`` is the stored one against the baseline if ``by_baseline``, else that of the ``report`` on the ``other``
    run.  Answers and rankings of another run are shown as well; against the baseline it is the accepted run, where its
    texts are kept, which is the ``other`` one and has no ``other_info``; else the previous one, of which there is
    ``other_info`` alone: its cases are read from the ``store`` when they are shown.  ``data`` is what the page has been
    told of it.
    """

    store: HistoryStore
    info: StoredRun
    run: Run
    verdict: Verdict
    other: Run | None = None
    other_info: StoredRun | None = None
    report: CompareReport | None = None
    data: dict[str, Any] | None = None

    def earlier_cases(self, cases: Collection[CaseResult]) -> dict[str, CaseResult]:
        """Return the same cases of the other run, without those that it does not have, or as another golden case."""
        there: Mapping[str, CaseResult] = self.other.cases if self.other is not None else {}
        if cases and self.other is None and self.other_info is not None:
            there = self.store.load(self.other_info.run_id, only=[case.case_id for case in cases]).cases
        same = [i for case in cases if (i := case.case_id) in there and there[i].content_hash == case.content_hash]
        return {case_id: there[case_id] for case_id in same}

    @property
    def by_baseline(self) -> bool:
        """Whether no other run was chosen."""
        return self.report is None

    @property
    def other_name(self) -> str:
        """What to call the other run."""
        return f"the run of {self.other_info.started[:16].replace('T', ' ')}" if self.other_info is not None else NAME

    @cached_property
    def rows(self) -> CaseRows:
        """The rows of the cases."""
        why = self.report.not_comparable if self.report is not None else {}
        return CaseRows(self.run, self.verdict, {case_id: WHY_NOT[reason] for case_id, reason in why.items()})


class Library:
    """Reads the history, and caches the runs read last.

    Golden files and baselines are found in *root*, that of the project; *labels* is the folder for labels of people.
    """

    def __init__(self, store: HistoryStore, root: Path, labels: Path) -> None:
        self.store, self.root, self.labels = store, root, labels
        self._load_run = lru_cache(CACHE_SIZE)(partial(store.load, packed=True))
        self._cached_pair = lru_cache(CACHE_SIZE)(self._load_pair)
        self._lock = threading.Lock()

    def pair(self, name: str, against: str = "") -> Pair:
        """Return a run and what it is compared with: the baseline of its time, or the run called *against*.

        Raises:
            UnknownRunError: there is no such run.
            NotComparableError: they share nothing that compares.
            HistoryError: the history cannot be read.
        """
        run_id = self.store.resolve(name)
        with self._lock:  # two requests for one large run read it once
            return self._cached_pair(run_id, against)

    def _load_pair(self, run_id: str, against: str) -> Pair:
        info, run = self.store.info(run_id), self._load_run(run_id)
        verdict = self.store.verdict(run_id)
        if not against:
            runs = self.store.runs(None, info.suite, info.variant, info.path)
            previous = next((run for run in runs if run.complete and run.run_id < info.run_id), None)
            baseline = baseline_path(self.root / run.path, run.suite, run.variant)
            with suppress(AueporaError):  # the verdict says what is wrong with a baseline
                texts = find_accepted(baseline, run.path, self.store.place, self.root)
                if (accepted := accepted_run(baseline, run.path, texts)) is not None:
                    return Pair(self.store, info, run, verdict, accepted)
            return Pair(self.store, info, run, verdict, None, previous)
        other_info = self.store.info(self.store.resolve(against, run.suite, path=run.path))
        other = self._load_run(other_info.run_id)
        report = compare_in_project(self.root, other, run, names=(other_info.run_id, run_id))
        comparison = pair_cases(run, as_baseline(other))
        comparison.steady = tuple(sorted({*comparison.steady, *steady_metrics(self.root, run)}))
        _relabel_flips(comparison, report.findings)
        verdict = replace(
            verdict, comparison=comparison, baseline_note=BaselineNote(), regressed_cases=report.regressed_cases,
            improved_cases=[], failed_cases=0, varies=[], suspects=[], notes=[],
            gates=[gate for gate in verdict.gates if gate.kind == "threshold"] + report.gates,
        )  # fmt: skip
        return Pair(self.store, info, run, verdict, other, other_info, report)

    def case(self, pair: Pair, case_id: str) -> CaseResult:
        """Return a case of the pair's run; raises `UnknownRunError` where there is none of that name."""
        if (case := pair.run.cases.get(case_id)) is None:
            raise UnknownRunError(f"run {pair.info.run_id} has no case {case_id!r}")
        return case


def _relabel_flips(comparison: Comparison, failing: Collection[str]) -> None:
    """Say of each case what happened since the other run; what is stored happened since the baseline of its time."""
    for case_id, case in comparison.cases.items():
        if case_id in failing and case.flip != "errored":
            case.flip = "newly failing"
        elif case.flip == "newly failing":  # what fails had not held then either
            case.flip = "still failing"


# -- labels: JSON Lines that ``auepora calibrate`` reads, a file for each suite and judged metric


def label_path(folder: Path, suite: str, metric: str) -> Path:
    """Return the file for the labels of one metric in one suite."""
    return folder / f"{re.sub(r'[^A-Za-z0-9_.@-]+', '_', f'{suite}.{metric}')}.jsonl"


def labels_of(path: Path, case: CaseResult) -> dict[str, Any]:
    """Return what people said of the answer of *case*, by name; `AueporaError` where the file holds something else."""
    return _people(_read_label_rows(path).get(_row_key(case)))


def put_label(
    path: Path,
    run: Run,
    case: CaseResult,
    metric: str,
    *,
    person: str,
    label: bool | None,
    evidence: Sequence[str] = (),
) -> dict[str, Any]:
    """Write down what a person says of the answer of *case*: whether it is good; None takes the label back.

    The judge's own score and its model go with the label, so nothing has to be asked for the calibration, and the
    *evidence*, the texts of the documents, so that another judge can be.  Returns all labels of this answer, by name.

    Raises:
        AueporaError: there is no such judge, no answer, no name, or the file holds something else.
        OSError: it cannot be written.
    """
    if not (person := " ".join(person.split())[:_LONGEST_NAME]):
        raise AueporaError("a label needs the name of the person who gives it")
    if metric not in run.metrics or not run.metrics[metric].judge:
        raise AueporaError(f"{metric} is not scored by an LLM judge in {run.title}")
    if not str(case.outputs.get("answer") or "").strip():
        raise AueporaError(f"{case.case_id} has no stored answer to label")
    path.parent.mkdir(parents=True, exist_ok=True)
    with locked(path):
        rows, key = _read_label_rows(path), _row_key(case)
        labels = {**_people(rows.get(key)), person: label}
        labels = {name: value for name, value in labels.items() if value is not None}
        if labels:
            rows[key] = _label_row(run, case, metric, labels, evidence)
        else:
            rows.pop(key, None)
        write_atomically(path, "".join(map(record_line, rows.values())))
    return labels


def _row_key(case: CaseResult) -> str:
    return f"{case.case_id} {answer_hash(str(case.outputs.get('answer') or ''))}"


def _label_row(
    run: Run, case: CaseResult, metric: str, labels: dict[str, LabelValue | None], evidence: Sequence[str]
) -> Item:
    answer, score = str(case.outputs["answer"]), case.scores.get(metric)
    judge = run.metrics[metric].judge.get("params", {}).get("judge", {})
    model = judge.get("model") if isinstance(judge, Mapping) else None
    return Item(
        _row_key(case), labels=labels, query=case.query, answer=answer, evidence=[*evidence], case=case.case_id,
        answer_hash=answer_hash(answer), score=score.value if score is not None else None,
        error=score.reason if score is not None and score.state == "error" else "", model=str(model or ""),
    )  # fmt: skip


def _people(row: Item | None) -> dict[str, Any]:
    return dict(row.labels) if row is not None and isinstance(row.labels, dict) else {}


def _read_label_rows(path: Path) -> dict[str, Item]:
    """Return the rows of the file by name; raises `AueporaError` where one was not given in ``auepora view``."""
    rows = {}
    for where, raw in read_json_lines(path) if path.exists() else ():
        try:
            row = check_record(Item, raw)
        except RecordError as exc:
            raise AueporaError(f"{where}: {exc}") from None
        if not _people(row):
            raise AueporaError(f"{where}: expected a label that was given in auepora view")
        rows[row.name] = row
    return rows
