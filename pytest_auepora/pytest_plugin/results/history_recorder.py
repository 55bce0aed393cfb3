"""Keeps every finished run in the project's history; a history that cannot be written is a note, never a failure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timezone
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import pytest

from ...core.run import CaseResult, Run
from ...errors import AueporaError
from ...history.codec import CaseJson, CaseRow, RecordedAnswers, without_answer_texts
from ...history.journal import Journal, recover
from ...history.settings import Keep, find_journals, journal_folder
from ...history.store import HistoryStore
from ...regression.outcomes import Note
from ...regression.verdict import Verdict
from ..case_reports import CaseReport, unpack
from ..session import AueporaSession
from ..suite_judge import JUDGE

if TYPE_CHECKING:
    from ...reporting.report import Trend


def prepare_history(place: str | Path, root: Path, keep: Keep) -> str:
    """Store the runs of killed processes; return why some could not be stored, or an empty string."""
    if not find_journals(folder := journal_folder(place, root)):
        return ""
    try:
        recover(HistoryStore(place, root), folder, keep)
    except AueporaError as exc:
        return str(exc)
    return ""


class Recorder:
    """One per pytest run; controller only.  *unread* says why earlier runs could not be stored at *place*, if so."""

    def __init__(self, session: AueporaSession, place: str | Path, unread: str = "") -> None:
        self.config, self.place, self._session, self._to_keep = session.config, place, session, session.options.keep
        self.started = datetime.now(timezone.utc)
        self._began = perf_counter()
        self._rows: dict[tuple[str, str], dict[str, CaseRow]] = {}  # the cases of each run that is not judged yet
        self._cut: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)  # cases whose answers are not kept whole
        self._ids: dict[tuple[str, str], str] = {}
        self._unread = unread

    @cached_property
    def _journal(self) -> Journal:
        """The journal, which outlives this process; made with the first result."""
        return Journal(journal_folder(self.place, self.config.rootpath), self.started)

    @cached_property
    def _results_are_final(self) -> bool:
        """Whether nobody but this plugin implements the hook of a finished run, which may change results."""
        implementations = self.config.hook.pytest_auepora_run_finished.get_hookimpls()
        return all(type(impl.plugin).__module__.startswith("pytest_auepora.") for impl in implementations)

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Write the results to the journal, in case this process is killed before it stores them."""
        for case_report in unpack(report):
            if case_report.kind and report.when == "setup" and report.passed:
                continue  # it comes with the call's report as well, and is added to what there is
            self._write(case_report)
            if report.when != "setup":  # results of fixtures come with the call's report as well
                case_report.recordings = []  # pytest holds reports to the end, and answers are large

    def _write(self, case_report: CaseReport) -> None:
        path, variant = key = case_report.path, case_report.variant
        run = self.config.stash[JUDGE].runs[key]
        result = run.cases[case_report.result.case_id]  # which has further answers as well
        if key not in self._rows:
            self._rows[key] = {}
            blank = replace(run, cases={}, provenance=dict(case_report.provenance))
            self._journal.begin(blank, self._session.commit)
        recordings = case_report.recordings if self._to_keep.answers != 0 else []  # they may be kept elsewhere
        if case_report.kind:
            recordings = RecordedAnswers([self._rows[key][result.case_id]]).get(result.case_id, []) + recordings
        result_to_store = self._stored_result(result)
        case = CaseJson.of(result_to_store, recordings)
        self._rows[key][result.case_id] = case.row()
        self._cut[key].pop(result.case_id, None)
        if any(recording.is_cut for recording in recordings):
            self._cut[key][result.case_id] = None
        stored = self._journal.add(path, variant, case, case_report.provenance)
        if stored is not None and result_to_store is result and self._results_are_final:
            result.texts = stored

    def _stored_result(self, result: CaseResult) -> CaseResult:
        """Return *result* as it is stored: without its answer where none is to be stored."""
        return result if self._to_keep.answers != 0 else without_answer_texts(result)

    def _current_rows(self, run: Run, rows: Mapping[str, CaseRow]) -> Iterator[CaseRow]:
        """Yield the cases of *run* as they stand now, with the answers in *rows*."""
        answers = RecordedAnswers(rows.values())
        for case_id, result in run.cases.items():
            if self._results_are_final and case_id in rows:  # else nobody reported the case, as a worker died
                yield rows[case_id]
            else:
                yield CaseJson.of(result, answers.get(case_id, ())).row()

    @pytest.hookimpl(trylast=True)
    def pytest_auepora_run_finished(self, run: Run, verdict: Verdict) -> None:
        """Store the run as it stands after every other implementation."""
        key = run.path, run.variant
        if key in self._ids:  # stored already, before another hook raised
            return
        rows = self._rows.pop(key, {})
        if self._unread:
            verdict.notes.append(Note("history not read", detail=self._unread))
            self._unread = ""
        if cut := [*self._cut[key]]:
            verdict.notes.append(Note("answers cut", tuple(cut)))
        try:
            stored_run = replace(run, cases={case_id: self._stored_result(case) for case_id, case in run.cases.items()})
            self._ids[key] = self._store().add(
                stored_run, verdict, started=self.started, seconds=perf_counter() - self._began,
                git_commit=self._session.commit, name=self.config.getoption("auepora_run_name") or "",
                keep=self._to_keep.runs or 0, keep_recorded=self._to_keep.answers or 0,
                rows=self._current_rows(stored_run, rows),
            )  # fmt: skip
        except Exception as exc:  # whatever it is, the verdict stands and has to be shown
            verdict.notes.append(Note("history not written", detail=str(exc)))

    def _store(self) -> HistoryStore:
        return HistoryStore(self.place, self.config.rootpath)

    def trends(self, runs: Sequence[Run]) -> dict[tuple[str, str], Trend]:
        """Return the trends of earlier runs, by path and variant of *runs*; without those that cannot be read."""
        from ...reporting.report import trend_of

        out: dict[tuple[str, str], Trend] = {}
        for run in runs:
            with suppress(Exception):  # said by the verdict already: this very run could not be kept either
                out[run.path, run.variant] = trend_of(self._store(), run, self._ids[run.path, run.variant])
        return out

    def pytest_sessionfinish(self) -> None:
        """Close the journal; keep it if a run was not judged, as something else broke."""
        if "_journal" in vars(self):
            self._journal.close(keep=bool(self._rows))
